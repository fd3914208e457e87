"""Pools that are mapped to machines without a person."""

from __future__ import annotations

import numpy as np
import pytest
from programs.vector_machine import vector_machine

from tir_mlir import accel
from tir_mlir.errors import MachineError
from tir_mlir.script import tir as T


def greatest(height: int, width: int, channels: int, stride: int):
    """The greatest element of windows of 2 x 2."""
    rows, columns = (height - 2) // stride + 1, (width - 2) // stride + 1

    @T.prim_func
    def main(X: T.Buffer((height, width, channels), "int8"), Y: T.Buffer((rows, columns, channels), "int8")):
        for y, x, c, u, v in T.grid(rows, columns, channels, 2, 2):
            with T.block("Y"):
                vy, vx, vc, vu, vv = T.axis.remap("SSSRR", [y, x, c, u, v])
                with T.init():
                    Y[vy, vx, vc] = T.int8(-128)
                Y[vy, vx, vc] = T.max(Y[vy, vx, vc], X[vy * stride + vu, vx * stride + vv, vc])

    return main


def average(height: int, width: int, channels: int):
    """The mean of windows of 2 x 2, rounded down."""
    rows, columns = height // 2, width // 2

    @T.prim_func
    def main(X: T.Buffer((height, width, channels), "int8"), Y: T.Buffer((rows, columns, channels), "int8")):
        S = T.alloc_buffer((rows, columns, channels), "int32")
        for y, x, c, u, v in T.grid(rows, columns, channels, 2, 2):
            with T.block("S"):
                vy, vx, vc, vu, vv = T.axis.remap("SSSRR", [y, x, c, u, v])
                with T.init():
                    S[vy, vx, vc] = 0
                S[vy, vx, vc] += T.Cast("int32", X[vy * 2 + vu, vx * 2 + vv, vc])
        for y, x, c in T.grid(rows, columns, channels):
            with T.block("Y"):
                vy, vx, vc = T.axis.remap("SSS", [y, x, c])
                Y[vy, vx, vc] = T.Cast("int8", S[vy, vx, vc] >> 2)

    return main


def windows(x: np.ndarray, stride: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, (2, 2), (0, 1))[::stride, ::stride]


@pytest.mark.parametrize("stride", [1, 2])
def test_the_greatest_of_windows(stride: int) -> None:
    x = np.random.default_rng(0).integers(-128, 128, (5, 21, 20), np.int8)
    expected = windows(x, stride).max((-2, -1))
    y = np.zeros_like(expected)
    mapped = accel.map(greatest(5, 21, 20, stride), vector_machine())
    mapped.build().main(x, y)
    np.testing.assert_array_equal(y, expected)
    assert "vec.greatest computes tiles of 16 x 16" in str(mapped) and "vec.fill sets it" in str(mapped)


def test_the_mean_of_windows() -> None:
    x = np.random.default_rng(0).integers(-128, 128, (4, 34, 20), np.int8)
    expected = (windows(x.astype(np.int32), 2).sum((-2, -1)) >> 2).astype(np.int8)
    y = np.zeros_like(expected)
    mapped = accel.map(average(*x.shape), vector_machine())
    mapped.build().main(x, y)
    np.testing.assert_array_equal(y, expected)
    assert "vec.divide computes tiles of 16 x 16 in narrow" in str(mapped)


def test_a_pool_that_nothing_computes_is_named() -> None:
    machine = vector_machine()
    del machine.instructions["greatest"]
    with pytest.raises(MachineError, match=r"computes block Y; nearest is vec\.\w+: .*maxsi"):
        accel.map(greatest(4, 4, 16, 2), machine)
