"""Products on tensor cores by the ready schedule: any size, type, batch and transposition, convolutions, epilogues."""

from __future__ import annotations

import numpy as np
import pytest
from harness import mma_products, scripts

from tir_mlir import Schedule, build, interpret, schedules
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedules.gpu.tensor_cores import TF32_ERROR, WarpTile, tensor_core_product
from tir_mlir.target import CUDA

EPILOGUE = """
P = T.alloc_buffer((100, 72), "float32")
for i, j, k in T.grid(100, 72, 64):
    with T.block("product"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            P[vi, vj] = T.float32(0)
        P[vi, vj] = P[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vk, vj], "float32")
for i, j in T.grid(100, 72):
    with T.block("epilogue"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = T.cast(T.max(P[vi, vj] + D[vj], T.float32(0)), "float16")
"""
BATCH = """
for b, i, j, k in T.grid(3, 40, 33, 50):
    with T.block("product"):
        vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
        with T.init():
            C[vb, vi, vj] = T.float32(0)
        C[vb, vi, vj] = C[vb, vi, vj] + T.cast(A[vb, vi, vk], "float32") * T.cast(B[vb, vj, vk], "float32")
"""
CONVOLUTION = """
for n, f, h, w, c, r, s in T.grid(2, 10, 6, 6, 8, 3, 3):
    with T.block("conv"):
        vn, vf, vh, vw, vc, vr, vs = T.axis.remap("SSSSRRR", [n, f, h, w, c, r, s])
        with T.init():
            Y[vn, vf, vh, vw] = T.float32(0)
        Y[vn, vf, vh, vw] = Y[vn, vf, vh, vw] + (
            T.cast(X[vn, vc, vh + vr, vw + vs], "float32") * T.cast(W[vf, vc, vr, vs], "float32")
        )
"""
SIZES = [(1, 1, 1), (15, 16, 17), (16, 127, 15), (64, 64, 64), (127, 1, 40)]
TYPES = [("float16", "float32"), ("float16", "float16"), ("bfloat16", "float32"), ("int8", "int32"), ("uint8", "int32"),
         ("float64", "float64")]  # fmt: skip
TRANSPOSED = [(False, False), (True, False), (False, True), (True, True)]


def small(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


def on_tensor_cores(text: str, params: str, *arrays: np.ndarray) -> None:
    """Run what `schedules.auto` makes of a program on the machine."""
    sch = Schedule(scripts.function(text, params))
    schedules.auto(sch, target="sm_80")
    assert "mma.sync" in build(sch, target="sm_80").assembly
    assert not interpret(sch, *arrays, target="sm_80").bank_conflicts


@pytest.mark.few(1)
@pytest.mark.parametrize("trans", TRANSPOSED)
@pytest.mark.parametrize(("dtype", "sums"), TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_any_size_and_type(size, dtype, sums, trans):
    (m, n, k), (trans_a, trans_b) = size, trans
    sch = Schedule(mma_products.product(m, n, k, dtype, sums, trans_a, trans_b))
    tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80"))
    a, b = mma_products.operands(m, n, k, dtype, trans_a, trans_b)
    c = np.full((m, n), -1, sums)
    report = interpret(sch, a, b, c, target="sm_80")
    np.testing.assert_array_equal(c, mma_products.expected(a, b, trans_a, trans_b, sums))
    assert not report.bank_conflicts or dtype in ("int8", "uint8", "float64")


@pytest.mark.nightly
@pytest.mark.parametrize("trans", TRANSPOSED)
def test_it_is_verified(trans):
    trans_a, trans_b = trans
    sch = Schedule(mma_products.product(60, 40, 70, "float16", "", trans_a, trans_b))
    tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80"), tile=WarpTile(16, 16, 2, 2))
    assert sch.verify()
    assert sch.verify(target="sm_80")


@pytest.mark.nightly
def test_an_epilogue_is_computed_where_sums_are():
    a, b, d = small((100, 64), 0), small((64, 72), 1), small((72,), 2).astype(np.float32)
    c = np.zeros((100, 72), np.float16)
    params = "A: T.Buffer((100, 64), 'float16'), B: T.Buffer((64, 72), 'float16'), D: T.Buffer((72,), 'float32')"
    on_tensor_cores(EPILOGUE, f"{params}, C: T.Buffer((100, 72), 'float16')", a, b, d, c)
    np.testing.assert_array_equal(c, np.maximum(a.astype(np.float32) @ b.astype(np.float32) + d, 0).astype(np.float16))


@pytest.mark.nightly
def test_batches():
    a, b, c = small((3, 40, 50), 0), small((3, 33, 50), 1), np.zeros((3, 40, 33), np.float32)
    params = "A: T.Buffer((3, 40, 50), 'float16'), B: T.Buffer((3, 33, 50), 'float16')"
    on_tensor_cores(BATCH, f"{params}, C: T.Buffer((3, 40, 33), 'float32')", a, b, c)
    np.testing.assert_array_equal(c, np.einsum("bik,bjk->bij", a.astype(np.float32), b.astype(np.float32)))


@pytest.mark.nightly
def test_convolutions():
    x, w, y = small((2, 8, 8, 8), 0), small((10, 8, 3, 3), 1), np.zeros((2, 10, 6, 6), np.float32)
    params = "X: T.Buffer((2, 8, 8, 8), 'float16'), W: T.Buffer((10, 8, 3, 3), 'float16')"
    on_tensor_cores(CONVOLUTION, f"{params}, Y: T.Buffer((2, 10, 6, 6), 'float32')", x, w, y)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float32), (3, 3), (2, 3))
    np.testing.assert_array_equal(y, np.einsum("nchwrs,fcrs->nfhw", windows, w.astype(np.float32)))


def test_a_product_of_256_has_about_as_many_instructions_as_that_of_triton():
    """Triton 3.9 with tiles of 64 x 64 x 32, four warps and three stages: 41,312."""
    sch = Schedule(mma_products.product(256, 256, 256))
    tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80"), tile=WarpTile(32, 32, 2, 2))
    a, b = mma_products.operands(256, 256, 256, "float16", False, False)
    c = np.zeros((256, 256), np.float32)
    report = interpret(sch, a, b, c, target="sm_80")
    np.testing.assert_array_equal(c, mma_products.expected(a, b, False, False, "float32"))
    assert sum(report.instructions.values()) < 1.1 * 41_312
    assert not report.bank_conflicts


@pytest.mark.parametrize("stages", [2, pytest.param(3, marks=pytest.mark.nightly)])
def test_copies_run_ahead_in_stages(stages):
    """With two stages, 1.02 of the instructions of Triton, which has three."""
    sch = Schedule(mma_products.product(256, 256, 256))
    tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80"), tile=WarpTile(32, 32, 2, 2), stages=stages)
    assert f"cp.async.wait_group {stages - 2};" in " ".join(build(sch, target="sm_80").assembly.split())
    a, b = mma_products.operands(256, 256, 256, "float16", False, False)
    c = np.zeros((256, 256), np.float32)
    report = interpret(sch, a, b, c, target="sm_80")
    np.testing.assert_array_equal(c, mma_products.expected(a, b, False, False, "float32"))
    assert stages > 2 or sum(report.instructions.values()) < 1.1 * 41_312
    assert not report.bank_conflicts


@pytest.mark.few(1)
@pytest.mark.parametrize("trans", TRANSPOSED)
@pytest.mark.parametrize(("dtype", "sums"), TYPES)
@pytest.mark.parametrize("size", [(15, 16, 17), (33, 17, 127), (16, 127, 1), (64, 64, 200)])
def test_any_size_and_type_in_stages(size, dtype, sums, trans):
    (m, n, k), (trans_a, trans_b) = size, trans
    sch = Schedule(mma_products.product(m, n, k, dtype, sums, trans_a, trans_b))
    tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80"), stages=3)
    a, b = mma_products.operands(m, n, k, dtype, trans_a, trans_b)
    c = np.full((m, n), -1, sums)
    interpret(sch, a, b, c, target="sm_80")
    np.testing.assert_array_equal(c, mma_products.expected(a, b, trans_a, trans_b, sums))


@pytest.mark.parametrize(
    ("dtype", "chip", "message"),
    [
        ("float32", "sm_80", "multiplies float32 by float32 in float32, which tensor cores do not"),
        ("float16", "sm_75", "sm_75 has no mma.sync"),
    ],
)
def test_what_tensor_cores_do_not_multiply(dtype, chip, message):
    sch = Schedule(mma_products.product(64, 64, 64, dtype))
    with pytest.raises(ScheduleError, match=message):
        tensor_core_product(sch, sch.get_block("product"), CUDA(chip))


@pytest.mark.few(1)
@pytest.mark.parametrize("trans", TRANSPOSED)
@pytest.mark.parametrize("size", [(16, 8, 1), (33, 17, 127), (64, 96, 40)])
def test_float32_in_tf32_where_the_target_says_so(size, trans):
    """Each operand is rounded to 11 bits."""
    (m, n, k), (trans_a, trans_b) = size, trans
    sch = Schedule(mma_products.product(m, n, k, "float32", "float32", trans_a, trans_b))
    tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80", math="tf32"))
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s, np.float32) for s in ((k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n)))
    c = np.full((m, n), -1, np.float32)
    report = interpret(sch, a, b, c, target="sm_80")
    left, right = (a.T if trans_a else a).astype(float), (b.T if trans_b else b).astype(float)
    assert (np.abs(c - left @ right) <= TF32_ERROR * (np.abs(left) @ np.abs(right))).all()
    assert any("tf32" in name for name in report.instructions)


def test_no_stages():
    sch = Schedule(mma_products.product(64, 64, 64))
    with pytest.raises(ScheduleError, match="stages is at least 1, not 0"):
        tensor_core_product(sch, sch.get_block("product"), CUDA("sm_80"), stages=0)
