"""Fixtures for tests of symbolic sizes: one scheduled program, run at many sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from harness.schedules import quick_build

from tir_mlir import Schedule

SIZES = (1, 15, 16, 17, 127)


@pytest.fixture
def right_at() -> Callable[..., None]:
    """Assert that a program, built once, computes `expected(inputs)` at every size: `shapes(n)` gives the shapes of
    the inputs and, last, of the output. Small integers in floats make sums exact."""

    def check(sch: Schedule, shapes: Callable, expected: Callable, sizes: Sequence[int] = SIZES) -> None:
        library = quick_build(sch)
        for n in sizes:
            rng = np.random.default_rng(n)
            *inputs, last = shapes(n)
            arrays = [rng.integers(-4, 5, shape).astype("float32") for shape in inputs]
            out = np.full(last, 7, "float32")
            library(*arrays, out)
            np.testing.assert_array_equal(out, expected(*arrays), err_msg=f"n = {n}")

    return check
