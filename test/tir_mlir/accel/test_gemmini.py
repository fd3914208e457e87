"""Instructions of Gemmini that schedules use by hand."""

from __future__ import annotations

import numpy as np

from tir_mlir import Schedule, build
from tir_mlir.accel import machines
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
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (16, 64), np.int8), rng.integers(-128, 128, (16, 16), np.int8)
    c = np.zeros((4, 16, 16), np.int32)
    main(a, b, c)
    np.testing.assert_array_equal(c, a.reshape(16, 4, 16).swapaxes(0, 1).astype(np.int32) @ b.astype(np.int32))
    assert main.verify()
    assert "gemmini_extended4_config_ld(64, 1, 0, 16, 0);" in main.source
    assert main.source.count("gemmini_compute_accumulated(") == 3
