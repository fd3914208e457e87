"""Products by `mma.sync` as kernels: all types and transpositions are right on the PTX machine; the rest is refused."""

from __future__ import annotations

import numpy as np
import pytest
from harness import mma_products, ptx, scripts

from tir_mlir import build, interpret
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.target import CUDA

TYPES = [
    ("float16", "float32"), ("float16", "float16"), ("bfloat16", "float32"), ("float32", "float32"),
    ("int8", "int32"), ("uint8", "int32"), ("float64", "float64"),
]  # fmt: skip


def check(dtype: str, sums: str, trans_a: bool, trans_b: bool, tiles=(2, 2, 2), warps=(1, 2), scope="shared"):
    shape = tuple(n * side for n, side in zip(tiles, mma_products.INSTRUCTIONS[dtype], strict=True))
    m, n, k = shape[0] * warps[0], shape[1] * warps[1], shape[2] * 2
    func = mma_products.product(m, n, k, dtype, sums, trans_a, trans_b)
    sch = mma_products.scheduled(func, shape, dtype, sums, trans_a, trans_b, warps, scope)
    a, b = mma_products.operands(m, n, k, dtype, trans_a, trans_b)
    c = np.full((m, n), -1, sums)
    report = interpret(sch, a, b, c, target="sm_80")
    np.testing.assert_array_equal(c, mma_products.expected(a, b, trans_a, trans_b, sums))
    return sch, report


@pytest.mark.few(2)
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize(("dtype", "sums"), TYPES)
def test_products_are_right(dtype, sums, trans_a, trans_b):
    check(dtype, sums, trans_a, trans_b)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "int8", "float64"])
def test_operands_are_loaded_from_global_memory(dtype):
    sch, _ = check(dtype, mma_products.SUMS.get(dtype, "float32"), False, False, scope="global")
    assert "ldmatrix" not in build(sch, target="sm_80").assembly


@pytest.mark.few(1)
@pytest.mark.parametrize("tiles", [(1, 1, 1), (1, 3, 1), (3, 1, 2), (1, 2, 3)])
def test_tiles_of_any_number(tiles):
    check("float16", "float32", False, False, tiles, (1, 1))


@pytest.mark.nightly
@pytest.mark.parametrize(("dtype", "sums"), TYPES)
def test_schedules_are_verified_and_interpreted(dtype, sums):
    sch, _ = check(dtype, sums, False, True)
    assert sch.verify()
    assert sch.verify(target="sm_80")


def test_text_of_a_product(tmp_path):
    """Four matrices a load; the warp is in step by barriers, but for the end of the loop."""
    text = build(mma_products.scheduled(mma_products.product(64, 64, 64), (32, 32, 32)), target="sm_80").assembly
    assert not ptx.assemble(text, tmp_path, "sm_80")
    assert text.count("ldmatrix.sync.aligned.m8n8.x4.shared") == 4
    assert text.count("ldmatrix.sync.aligned.m8n8.x4.trans.shared") == 4
    assert text.count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == 16
    assert text.count("bar.warp.sync") == 1


def test_an_older_chip_is_told_what_it_has():
    sch = mma_products.scheduled(mma_products.product(64, 64, 64), (32, 32, 32))
    assert "mma.accumulator" not in CUDA("sm_75").memories and "mma.accumulator" in CUDA("sm_80").memories
    text = (
        r"mma.m16n8k16, which GPUs have from sm_80 on; this one has wmma of 16 x 16 x 16 float16; fix: build for CUDA"
    )
    with pytest.raises(LoweringError, match=text):
        build(sch, target="sm_75")


def test_rows_that_are_not_aligned_are_refused():
    sch = mma_products.scheduled(mma_products.product(64, 64, 64), (32, 32, 32))
    sch.storage_align("A_shared", 0, 0, 8, 4)
    with pytest.raises(
        LoweringError, match="takes rows of A_shared that are 36 elements apart; the hardware takes mul"
    ):
        build(sch, target="sm_80")


THROUGH_SHARED = """
for b in T.thread_binding(1, thread="blockIdx.x"):
    with T.block("tile"):
        vb = T.axis.spatial(1, b)
        T.reads(A[0:16, 0:16], B[0:16, 0:24])
        T.writes(C[0:16, 0:24])
        F = T.alloc_buffer((16, 16), "float16", scope="mma.matrix_a")
        G = T.alloc_buffer((16, 24), "float16", scope="mma.matrix_b")
        H = T.alloc_buffer((16, 24), "{sums}", scope="mma.accumulator")
        S = T.alloc_buffer((16, 24), "{dtype}", scope="shared")
        T.tvm_load_matrix_sync(F.data, 16, 8, 16, 0, A.access_ptr("r"), 16, "row_major")
        T.tvm_load_matrix_sync(G.data, 16, 8, 16, 0, B.access_ptr("r"), 24, "row_major")
        T.tvm_fill_fragment(H.data, 16, 8, 16, 0, T.float32(0))
        T.tvm_mma_sync(H.data, 0, F.data, 0, G.data, 0, H.data, 0)
        D = T.match_buffer(S[0:16, 0:24], (16, 24), "{dtype}", strides=["s", 1], scope="shared")
        T.tvm_store_matrix_sync(H.data, 16, 8, 16, 0, D.access_ptr("w"), D.strides[0], "row_major")
        for t in T.thread_binding(32, thread="threadIdx.x"):
            for n in range(16):
                if t < 24:
                    C[n, t] = S[n, t]
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(("chip", "stores"), [("sm_80", 0), ("sm_90", 2)])
@pytest.mark.parametrize(("dtype", "sums"), [("float16", "float32"), ("float16", "float16"), ("bfloat16", "float32")])
def test_sums_are_stored_as_halves_to_shared_memory(chip, stores, dtype, sums, tmp_path):
    """By stmatrix, four matrices and two, where there is one."""
    text = THROUGH_SHARED.format(dtype=dtype, sums=sums)
    params = f"A: T.Buffer((16, 16), 'float16'), B: T.Buffer((16, 24), 'float16'), C: T.Buffer((16, 24), '{dtype}')"
    func = scripts.function(text, params)
    a, b = mma_products.operands(16, 24, 16, "float16", False, False)
    c = np.zeros((16, 24), np.uint16 if dtype == "bfloat16" else dtype)
    interpret(func, a, b, c, target=chip)
    want = mma_products.expected(a, b, False, False, "float32")
    got = (c.astype(np.uint32) << 16).view(np.float32) if dtype == "bfloat16" else c.astype(np.float32)
    np.testing.assert_array_equal(got, want)
    assembly = build(func, target=chip).assembly
    assert assembly.count("stmatrix.sync") == stores
    assert not ptx.assemble(assembly, tmp_path, chip)


@pytest.mark.nightly
def test_a_number_of_stages_leaves_loads_of_fragments_with_the_product():
    func = mma_products.product(32, 16, 128)
    sch, group, blocks = mma_products.tiled(func, (32, 16, 32), warps=(1, 1))
    loop = sch.get_loops(blocks["load_a"])[-3]
    sch.pipeline(loop, stages=2)
    for name, block in blocks.items():
        sch.tensorize(block if name == "compute" else sch.get_loops(block)[-2], group[name])
    text = sch.mod.script()
    assert 'A_shared = T.alloc_buffer((2, 32, 32), "float16", scope="shared")' in text
    assert 'T.alloc_buffer((32, 128), "float16", scope="mma.matrix_a")' in text
    a, b = mma_products.operands(32, 16, 128, "float16", False, False)
    c = np.zeros((32, 16), np.float32)
    interpret(sch, a, b, c, target="sm_80")
    np.testing.assert_array_equal(c, mma_products.expected(a, b, False, False, "float32"))
