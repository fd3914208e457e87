"""Fixes for refusals of fragments and functions of tensor cores: each is followed."""

from __future__ import annotations

import numpy as np
import pytest
from harness import mma_products, scripts, tensor_cores
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule, interpret
from tir_mlir.intrin.wmma import get_wmma_intrin_group

FILL = """
for b in T.thread_binding(4, thread="blockIdx.x"):
    with T.block("tile"):
        vb = T.axis.spatial(4, b)
        T.reads()
        T.writes(C[vb * 16:vb * 16 + 16, 0:16])
        F = T.alloc_buffer({shape}, "float32", scope="wmma.accumulator")
        G = T.match_buffer({tile}, ({rows}, 16), scope="wmma.accumulator")
        D = T.match_buffer(C[vb * 16:vb * 16 + 16, 0:16], (16, 16), strides=["s", 1])
        {around}
            T.tvm_fill_fragment(G.data, 16, 16, 16, 0, T.float32(1))
        {around}
            T.tvm_store_matrix_sync(G.data, 16, 16, 16, 0, D.access_ptr("w"), D.strides[0], "row_major")
"""
LANES = 'for tx in T.thread_binding({}, thread="threadIdx.x"):'
LOAD = """
for b in T.thread_binding(4, thread="blockIdx.x"):
    with T.block("tile"):
        vb = T.axis.spatial(4, b)
        T.reads(A[vb * 16:vb * 16 + 16, 0:16])
        T.writes(C[vb * 16:vb * 16 + 16, 0:16])
        F = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
        E = T.match_buffer(A[vb * 16:vb * 16 + 16, 0:16], (16, 16), strides=["t", 1])
        D = T.match_buffer(C[vb * 16:vb * 16 + 16, 0:16], (16, 16), strides=["s", 1])
        T.tvm_load_matrix_sync(F.data, 16, 16, 16, 0, {pointer}, 16, "row_major")
        T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, D.access_ptr("w"), D.strides[0], "row_major")
"""
BESIDE = """
for b in T.thread_binding(4, thread="blockIdx.x"):
    for t in T.thread_binding({n}, thread="threadIdx.x"):
        with T.block("E"):
            vb, vt = T.axis.remap("SS", [b, t])
            E[vb, vt] = 1.0
    with T.block("tile"):
        vb = T.axis.spatial(4, b)
        T.reads()
        T.writes(C[vb * 16:vb * 16 + 16, 0:16])
        F = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
        D = T.match_buffer(C[vb * 16:vb * 16 + 16, 0:16], (16, 16), strides=["s", 1])
        T.tvm_fill_fragment(F.data, 16, 16, 16, 0, T.float32(1))
        T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, D.access_ptr("w"), D.strides[0], "row_major")
"""
LOAD_A = 'T.tvm_load_matrix_sync(F.data, 16, 8, 16, 0, A.access_ptr("r"), 16, "row_major")'
MMA = """
for b in T.thread_binding(1, thread="blockIdx.x"):
    with T.block("tile"):
        vb = T.axis.spatial(1, b)
        T.reads(A[0:16, 0:16], B[0:{rows}, 0:{columns}])
        T.writes(C[0:16, 0:8])
        F = T.alloc_buffer((16, 16), "float16", scope="mma.matrix_a")
        G = T.alloc_buffer(({rows}, {columns}), "float16", scope="{scope}")
        H = T.alloc_buffer((16, 8), "float32", scope="mma.accumulator")
        {load}
        T.tvm_load_matrix_sync(G.data, 16, 8, 16, 0, B.access_ptr("r"), {columns}, "{layout}")
        T.tvm_fill_fragment(H.data, 16, 8, 16, 0, T.float32(0))
        T.tvm_mma_sync(H.data, 0, F.data, 0, G.data, 0, H.data, 0)
        T.tvm_store_matrix_sync(H.data, 16, 8, 16, 0, C.access_ptr("w"), 8, "row_major")
"""


def filled(shape: str = "(16, 16)", tile: str = "F[0:16, 0:16]", rows: int = 16, around: str = LANES.format(32)):
    text = FILL.format(shape=shape, tile=tile, rows=rows, around=around)
    return Schedule(scripts.function(text, "C: T.Buffer((64, 16))"))


def loaded(pointer: str) -> Schedule:
    return Schedule(scripts.function(LOAD.format(pointer=pointer), "A: T.Buffer((64, 16)), C: T.Buffer((64, 16))"))


def beside(threads: int) -> Schedule:
    """A fragment is filled in a kernel that has a loop over threads besides."""
    return Schedule(scripts.function(BESIDE.format(n=threads), f"E: T.Buffer((4, {threads})), C: T.Buffer((64, 16))"))


def has_ones(sch: Schedule) -> None:
    c = np.zeros((64, 16), np.float32)
    on_machine(sch, [c])
    assert (c == 1).all()


def has_ones_in_both(sch: Schedule) -> None:
    c, e = np.zeros((64, 16), np.float32), np.zeros((4, 64), np.float32)
    on_machine(sch, [e, c])
    assert (c == 1).all() and (e == 1).all()


def copies(sch: Schedule) -> None:
    a, c = np.arange(1024, dtype=np.float32).reshape(64, 16), np.zeros((64, 16), np.float32)
    on_machine(sch, [a, c])
    np.testing.assert_array_equal(a, c)


def product(offset: int = 8, swizzle: bool = False) -> Schedule:
    """The product of 16 x 16 elements, its tiles in shared memory with padded rows, or with permuted addresses."""
    sch, blocks = tensor_cores.tiled(tensor_cores.product(16, 16, 16), tile=(1, 1))
    for name in "AB":
        sch.swizzle(f"{name}_shared", 0) if swizzle else sch.storage_align(f"{name}_shared", 0, 0, 16, offset)
    for key, name in get_wmma_intrin_group("shared", "global", "float16", "float32").items():
        sch.tensorize(blocks[key] if key == "compute" else sch.get_loops(blocks[key])[-2], name)
    return sch


def is_interpreted(sch: Schedule) -> None:
    a, b = (np.random.default_rng(n).integers(-2, 3, (16, 16)).astype(np.float16) for n in (0, 1))
    c = np.zeros((16, 16), np.float32)
    interpret(sch, a, b, c, target="cuda")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert sch.verify(target="cuda")


def by_mma(layout: str = "row_major", scope: str = "mma.matrix_b", load: str = LOAD_A) -> Schedule:
    """One m16n8k16; B is loaded as N x K for a product of K x N, or is in memory as K x N."""
    trans = scope.endswith("_trans")
    text = MMA.format(load=load, layout=layout, scope=scope, rows=8 if trans else 16, columns=16 if trans else 8)
    shape = (8, 16) if trans else (16, 8)
    params = f"A: T.Buffer((16, 16), 'float16'), B: T.Buffer({shape}, 'float16'), C: T.Buffer((16, 8), 'float32')"
    return Schedule(scripts.function(text, params))


def multiplies(sch: Schedule) -> None:
    trans = "matrix_b_trans" in sch.mod.script()
    a, b = mma_products.operands(16, 8, 16, "float16", False, trans)
    c = np.zeros((16, 8), np.float32)
    on_machine(sch, [a, b, c])
    np.testing.assert_array_equal(c, mma_products.expected(a, b, False, trans, "float32"))


ROWS = [
    KernelRow("a load of mma.sync by columns", lambda: by_mma("col_major"),
              'fix: "row_major", and mma.matrix_b_trans for an operand with rows and columns exchanged',
              (by_mma, lambda: by_mma(scope="mma.matrix_b_trans")), accepts=multiplies),
    KernelRow("ldmatrix of global memory",
              lambda: by_mma(load='T.ptx_ldmatrix(F.data, 0, A.access_ptr("r"), "x4: lane % 16, lane // 16 * 8")'),
              "fix: T.tvm_load_matrix_sync, which loads any memory", (by_mma,), accepts=multiplies),
    KernelRow("mma.sync of an older chip", by_mma,
              'fix: build for CUDA("sm_80"), or use tir_mlir.intrin.wmma',
              (by_mma,), target="sm_75", accepts=multiplies),
    KernelRow("a loop over half a warp", lambda: filled(around=LANES.format(16)),
              'fix: for tx in T.thread_binding(0, 32, "threadIdx.x") around the call alone, in the implementation of '
              "the intrinsic, or no loop over threadIdx.x",
              (filled, lambda: filled(around="if True:")), accepts=has_ones),
    KernelRow("a block of one warp and a half", lambda: beside(48),
              "make the loops over threadIdx.x run multiples of 32",
              (lambda: beside(64),), accepts=has_ones_in_both),
    KernelRow("a fragment of 24 rows", lambda: filled("(24, 16)", "F[0:24, 0:16]", 24),
              "make its last two dimensions constant multiples of 16",
              (lambda: filled("(32, 16)"),), accepts=has_ones),
    KernelRow("a fragment of two tiles", lambda: filled("(32, 16)", "F[0:32, 0:16]", 32),
              "T.match_buffer of its 16 x 16 elements",
              (lambda: filled("(32, 16)", "F[16:32, 0:16]"),), accepts=has_ones),
    KernelRow("a pointer with an offset", lambda: loaded('A.access_ptr("r", offset=vb * 256)'),
              "takes a pointer with an offset; fix: T.match_buffer of the tile",
              (lambda: loaded('E.access_ptr("r")'),), accepts=copies),
    KernelRow("rows that are not multiples of 16 bytes", lambda: product(4),
              "fix: storage_align of A_shared with a factor and an offset that are multiples of 8", (product,)),
    KernelRow("permuted addresses of a matrix", lambda: product(swizzle=True),
              "storage_align it instead, which moves whole rows", (product,)),
    KernelRow("tensor cores of other GPUs", product,
              "has code for NVIDIA's GPUs from sm_70 on only; fix: build for CUDA", (product,), target="gfx942"),
    KernelRow("tensor cores on a CPU", product,
              'fix: interpret(..., target="cuda") or verify(target="cuda") runs the kernels without a GPU', (product,),
              target="cuda-emulated", accepts=is_interpreted),
]  # fmt: skip


@pytest.mark.few(2)
@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
