"""A block under a loop without iterations computes nothing, whether or not an iter uses the loop."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts

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
