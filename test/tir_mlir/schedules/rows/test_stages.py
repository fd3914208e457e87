"""Chains of blocks whose values are stored between them: rows of images that are resized."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te, topi


def resize(size, result, layout="NCHW"):
    x = te.placeholder((1, 3, *size) if layout == "NCHW" else (1, *size, 3), name="x")
    return Schedule(te.create_prim_func([x, topi.image.resize2d(x, result, layout)]))


@pytest.mark.parametrize(
    ("size", "result", "layout", "name"),
    [
        ((28, 28), (56, 56), "NCHW", "stages"),
        ((28, 28), (12, 28), "NCHW", "elementwise"),  # of each row, fewer elements would be used
        ((28, 28), (56, 56), "NHWC", "elementwise"),  # channels are adjacent: nothing is gathered
    ],
)
def test_rows_are_resized_once_where_that_gathers_less(size, result, layout, name):
    sch = resize(size, result, layout)
    assert set(schedules.auto(sch, threads=1).values()) == {name}


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_resized_rows(n):
    sch = resize((n, n), (2 * n, 2 * n))
    before = build(sch)
    assert ("stages" in schedules.auto(sch, threads=1).values()) == (n > 1)  # of one element, nothing is gathered
    x = np.random.default_rng(0).standard_normal((1, 3, n, n), np.float32)
    wanted, got = (np.empty((1, 3, 2 * n, 2 * n), np.float32) for _ in range(2))
    before["main"](x, wanted)
    build(sch)["main"](x, got)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


def test_resized_rows_are_proved():
    sch = resize((5, 20), (10, 40))
    schedules.auto(sch, threads=2)
    assert sch.verify()
