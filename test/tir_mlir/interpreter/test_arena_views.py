"""The interpreter on calls of functions of the module, and on typed views of arenas."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import build, interpret
from tir_mlir.dialect.diagnostics import NotInterpreted, RaceError, UnwrittenError
from tir_mlir.script import IRModule

DOUBLE = """
@T.prim_func(private=True)
def double(A: T.Buffer((16,)), B: T.Buffer((16,))):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + A[vi]
"""


def program(*body: str, y: str = "float32") -> IRModule:
    lines = "\n".join(f"    {line}" for line in body)
    head = f'def main(x: T.Buffer((16,)), y: T.Buffer((16,), "{y}"), arena: T.Buffer((256,), "int8")):'
    return parse(f"@T.prim_func\n{head}\n{lines}\n{DOUBLE}")


def view(name: str, at: int, dtype: str = "float32", count: int = 16) -> str:
    return f'{name} = T.decl_buffer(({count},), "{dtype}", data=arena.data, byte_offset={at})'


def both(mod: IRModule, y: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """y as the interpreter and as machine code leave it; the arenas are equal."""
    found = []
    for run in (lambda *a: interpret(mod, *a), lambda *a: build(mod)["main"](*a)):
        x, out, arena = np.arange(16, dtype=np.float32), np.zeros(16, y), np.arange(256).astype(np.int8)
        run(x, out, arena)
        found.append((out, arena))
    np.testing.assert_array_equal(found[0][1], found[1][1])
    return found[0][0], found[1][0]


def test_a_chain_of_calls():
    mod = program(view("u", 0), view("v", 64), "double(x, u)", "double(u, v)", "double(v, u)", "double(u, y)")
    left, right = both(mod)
    np.testing.assert_array_equal(left, np.arange(16) * 16)
    np.testing.assert_array_equal(left, right)


def test_overlapping_views():
    mod = program(view("u", 0), view("v", 32), "double(x, u)", "double(x, v)", "double(u, y)")
    left, right = both(mod)
    np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(left, np.concatenate([np.arange(8) * 4, np.arange(8) * 4]))


def copy(source: str, target: str, count: int = 16) -> tuple[str, ...]:
    return (
        f"for i in range({count}):",
        f'    with T.block("{target}"):',
        f"        vi = T.axis.spatial({count}, i)",
        f"        {target}[vi] = {source}",
    )


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "float16", "bfloat16", "float64"])
def test_bytes_of_another_type(dtype):
    """What is read through a view of another type is what the bytes stand for, as in machine code."""
    width = {"int32": 4, "uint8": 1, "int64": 8, "float16": 2, "bfloat16": 2, "float64": 8}[dtype]
    body = (view("u", 64), view("v", 64, dtype, 64 // width), *copy("x[vi] + 0.5", "u"))
    mod = program(*body, *copy(f'T.Cast("float64", v[vi % {64 // width}])', "y"), y="float64")
    left, right = both(mod, "float64")
    np.testing.assert_array_equal(left, right)


def test_bytes_that_were_passed_in():
    left, right = both(program(view("v", 64, "int32"), *copy("v[vi]", "y"), y="int32"), "int32")
    np.testing.assert_array_equal(left, np.arange(64, 128).astype(np.int8).view(np.int32))
    np.testing.assert_array_equal(left, right)


def test_an_arena_in_an_arena():
    """A view of bytes is the arena of the function that it is passed to."""
    inner = """
@T.prim_func(private=True)
def inner(A: T.Buffer((16,)), work: T.Buffer((128,), "int8"), B: T.Buffer((16,))):
    t = T.decl_buffer((16,), data=work.data, byte_offset=64)
    double(A, t)
    double(t, B)
"""
    body = program('work = T.decl_buffer((128,), "int8", data=arena.data, byte_offset=32)', "double(x, y)").script()
    text = body.replace('T.call("double", x, y)', 'T.call("inner", x, work, y)')
    left, right = both(parse(text + "".join(f"    {line}\n" for line in inner.splitlines())))
    np.testing.assert_array_equal(left, np.arange(16) * 4)
    np.testing.assert_array_equal(left, right)


def test_exact_numbers_stay():
    mod = program(view("u", 0), *copy("x[vi] / 3.0", "u"), *copy("u[vi] * 3.0", "y"))
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    interpret(mod, x, y, np.zeros(256, np.int8), exact=True)
    np.testing.assert_array_equal(y, x)


def test_exact_numbers_have_no_bytes():
    mod = program(view("u", 0), view("v", 0, "int32"), *copy("x[vi]", "u"), *copy("v[vi]", "y"), y="int32")
    with pytest.raises(NotInterpreted, match="v reads bytes of arena that another type has written"):
        interpret(mod, np.ones(16, np.float32), np.zeros(16, np.int32), np.zeros(256, np.int8), exact=True)


def test_what_is_not_written():
    text = program(view("u", 0), view("v", 64), "double(u, v)", "double(v, y)").script()
    text = text.replace(', arena: T.Buffer((256,), "int8")', "").replace(
        "        u = T.decl", '        arena = T.alloc_buffer((256,), "int8")\n        u = T.decl'
    )
    with pytest.raises(UnwrittenError, match=r"y\[0\] depends on an uninitialized element"):
        interpret(parse(text), np.ones(16, np.float32), np.zeros(16, np.float32))


def test_iterations_that_touch_the_same_bytes():
    mod = program(
        view("u", 0),
        view("v", 4),
        "for i in T.parallel(8):",
        '    with T.block("u"):',
        "        vi = T.axis.opaque(8, i)",
        "        u[vi] = v[vi] + x[vi]",
        *copy("u[vi]", "y"),
    )
    with pytest.raises(RaceError, match="arena"):
        interpret(mod, np.ones(16, np.float32), np.zeros(16, np.float32), np.zeros(256, np.int8))
