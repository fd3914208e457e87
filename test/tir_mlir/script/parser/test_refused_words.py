"""What the language leaves out is refused by name, with what to write instead."""

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse, tir
from tir_mlir.script.language.words import REFUSED, REFUSED_STATEMENTS

PROGRAM = '@T.prim_func\ndef main(A: T.Buffer((4,), "{dtype}")):\n    A[0] = {value}\n'


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_is_refused_with_its_way_out(name: str) -> None:
    assert not hasattr(tir, name), f"T.{name} is supported"
    with pytest.raises(ScriptError) as refused:
        parse(PROGRAM.format(dtype="float32", value=f"T.{name}(1)"))
    assert f"T.{name} is not supported: {REFUSED[name]}" in str(refused.value)


def test_the_statements_are_those_of_python() -> None:
    import ast

    assert all(issubclass(getattr(ast, name), ast.stmt) for name in REFUSED_STATEMENTS)


TYPES = {
    "complex64": "store real and imaginary parts in two float32 buffers",
    "float8_e4m3fn": "use float16",
    "uint4": "pack two values into an int8",
    "uint1": "use bool",
    "float32x4": "a buffer has elements of one lane",
    "quaternion": "use one of float16",
}


@pytest.mark.parametrize("dtype", TYPES)
def test_a_type_is_refused_with_its_way_out(dtype: str) -> None:
    with pytest.raises(ScriptError, match=f'dtype "{dtype}" is not supported; .*{TYPES[dtype]}'):
        parse(PROGRAM.format(dtype=dtype, value="0"))
