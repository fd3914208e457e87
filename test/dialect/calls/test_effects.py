"""What programs do to the buffers that they take, and which bytes of an arena an access of a view is."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, program

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.calls import Effect, callee_of, calls_in, effects_of
from tir_mlir.dialect.ir import Buffer, Index, enter_context, funcs

INNER = """
@T.prim_func(private=True)
def inner(A: T.Buffer((8,)), B: T.Buffer((8,)), C: T.Buffer((8,)), n: T.int32):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.Cast("float32", n)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = C[vi] + B[vi]
"""


def effects(body: str, params: str, name: str = "main") -> list[str]:
    module = parse(f"@T.prim_func\ndef main({params}):\n    {body}\n{INNER}")
    with enter_context():
        func = next(f for f in funcs(module.mlir) if f.name == name)
        return ["r" * e.reads + "w" * e.writes for e in effects_of(func)]


XYZ = "x: T.Buffer((8,)), y: T.Buffer((8,)), z: T.Buffer((8,))"


def test_loads_and_stores():
    assert effects("T.evaluate(0)", XYZ, "inner") == ["r", "rw", "rw", ""]


def test_through_a_call():
    assert effects("inner(x, y, z, 1)", XYZ) == ["r", "rw", "rw"]


def test_through_calls_and_parts():
    params = 'x: T.Buffer((16,)), y: T.Buffer((16,)), unused: T.Buffer((16,)), arena: T.Buffer((64,), "int8")'
    body = "v = T.decl_buffer((8,), data=arena.data)\n    inner(x[0:8], y[0:8], v, 3)"
    assert effects(body, params) == ["r", "rw", "", "rw"]


@pytest.mark.parametrize(("mode", "expected"), [("r", "r"), ("w", "rw"), ("rw", "rw")])
def test_pointers(mode, expected):
    body = f'T.evaluate(T.call_extern("int32", "f", x.access_ptr("{mode}")))'
    assert effects(body, XYZ) == [expected, "", ""]


def test_effects_join():
    assert Effect(reads=True) | Effect(writes=True) == Effect(True, True)


def test_calls_of_external_functions_are_no_calls_of_programs():
    module = parse('@T.prim_func\ndef main(x: T.Buffer((8,))):\n    T.evaluate(T.call_extern("int32", "f", x.data))\n')
    with enter_context():
        assert not calls_in(funcs(module.mlir)[0])


def test_the_accesses_of_a_call():
    module = parse(f"@T.prim_func\ndef main({XYZ}):\n    inner(x, y, z, 1)\n{INNER}")
    with enter_context():
        call = calls_in(next(f for f in funcs(module.mlir) if f.name == "main"))[0]
        callee = callee_of(call)
        found = [(Buffer(a.buffer).name, a.kind, a.exact) for a in accesses(call)]
        assert callee is not None
        assert callee.name == "inner"
    assert found[0] == ("x", "read", False)
    assert {name for name, kind, _ in found if kind == "write"} == {"y", "z"}


def regions(target: str, value: str) -> list[tuple[str, int, int, bool]]:
    """Arena bytes that a block touches: kind, start, count, exact, for i = 0."""
    module = program(
        "x:4x8 arena:1024:int8;",
        "v = T.decl_buffer((4, 8), data=arena.data, byte_offset=64)",
        "h = T.decl_buffer((16,), 'float16', data=arena.data, byte_offset=256)",
        each("B:1", f"{target} = {value}"),
    )
    with enter_context():
        found = [a for a in accesses(funcs(module.mlir)[0].op) if Buffer(a.buffer).name == "arena"]
        zeros = [[i.substitute(dict.fromkeys(i.values, Index.constant(0))) for i in a.indices] for a in found]
        numbers = [[index.simplify().as_constant() for index in indices] for indices in zeros]
        return [(a.kind, n[0], n[1], a.exact) for a, n in zip(found, numbers, strict=True)]


def test_an_element_is_its_bytes():
    assert regions("x[0, 0]", "v[vi + 2, 3]") == [("read", 64 + (2 * 8 + 3) * 4, 4, True)]


def test_elements_of_two_bytes():
    assert regions("h[vi + 5]", "T.float16(1)") == [("write", 256 + 10, 2, True)]
