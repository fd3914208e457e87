"""transform_layout where sizes are not known: proved for all of them, or refused with the condition."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build

from tir_mlir import IndexMap, Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.parser import parse

SIZES = [1, 15, 16, 17, 127]


@T.prim_func
def rows(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 8), "float32")
    C = T.match_buffer(c, (n, 8), "float32")
    B = T.alloc_buffer((n, 8), "float32")
    for i, j in T.grid(n, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, j in T.grid(n, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1.0


TILED = IndexMap.from_func(lambda i, j: (i // 16, j, i % 16))


def check_rows(sch: Schedule, tiled_input: bool) -> None:
    lib = quick_build(sch.mod)
    for n in SIZES:
        a, c = np.random.default_rng(n).random((n, 8), dtype=np.float32), np.empty((n, 8), np.float32)
        lib(TILED.map_ndarray(a, shape=(-(-n // 16), 8, 16)) if tiled_input else a, c)
        np.testing.assert_array_equal(c, 2 * a + 1)


def test_a_dimension_that_is_known():
    sch = Schedule(rows)
    sch.transform_layout("B", "B", lambda i, j: (j // 4, i, j % 4))
    assert "T.alloc_buffer((2, n, 4))" in sch.mod.script()
    check_rows(sch, tiled_input=False)


def test_tiles_with_padding():
    sch = Schedule(rows)
    sch.transform_layout("B", "B", TILED, pad_value=0)
    sch.transform_layout("B", "A", TILED, pad_value=0)
    text = sch.mod.script()
    assert "A = T.match_buffer(var_A, ((n + 15) // 16, 8, 16))" in text
    assert (
        "T.if_then_else(n <= v_axis0 * 16 + v_axis2, T.float32(0.0), A[v_axis0, v_j, v_axis2] * T.float32(2.0))" in text
    )
    check_rows(sch, tiled_input=True)


def test_tiles_without_padding_need_a_condition(refused):
    sch = Schedule(rows)
    message = r"pass a pad_value for it; it holds only where n % 16 == 0"
    refused(sch, message, lambda: sch.transform_layout("B", "B", TILED))
    refused(
        sch,
        r"both map to \(0, 0\) \(for n = 9\)",
        lambda: sch.transform_layout("B", "B", lambda i, j: (i % 8, j)),
    )


@T.prim_func
def promised(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    T.assume(n % 16 == 0)
    B = T.alloc_buffer((n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * 2.0
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi] + 1.0


def test_assumptions_of_the_function_are_used(refused):
    sch = Schedule(promised)
    refused(
        sch,
        "it holds only where n % 32 == 0",
        lambda: sch.transform_layout("B", "B", lambda i: (i // 32, i % 32)),
    )
    sch.transform_layout("B", "B", lambda i: (i // 16, i % 16))
    assert "T.alloc_buffer((n // 16, 16))" in sch.mod.script()
    a, c = np.arange(48, dtype=np.float32), np.empty(48, np.float32)
    quick_build(sch.mod)(a, c)
    np.testing.assert_array_equal(c, 2 * a + 1)


@I.ir_module
class Multiple:
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n * 16,), "float32")
        C = T.match_buffer(c, (n * 16,), "float32")
        for i in range(n * 16):
            with T.block("C"):
                vi = T.axis.spatial(n * 16, i)
                C[vi] = A[vi] * 2.0


def test_a_size_is_read_from_its_current_dimension(refused):
    sch = Schedule(Multiple)
    sch.transform_layout("C", "A", lambda i: (i // 16, i % 16))
    assert "A = T.match_buffer(var_A, (n, 16))" in sch.mod.script()
    a, c = np.random.default_rng(0).random(48, dtype=np.float32), np.empty(48, np.float32)
    quick_build(sch.mod)(a.reshape(3, 16), c)
    np.testing.assert_array_equal(c, 2 * a)


@pytest.mark.parametrize("first", ["A", "C"])
def test_a_size_must_stay_known(refused, first):
    sch = Schedule(rows)
    sch.transform_layout("B" if first == "A" else "C", first, TILED, pad_value=0)
    other, block = ("C", "C") if first == "A" else ("A", "B")
    message = f"n is known from the extent of {other} alone, and its new extents do not determine it"
    refused(sch, message, lambda: sch.transform_layout(block, other, TILED, pad_value=0))


SPREAD = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int8")
    B = T.match_buffer(b, (n,), "int8")
    {promise}
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
"""


def test_no_extent_is_negative_without_elements():
    """The last of n elements goes to 2 * (n - 1): with n = 0 the buffer would have -1."""
    sch = Schedule(parse(SPREAD.format(promise="")))
    with pytest.raises(ScheduleError, match=r"negative extent at n = 0[\s\S]*T.assume"):
        sch.transform_layout("B", ("write", 0), lambda i: i * 2, pad_value=0)
    sch = Schedule(parse(SPREAD.format(promise="T.assume(n >= 1)")))
    sch.transform_layout("B", ("write", 0), lambda i: i * 2, pad_value=0)
    assert "B = T.match_buffer(b, (n * 2 - 1,)" in sch.mod.script().replace("var_B", "b").replace("2 * n", "n * 2")
