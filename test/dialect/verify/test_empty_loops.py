"""A block under a loop without iterations computes nothing, whether or not an iter uses the loop."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScriptError

PARAMS = "A: T.Buffer((16,)), B: T.Buffer((16,)), n: T.int32"
COPY = """
{assume}
for i in range(16):
    for k in range({bounds}):
        with T.block("b"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
"""


def _copy(bounds: str, assume: str = "") -> str:
    return COPY.format(bounds=bounds, assume=assume)


@pytest.mark.parametrize("bounds", ["0", "3, 3", "n - n", "n, n", "i, i", "2 * n, n + n"])
def test_a_loop_without_iterations_covers_nothing(bounds: str) -> None:
    with pytest.raises(
        ScriptError, match=r'(?m)around block "b" do not cover its domain .*: no iteration runs vi = 0$'
    ):
        scripts.function(_copy(bounds), PARAMS)


def test_an_iter_bound_to_an_empty_loop_is_not_covered() -> None:
    with pytest.raises(ScriptError, match=r"(?m)do not cover its domain .*: no iteration runs vi = 0$"):
        scripts.function(_copy("0").replace("spatial(16, i)", "spatial(16, k)"), PARAMS)


def test_a_size_that_may_be_zero_is_named() -> None:
    with pytest.raises(ScriptError, match=r"(?m)no iteration runs vi = 0; it holds only where n >= 1$"):
        scripts.function(_copy("n"), PARAMS)


@pytest.mark.parametrize(("bounds", "assume"), [("1", ""), ("n, n + 1", ""), ("n", "T.assume(n >= 1)")])
def test_a_loop_that_runs_repeats_the_block(bounds: str, assume: str) -> None:
    a, b = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    build(Schedule(scripts.function(_copy(bounds, assume), PARAMS)))(a, b, 1)
    np.testing.assert_array_equal(b, a)


ROWS = """
for i in range(n):
    for j in range(6):
        with T.block("row"):
            vi = T.axis.opaque(n, i)
            vj = T.axis.spatial(6, j)
            R[vj] = A[vi, vj] + 1.0
    for j in range(6):
        with T.block("copy"):
            vj = T.axis.spatial({size}, j)
            B[vj] = R[vj]
"""
ROWS_PARAMS = "a: T.handle, B: T.Buffer((6,)), R: T.Buffer((6,))"


def _rows(size: int = 6) -> str:
    return 'n = T.int32()\nA = T.match_buffer(a, (n, 6), "float32")\n' + ROWS.format(size=size)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_block_repeated_for_each_iteration_of_others_has_none_where_they_have_none(n: int) -> None:
    a, b, r = np.ones((n, 6), np.float32), np.full(6, 7, np.float32), np.zeros(6, np.float32)
    sch = Schedule(scripts.function(_rows(), ROWS_PARAMS))
    build(sch)(a, b, r)
    np.testing.assert_array_equal(b, np.full(6, 2 if n else 7))


def test_such_a_block_covers_its_domain_elsewhere() -> None:
    with pytest.raises(ScriptError, match=r'block "copy" do not cover its domain .*: no iteration runs vj = 6'):
        scripts.function(_rows(7).replace("B[vj] = R[vj]", "B[vj % 6] = R[vj % 6]"), ROWS_PARAMS)


@pytest.mark.parametrize("step", ["cache_write", "reindex"])
def test_copies_in_such_a_loop_parse_back(step: str) -> None:
    sch = Schedule(scripts.function(_rows(), ROWS_PARAMS))
    sch.cache_write("row", 0, "global") if step == "cache_write" else sch.reindex("row", ("write", 0))
    assert parse(sch.mod.script()).equal(sch.mod)


@pytest.mark.parametrize("n", [0, 5, 32])
def test_a_nested_block_covers_its_domain_where_the_one_around_it_runs(n: int) -> None:
    text = """
n = T.int32()
A = T.match_buffer(a, (n,), "float32")
B = T.match_buffer(b, (n,), "float32")
for i in range(n):
    with T.block("B"):
        vi = T.axis.spatial(n, i)
        B[vi] = A[vi] + 1.0
"""
    sch = Schedule(scripts.function(text, "a: T.handle, b: T.handle"))
    sch.blockize(sch.split(sch.get_loops("B")[0], [None, 16])[1], preserve_unit_iters=False)
    assert parse(sch.mod.script()).equal(sch.mod)
    a, b = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    build(sch)(a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_an_empty_reduction_has_an_empty_domain() -> None:
    text = """
for i, k in T.grid(16, n):
    with T.block("b"):
        vi, vk = T.axis.spatial(16, i), T.axis.reduce(n, k)
        B[vi] = B[vi] + A[vi]
"""
    scripts.function(text, PARAMS)


def test_what_an_empty_loop_leaves_out_is_read() -> None:
    text = """
Y = T.alloc_buffer((16,))
for i, k in T.grid(16, 0):
    with T.block("y"):
        vi = T.axis.spatial(16, i)
        Y[vi] = A[vi]
for i in range(16):
    with T.block("b"):
        vi = T.axis.spatial(16, i)
        B[vi] = Y[vi]
"""
    with pytest.raises(ScriptError, match=r'Y\[0\] is read, but the loops around block "y" never compute it'):
        scripts.function(text, PARAMS)
