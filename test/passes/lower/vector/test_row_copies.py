"""Copies of image rows, for any width, padding, stride and type."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import main, nest, sblock

from tir_mlir import Schedule, build


def patches(width: int, gap: int, stride: int, count: int, nr: int, dtype: str):
    """B[j, l] = the pixel j * nr + l of an image of rows `width` long that lie `width * stride + gap` apart."""
    pixel = f"(vj * {nr} + vl)"
    size = (-(-count // width) - 1) * (width * stride + gap) + (width - 1) * stride + 1
    program = parse(
        main(
            f"A:{size}:{dtype} B:{-(-count // nr)}x{nr}:{dtype}",
            nest(
                f"j:{-(-count // nr)} l:{nr}",
                sblock(
                    "B",
                    "",
                    "vj, vl = T.axis.remap('SS', [j, l])",
                    f"B[vj, vl] = A[{pixel} // {width} * {width * stride + gap} + {pixel} % {width} * {stride}]",
                    where=f"j * {nr} + l < {count}",
                ),
            ),
        )
    )
    return program, size


ROWS = {
    "gaps": (7, 2, 49, 16),
    "whole": (16, 5, 40, 16),
    "short": (3, 0, 17, 16),
    "pieces": (14, 1, 55, 12),
    "ones": (1, 2, 5, 4),
    "long": (17, 0, 127, 24),
}
"""Pixels in a row, elements between rows, pixels, pixels in a panel."""


def check(name: str, stride: int, dtype: str = "float32") -> None:
    width, gap, count, nr = ROWS[name]
    program, size = patches(width, gap, stride, count, nr, dtype)
    sch = Schedule(program)
    sch.vectorize(sch.get_loops("B")[-1])
    a = np.random.default_rng(0).integers(-100, 100, size).astype(dtype)
    b = np.zeros((-(-count // nr), nr), dtype)
    build(sch)["main"](a, b)
    pixels = np.arange(count)
    places = pixels // width * (width * stride + gap) + pixels % width * stride
    np.testing.assert_array_equal(b.ravel()[:count], a[places])


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("name", ROWS)
def test_rows(name, stride):
    check(name, stride)


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16", "int8"])
def test_element_types(dtype):
    check("gaps", 2, dtype)
