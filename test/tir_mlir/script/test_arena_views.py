"""`T.decl_buffer`: typed views of an arena, in text and built."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import IRModule
from tir_mlir.script.parser import parse

DOUBLE = """
@T.prim_func(private=True)
def double(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] + A[vi]
"""


def program(*body: str, size: str = "256") -> IRModule:
    lines = "\n".join(f"    {line}" for line in body)
    head = f'def main(x: T.Buffer((16,)), y: T.Buffer((16,)), arena: T.Buffer(({size},), "int8")):'
    return parse(f"@T.prim_func\n{head}\n{lines}\n{DOUBLE}")


def run(mod: IRModule, driver: str = "jit") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y, arena = np.arange(16, dtype=np.float32), np.zeros(16, np.float32), np.zeros(256, np.int8)
    build(mod, driver=driver)["main"](x, y, arena)
    return x, y, arena


CHAIN = (
    'u = T.decl_buffer((16,), "float32", data=arena.data)',
    'v = T.decl_buffer((16,), "float32", data=arena.data, byte_offset=64)',
    "double(x, u)",
    "double(u, v)",
    "double(v, u)",
    "double(u, y)",
)


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_views_hold_what_calls_pass_on(driver):
    x, y, arena = run(program(*CHAIN), driver)
    np.testing.assert_array_equal(y, x * 16)
    np.testing.assert_array_equal(arena[:128].view(np.float32), np.concatenate([x * 8, x * 4]))


def test_round_trip():
    mod = program(*CHAIN)
    text = mod.script()
    assert 'v = T.decl_buffer((16,), "float32", data=arena.data, byte_offset=64)' in text
    assert 'u = T.decl_buffer((16,), "float32", data=arena.data)' in text
    assert parse(text).equal(mod)
    assert IRModule.from_mlir(mod.text()).script() == text


def test_views_overlap_one_after_the_other():
    mod = program(
        'u = T.decl_buffer((16,), "float32", data=arena.data)',
        'v = T.decl_buffer((8,), "float32", data=arena.data, elem_offset=8)',
        "double(x, u)",
        "double(x[0:8], v)",
        "double(u, y)",
    )
    x, y, _ = run(mod)
    np.testing.assert_array_equal(y, np.concatenate([x[:8] * 4, x[:8] * 4]))


def test_blocks_use_views():
    mod = program(
        'u = T.decl_buffer((4, 4), "float32", data=arena.data, byte_offset=64)',
        "for i, j in T.grid(4, 4):",
        '    with T.block("u"):',
        '        vi, vj = T.axis.remap("SS", [i, j])',
        "        u[vi, vj] = x[vi * 4 + vj] + 1.0",
        "for i, j in T.grid(4, 4):",
        '    with T.block("y"):',
        '        vi, vj = T.axis.remap("SS", [i, j])',
        "        y[vi * 4 + vj] = u[vj, vi]",
    )
    x, y, _ = run(mod)
    np.testing.assert_array_equal(y, (x + 1).reshape(4, 4).T.ravel())
    assert parse(mod.script()).equal(mod)


@pytest.mark.parametrize("n", [1, 5, 64])
def test_an_arena_of_symbolic_size(n):
    text = f"""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    x = T.match_buffer(a, (n,))
    y = T.match_buffer(b, (n,))
    arena = T.match_buffer(c, (n * 8 + 64,), "int8")
    u = T.decl_buffer((n,), "float32", data=arena.data, byte_offset=64)
    v = T.decl_buffer((n,), "float32", data=arena.data, byte_offset=n * 4 + 64)
    double(x, u)
    double(u, v)
    double(v, y)
{DOUBLE}"""
    mod = parse(text)
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    build(mod)["main"](x, y, np.zeros(n * 8 + 64, np.int8))
    np.testing.assert_array_equal(y, x * 8)
    assert parse(mod.script()).equal(mod)


def test_an_arena_that_is_allocated():
    head = "@T.prim_func\ndef main(x: T.Buffer((16,)), y: T.Buffer((16,))):\n"
    body = '    arena = T.alloc_buffer((128,), "int8")\n' + "".join(f"    {line}\n" for line in CHAIN)
    mod = parse(head + body + DOUBLE)
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    build(mod)["main"](x, y)
    np.testing.assert_array_equal(y, x * 16)
    assert parse(mod.script()).equal(mod)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8", "int64", "bool"])
def test_types_of_views(dtype):
    one = "T.bool(True)" if dtype == "bool" else f"T.{dtype}(3)"
    mod = program(
        f'u = T.decl_buffer((4,), "{dtype}", data=arena.data, byte_offset=64)',
        "for i in range(4):",
        '    with T.block("u"):',
        "        vi = T.axis.spatial(4, i)",
        f"        u[vi] = {one}",
        "for i in range(4):",
        '    with T.block("y"):',
        "        vi = T.axis.spatial(4, i)",
        '        y[vi] = T.Cast("float32", u[vi])',
    )
    _, y, arena = run(mod)
    np.testing.assert_array_equal(y[:4], [1 if dtype == "bool" else 3] * 4)
    width = np.dtype(dtype).itemsize * 4
    np.testing.assert_array_equal(arena[64 : 64 + width].view(dtype).astype(np.float32), y[:4])


# --- refusals


def refused(words: str, *body: str, size: str = "256") -> None:
    with pytest.raises(ScriptError, match=words):
        program(*body, size=size)


def test_outside_the_arena():
    line = 'u = T.decl_buffer((16,), "float32", data=arena.data, byte_offset=193)'
    refused("view u has the bytes 193 to 257 of arena, which has 256", line)
    refused("view u has the bytes -4 to 60 of arena", line.replace("193", "-4"))
    program(line.replace("193", "192"))


def test_between_two_elements():
    line = 'u = T.decl_buffer((16,), "float32", data=arena.data, byte_offset=66)'
    refused("view u starts at a multiple of 4, the bytes of a float32: byte 66 is not", line)
    program(line.replace("66", "68"))


def test_not_of_bytes():
    refused("an arena is a global buffer of int8 with one axis; x is none", "u = T.decl_buffer((4,), data=x.data)")


def test_of_no_memory():
    refused("u is declared in no memory", "u = T.decl_buffer((16,))")


def test_strides():
    line = 'u = T.decl_buffer((4, 4), "float32", data=arena.data, strides=[8, 1])'
    refused("u is row-major in the memory of arena: T.decl_buffer takes no strides here", line)


def test_two_offsets():
    line = 'u = T.decl_buffer((4,), "float32", data=arena.data, byte_offset=4, elem_offset=1)'
    refused("starts at byte_offset or at elem_offset, not at both", line)


def test_overlapping_arguments():
    body = (
        'u = T.decl_buffer((16,), "float32", data=arena.data)',
        'v = T.decl_buffer((16,), "float32", data=arena.data, byte_offset=60)',
        "double(u, v)",
    )
    refused("double writes B, so that A must be other memory: both are parts of arena, which overlap", *body)


def test_iterations_that_touch_the_same_bytes():
    body = (
        "u = T.decl_buffer((16,), data=arena.data)",
        "v = T.decl_buffer((16,), data=arena.data, byte_offset=4)",
        "for i in range(16):",
        '    with T.block("u"):',
        "        vi = T.axis.spatial(16, i)",
        "        u[vi] = v[vi] + x[vi]",
    )
    words = r"iterations \(vi = 0\) and \(vi = 1\) touch the same element of arena, one of them writing"
    refused(words, *body)
    program(*body[:-1], "        u[vi] = x[vi]")
