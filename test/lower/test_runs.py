"""Copies over the rows of an image: whatever the width of a row, the gaps, the stride, the type."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.script.parser import parse


def patches(width: int, gap: int, stride: int, count: int, nr: int, dtype: str):
    """B[j, l] = the pixel j * nr + l of an image of rows `width` long that lie `width * stride + gap` apart."""
    pixel = f"(vj * {nr} + vl)"
    size = (-(-count // width) - 1) * (width * stride + gap) + (width - 1) * stride + 1
    program = parse(
        f"""
@T.prim_func
def main(A: T.Buffer(({size},), "{dtype}"), B: T.Buffer(({-(-count // nr)}, {nr}), "{dtype}")):
    for j, l in T.grid({-(-count // nr)}, {nr}):
        with T.block("B"):
            T.where(j * {nr} + l < {count})
            vj, vl = T.axis.remap("SS", [j, l])
            B[vj, vl] = A[{pixel} // {width} * {width * stride + gap} + {pixel} % {width} * {stride}]
"""
    )
    return program, size


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16", "int8"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_rows(stride, dtype):
    rng = np.random.default_rng(0)
    for width, gap, count, nr in (
        (7, 2, 49, 16),
        (14, 1, 55, 8),
        (3, 0, 17, 16),
        (16, 5, 40, 16),
        (1, 2, 5, 4),
        (17, 0, 127, 24),
    ):
        program, size = patches(width, gap, stride, count, nr, dtype)
        sch = Schedule(program)
        sch.vectorize(sch.get_loops("B")[-1])
        a = rng.integers(-100, 100, size).astype(dtype)
        b = np.zeros((-(-count // nr), nr), dtype)
        build(sch)["main"](a, b)
        pixels = np.arange(count)
        np.testing.assert_array_equal(
            b.ravel()[:count], a[pixels // width * (width * stride + gap) + pixels % width * stride]
        )
