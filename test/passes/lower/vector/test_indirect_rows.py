"""Rows at a loaded position are loaded and stored as vectors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import build
from tir_mlir.passes.lower.registry import LoweringWarning

RNG = np.random.default_rng(5)


def scatter(n: int, index: str = "C[P[vi], vj]") -> str:
    return f"""
@T.prim_func
def main(A: T.Buffer((9, {n}), "float32"), P: T.Buffer((9,), "int32"), C: T.Buffer((4, {n}), "float32")):
    for i in range(9):
        for j in T.vectorized({n}):
            with T.block("C"):
                vi, vj = T.axis.remap("RS", [i, j])
                {index} = {index} + A[vi, vj]
"""


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_rows_are_added_where_an_index_says(n):
    a, p = RNG.random((9, n), dtype=np.float32), RNG.integers(0, 4, 9).astype(np.int32)
    expected = np.zeros((4, n), np.float32)
    np.add.at(expected, p, a)
    c = np.zeros_like(expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LoweringWarning)
        build(parse(scatter(n)))(a, p, c)
    np.testing.assert_allclose(c, expected, rtol=1e-6)


WINDOW = """
@T.prim_func
def main(A: T.Buffer((40,), "float32"), P: T.Buffer((6,), "int32"), C: T.Buffer((6, {n}), "float32")):
    for i in range(6):
        for j in T.vectorized({n}):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[{index}]
"""


@pytest.mark.parametrize("n", [1, 5, 8])
@pytest.mark.parametrize(
    ("index", "where"),
    [
        ("P[vi] + vj", lambda p, j: p + j),
        ("vj + P[vi] * 2 - 1", lambda p, j: j + p * 2 - 1),
        ("P[vi] * 2 + vj * 2", lambda p, j: p * 2 + j * 2),  # not adjacent
        ("P[vi] - vj + 7", lambda p, j: p - j + 7),
        ("P[(vi + vj) % 6] + vj", None),  # another row for each lane
    ],
)
def test_windows_at_a_loaded_position(n, index, where):
    a, p = RNG.random(40, dtype=np.float32), RNG.integers(1, 8, 6).astype(np.int32)
    i, j = np.indices((6, n))
    at = p[(i + j) % 6] + j if where is None else where(p[i], j)
    c = np.full((6, n), np.nan, np.float32)
    build(parse(WINDOW.format(n=n, index=index)))(a, p, c)
    np.testing.assert_array_equal(c, a[at])


@pytest.mark.parametrize(
    ("index", "why"),
    [
        ("C[P[vj] % 4, vi]", "a store at a loaded index has no vector form"),
        ("C[P[vi], vj // 2 * 2]", "a store at a loaded index has no vector form"),
    ],
)
def test_scattered_elements_stay_serial(index, why):
    text = scatter(8, index).replace("Buffer((9, 8)", "Buffer((9, 9)").replace("Buffer((4, 8)", "Buffer((4, 9)")
    a, p = np.ones((9, 9), np.float32), RNG.integers(0, 4, 9).astype(np.int32)
    c = np.zeros((4, 9), np.float32)
    with pytest.warns(LoweringWarning, match=why):
        function = build(parse(text.replace('remap("RS"', 'remap("OO"')), cache=False)
    function(a, p, c)
    assert c.sum() == 72
