"""Instructions of Gemmini that schedules use by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.accel import machines
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.script import tir as T


@T.prim_func
def product(A: T.Buffer((16, 64), "int8"), B: T.Buffer((16, 16), "int8"), C: T.Buffer((4, 16, 16), "int32")):
    """Of each of four tiles of A, and the same tile B."""
    P = T.alloc_buffer((4, 16, 16), "int8", scope="global.sp")
    Q = T.alloc_buffer((16, 16), "int8", scope="global.sp")
    S = T.alloc_buffer((4, 16, 16), "int32", scope="global.acc")
    for i, b, j in T.grid(16, 4, 16):
        with T.block("P"):
            vi, vb, vj = T.axis.remap("SSS", [i, b, j])
            P[vb, vi, vj] = A[vi, vb * 16 + vj]
    for i, j in T.grid(16, 16):
        with T.block("Q"):
            vi, vj = T.axis.remap("SS", [i, j])
            Q[vi, vj] = B[vi, vj]
    for b, i, j in T.grid(4, 16, 16):
        with T.block("zero"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            S[vb, vi, vj] = 0
    for b, i, j, k in T.grid(4, 16, 16, 16):
        with T.block("S"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            S[vb, vi, vj] += T.Cast("int32", P[vb, vi, vk]) * T.Cast("int32", Q[vk, vj])
    for b, i, j in T.grid(4, 16, 16):
        with T.block("C"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            C[vb, vi, vj] = S[vb, vi, vj]


def test_weights_stay_for_tiles_that_are_copied_at_once() -> None:
    machine = machines.gemmini()
    sch = Schedule(product)
    names = {"P": (-3, "mvin_blocks"), "Q": (-2, "mvin2"), "zero": (-2, "zero"), "S": (-4, "matmul_kept")}
    for block, (loop, name) in {**names, "C": (-2, "mvout_sums")}.items():
        sch.tensorize(sch.get_loops(block)[loop], f"gemmini.{name}")
    main = build(sch, target=machine).main
    assert isinstance(main, MachineFunction)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (16, 64), np.int8), rng.integers(-128, 128, (16, 16), np.int8)
    c = np.zeros((4, 16, 16), np.int32)
    main(a, b, c)
    np.testing.assert_array_equal(c, a.reshape(16, 4, 16).swapaxes(0, 1).astype(np.int32) @ b.astype(np.int32))
    assert main.verify()
    assert "gemmini_extended4_config_ld(64, 1, 0, 16, 0);" in main.source
    assert main.source.count("gemmini_compute_accumulated(") == 3


def pooled(rows: int, cols: int, low: int):
    """The greatest of windows of 2 x 2 of products, scaled to int8."""

    @T.prim_func
    def main(A: T.Buffer((8, 16, 16), "int8"), B: T.Buffer((16, 16), "int8"), Y: T.Buffer((rows, cols, 16), "int8")):
        S = T.alloc_buffer((8, 16, 16), "int32", scope="global.acc")
        for y, x, c, k in T.grid(8, 16, 16, 16):
            with T.block("S"):
                vy, vx, vc, vk = T.axis.remap("SSSR", [y, x, c, k])
                with T.init():
                    S[vy, vx, vc] = 0
                S[vy, vx, vc] += T.Cast("int32", A[vy, vx, vk]) * T.Cast("int32", B[vk, vc])
        for y, x, c, u, v in T.grid(rows, cols, 16, 2, 2):
            with T.block("Y"):
                vy, vx, vc, vu, vv = T.axis.remap("SSSRR", [y, x, c, u, v])
                with T.init():
                    Y[vy, vx, vc] = T.int8(-128)
                scaled = T.round(T.Cast("float32", S[vy * 2 + vu, vx * 2 + vv, vc]) * T.float32(0.0078125))
                clipped = T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(low)))
                Y[vy, vx, vc] = T.max(Y[vy, vx, vc], clipped)

    return main


@pytest.mark.parametrize(("rows", "cols", "name", "low"), [(4, 8, "mvout_pool", -128), (3, 7, "mvout_pool_relu", 0)])
def test_windows_are_pooled_in_the_store(rows: int, cols: int, name: str, low: int) -> None:
    machine = machines.gemmini()
    sch = Schedule(pooled(rows, cols, low))
    a, b = sch.cache_read("S", 0, "global.sp"), sch.cache_read("S", 1, "global.sp")
    start = sch.decompose_reduction("S", sch.get_loops("S")[1])
    for block, loop, used in (
        (a, 1, "mvin"),
        (b, 0, "mvin2"),
        (start, 1, "zero"),
        ("S_update", 1, "matmul"),
        ("Y", 0, name),
    ):
        sch.tensorize(sch.get_loops(block)[loop], f"gemmini.{used}")
    main = build(sch, target=machine).main
    assert isinstance(main, MachineFunction)
    rng = np.random.default_rng(0)
    x, w = rng.integers(-128, 128, (8, 16, 16), np.int8), rng.integers(-128, 128, (16, 16), np.int8)
    y = np.zeros((rows, cols, 16), np.int8)
    main(x, w, y)
    sums = x.astype(np.int32) @ w.astype(np.int32)
    whole = np.clip(np.round(sums * np.float32(0.0078125)), low, 127).astype(np.int8)
    np.testing.assert_array_equal(y, whole[: rows * 2, : cols * 2].reshape(rows, 2, cols, 2, 16).max((1, 3)))
    assert main.verify()
    sizes = f"2, 2, {cols * 16} / 16, {rows}, {cols}, 2 * {rows}, 16, 0, 0"
    assert f"gemmini_extended2_config_st(16, {int(low == 0)}, 0.0078125f, {sizes});" in main.source
