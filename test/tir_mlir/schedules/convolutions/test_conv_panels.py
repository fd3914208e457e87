"""Convolutions with weights in panels: how wide panels are, and which are fetched ahead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.target import AVX2, AVX512


def strided(channels: int, size: int, filters: int) -> Schedule:
    image, weight = (
        te.placeholder((1, size, size, channels), name="X"),
        te.placeholder((filters, channels, 3, 3), name="W"),
    )
    y = topi.nn.conv2d(image, weight, 2, 0, 1, data_layout="NHWC", kernel_layout="OIHW")
    return Schedule(te.create_prim_func([image, weight, y]))


@pytest.mark.parametrize(
    ("channels", "target", "width"), [(16, AVX512, 64), (512, AVX512, 32), (512, AVX2, 16)], ids=["two", "one", "avx2"]
)
def test_panels_are_wide_if_two_of_them_fit_in_l2(channels, target, width):
    layouts = schedules.prepack(strided(channels, 41, 128), "main", ["W"], target)
    assert layouts["W"].width == width


@pytest.mark.parametrize(("size", "l2", "ahead"), [(15, 1 << 16, True), (95, 1 << 16, False), (15, 1 << 20, False)])
def test_the_next_panel_is_fetched_by_few_tiles_from_behind_l2(size, l2, ahead):
    sch, target = strided(16, size, 96), replace(AVX512, l2=l2)
    schedules.prepack(sch, "main", ["W"], target, threads=1)
    schedules.auto(sch, target=target, threads=1)
    assert ("prefetch" in sch.mod.script()) is ahead


def test_a_last_panel_that_is_not_full():
    sch, target, rng = strided(8, 9, 112), replace(AVX512, l2=1 << 15), np.random.default_rng(0)
    layout = schedules.prepack(sch, "main", ["W"], target, threads=1)["W"]
    schedules.auto(sch, target=target, threads=1)
    assert "prefetch" in sch.mod.script() and 112 % layout.width
    x, w = (rng.integers(-4, 5, shape).astype("float32") for shape in ((1, 9, 9, 8), (112, 8, 3, 3)))
    y = np.empty((1, 4, 4, 112), "float32")
    build(sch)(x, layout.apply(w), y)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))[:, ::2, ::2]
    np.testing.assert_array_equal(y, np.einsum("nhwcyx,ocyx->nhwo", windows, w))
