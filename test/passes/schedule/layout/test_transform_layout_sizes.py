"""transform_layout where sizes are not known: proved for all of them, or refused with the condition."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.parsed import parse
from programs.short import each, program

from tir_mlir import IndexMap, Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

SIZES = [1, 15, 16, 17, 127]


rows = program(
    "A:nx8 C:nx8; B:nx8",
    each("B i:n j:8", "B[vi, vj] = A[vi, vj] * 2.0"),
    each("C i:n j:8", "C[vi, vj] = B[vi, vj] + 1.0"),
)
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
    refused(sch, r"both map to \(0, 0\) \(for n = 9\)", lambda: sch.transform_layout("B", "B", lambda i, j: (i % 8, j)))


promised = program(
    "A:n C:n",
    "T.assume(n % 16 == 0)",
    "B = T.alloc_buffer((n,), 'float32')",
    each("B i:n", "B[vi] = A[vi] * 2.0"),
    each("C i:n", "C[vi] = B[vi] + 1.0"),
)


def test_assumptions_of_the_function_are_used(refused):
    sch = Schedule(promised)
    refused(sch, "it holds only where n % 32 == 0", lambda: sch.transform_layout("B", "B", lambda i: (i // 32, i % 32)))
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


@T.prim_func
def flat(a: T.handle, c: T.handle, n: T.int64, m: T.int64):
    A = T.match_buffer(a, (m * n,), "float32")
    C = T.match_buffer(c, (m * n,), "float32")
    B = T.alloc_buffer((m * n,), "float32")
    for i in range(m * n):
        with T.block("B"):
            vi = T.axis.spatial(m * n, i)
            B[vi] = A[vi] * 2.0
    for i in range(m * n):
        with T.block("C"):
            vi = T.axis.spatial(m * n, i)
            C[vi] = B[vi] + 1.0


BY_N = IndexMap.from_text("lambda i: (i // n, i % n)")
FLAT = IndexMap.from_text("lambda i, j: i * n + j")
ASSUMED = {"assume_injective_transform": True}
SHAPES = [(1, 1), (3, 5), (4, 1), (1, 7), (16, 9), (0, 3), (3, 0)]


def test_a_map_that_divides_by_a_size():
    n = T.int64()
    sch = Schedule(flat)
    sch.transform_layout("B", "B", lambda i: (i // n, i % n), **ASSUMED)
    sch.transform_layout("B", "A", BY_N, **ASSUMED)
    assert sch.history[-1].facts[0].startswith("not proved, the caller asserts it: the map lambda i: (i // n, i % n)")
    sch.transform_layout("C", "C", lambda i: (i % n, i // n), **ASSUMED)
    text = sch.mod.script()
    assert "A = T.match_buffer(var_A, (m, n))" in text and "C = T.match_buffer(var_C, (n, m))" in text
    assert "B = T.alloc_buffer((m, n))" in text and "C[vi % n, vi // n] = B[vi // n, vi % n]" in text
    lib = quick_build(parse(text))
    for rows_, columns in SHAPES:
        a = np.random.default_rng(columns).random((rows_, columns), dtype=np.float32)
        c = np.zeros((columns, rows_), np.float32)
        lib(a, c, columns, rows_)
        np.testing.assert_array_equal(c, (2 * a + 1).T)
    np.testing.assert_array_equal(BY_N.map_ndarray(np.arange(12), sizes={"n": 3}), np.arange(12).reshape(4, 3))
    again = Schedule(flat)
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == text


def test_a_map_that_multiplies_by_a_size():
    @T.prim_func
    def main(a: T.handle, c: T.handle, d: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (m, n, 2), "float32")
        C = T.match_buffer(c, (m, n, 2), "float32")
        D = T.match_buffer(d, (n, m), "float32")
        for i, j, k in T.grid(m, n, 2):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                C[vi, vj, vk] = A[vi, vj, vk] + D[vj, vi]

    flat_map = IndexMap.from_text("lambda i, j, k: (k, (i * n + j) * 2 + k, 0)")
    sch = Schedule(main)
    sch.transform_layout("C", "A", lambda i, j, k: (i // 2, i % 2, j, k), pad_value=0)
    sch.transform_layout("C", "C", flat_map, **ASSUMED)
    assert "C = T.match_buffer(var_C, (2, m * n * T.int64(2), 1))" in sch.mod.script()
    lib = quick_build(sch.mod)
    for rows_, columns in SHAPES:
        a = np.random.default_rng(columns).random((rows_, columns, 2), dtype=np.float32)
        d, c = np.ones((columns, rows_), np.float32), np.zeros((2, 2 * rows_ * columns, 1), np.float32)
        halves = IndexMap.from_func(lambda i, j, k: (i // 2, i % 2, j, k))
        lib(halves.map_ndarray(a, shape=(-(-rows_ // 2), 2, columns, 2)), c, d)
        assert c.shape[1] == 0 or np.array_equal(c, flat_map.map_ndarray(a + 1, shape=c.shape, sizes={"n": columns}))


def test_a_block_over_digits_has_affine_indices_again():
    sch = Schedule(flat)
    for name in ("B", "C"):
        sch.transform_block_layout(name, BY_N)
    sch.transform_layout("B", "B", BY_N, **ASSUMED)
    sch.transform_layout("C", "C", IndexMap.from_text("lambda i: (i % n, i // n)"), **ASSUMED)
    text = sch.mod.script()
    assert "B[v0, v1] = A[v0 * n + v1]" in text and "C[v1, v0] = B[v0, v1]" in text
    for name in ("B", "C"):
        sch.parallel(sch.get_loops(name)[0])
    assert sch.verify()
    lib = quick_build(sch.mod)
    for rows_, columns in SHAPES:
        a = np.random.default_rng(columns).random(rows_ * columns, dtype=np.float32)
        c = np.zeros((columns, rows_), np.float32)
        lib(a, c, columns, rows_)
        np.testing.assert_array_equal(c, (2 * a + 1).reshape(rows_, columns).T)


def test_maps_by_sizes_are_asserted_and_not_refuted(refused):
    def main(map_: str, **more):
        return lambda: sch.transform_layout("B", "B", map_, **more)

    sch = Schedule(flat)
    refused(sch, "no two elements of B get one index is not decided", main("lambda i: (i // n, i % n)"))
    refused(sch, "padding in the new B is not known", main("lambda i: (i // n, i % n)", pad_value=0, **ASSUMED))
    refused(sch, r"\(0,\) and \(2,\) both map to \(0,\) \(for m = 2\)", main("lambda i: i % n", **ASSUMED))
    refused(sch, "an index must not be negative", main("lambda i: (i // n, i - n, i % n)", **ASSUMED))
    refused(sch, "n - i % n - 2 may be negative", main("lambda i: (i // n, n - i % n - 2)", **ASSUMED))
    refused(sch, r"i \* \(m - n\): the sign of a factor is not known", main("lambda i: i * (m - n)", **ASSUMED))
    refused(sch, "the divisor must divide the extent", main("lambda i: (i // (n + 1), i % (n + 1))", **ASSUMED))
    refused(sch, "the divisor may be 0 where there are elements", main("lambda i: (i, i % (n - m))", **ASSUMED))
    refused(sch, "no shape variable of the function is called k", main("lambda i: (i // k, i % k)", **ASSUMED))
    refused(sch, r"i \* i: a product of two variables is not affine", lambda: IndexMap.from_text("lambda i: i * i"))
