"""What Triton compiles runs on the machine, and computes what NumPy does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tir_mlir import ptx
from tir_mlir.ptx.comparison import compare
from tir_mlir.ptx.prediction.cards import CARDS
from tir_mlir.ptx.prediction.estimate import predict
from tir_mlir.ptx.prediction.launches import describe_launch
from tir_mlir.ptx.prediction.tracing import TracedLaunch
from tir_mlir.ptx.program import register_usage

pytestmark = pytest.mark.nightly
kernels = pytest.importorskip("programs.triton_kernels", reason="needs Triton", exc_type=ImportError)
RNG = np.random.default_rng(0)
X, SMALL = RNG.standard_normal((6, 1008)).astype(np.float32), RNG.standard_normal((3, 1024)).astype(np.float32)
LEFT, RIGHT = (RNG.integers(-3, 4, shape).astype(np.float32) for shape in ((128, 96), (96, 64)))
HALVES = RNG.standard_normal((3, 128, 64)).astype(np.float16)
PLACES = RNG.integers(0, 48, 2496).astype(np.int32)
F32 = np.float32


def bf16(values: np.ndarray) -> np.ndarray:
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend() -> np.ndarray:
    q, k, v = HALVES.astype(F32)
    return softmax(q @ k.T * F32(0.125)) @ v


def normalize(w: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5) * w + b


def gelu(x: np.ndarray) -> np.ndarray:
    return np.array([0.5 * v * (1 + math.erf(v * math.sqrt(0.5))) for v in x.astype(float)])


FLAT = X.ravel()[:2496]
# name: grid, arguments before the result, shape and type of the result, arguments after it, expected, tolerance
ROWS = {
    "add": ((3,), [FLAT, FLAT[::-1].copy()], (2496, F32), [2496], FLAT + FLAT[::-1], 0),
    "softmax": ((6,), [X], (X.shape, F32), [1008], softmax(X), 1e-5),
    "layer_norm": ((6,), [X, X[0], X[1]], (X.shape, F32), [1008], normalize(X[0], X[1]), 1e-3),
    "matmul_f16": ((2, 1), [LEFT.astype(np.float16), RIGHT.astype(np.float16)], ((128, 64), F32), [64, 96],
                   LEFT @ RIGHT, 0),
    "matmul_bf16": ((2, 1), [bf16(LEFT), bf16(RIGHT)], ((128, 64), F32), [64, 96], LEFT @ RIGHT, 0),
    "matmul_tf32": ((2, 1), [LEFT, RIGHT], ((128, 64), F32), [64, 96], LEFT @ RIGHT, 0),
    "matmul_int8": ((2, 1), [LEFT.astype(np.int8), RIGHT.astype(np.int8)], ((128, 64), np.int32), [64, 96],
                    LEFT @ RIGHT, 0),
    "attention": ((2,), list(HALVES), ((128, 64), F32), [128, F32(0.125)], attend(), 2e-2),
    "transpose": ((4, 2), [HALVES[0]], ((64, 128), np.float16), [128, 64], HALVES[0].T, 0),
    "column_sums": ((8,), [SMALL], ((1024,), F32), [3, 1024], SMALL.sum(0), 1e-4),
    "gather": ((3,), [FLAT, PLACES], (2496, F32), [2496], FLAT[PLACES], 0),
    "gelu": ((3,), [FLAT.astype(np.float16)], (2496, np.float16), [2496], gelu(FLAT.astype(np.float16)), 5e-3),
    "running_sums": ((3,), [SMALL], (SMALL.shape, F32), [1024], np.cumsum(SMALL, 1), 1e-3),
    "histogram": ((3,), [PLACES], (48, np.int32), [2496], np.bincount(PLACES, minlength=48), 0),
    "argmax": ((3,), [SMALL], (3, np.int32), [1024], SMALL.argmax(1), 0),
}  # fmt: skip


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("name", kernels.KERNELS)
def test_a_kernel_is_right(name, capability):
    grid, before, (shape, dtype), after, expected, tolerance = ROWS[name]
    text, shared = kernels.compile_kernel(name, capability)
    module = ptx.parse(text)
    (kernel,) = module.kernels.values()
    result = np.zeros(shape, dtype)
    args = [*before, result, *after]
    args += [0] * (len(kernel.parameters) - len(args))  # scratch memory, which these kernels do not use
    ptx.launch(module, kernel.name, grid, kernel.block, args, shared)
    np.testing.assert_allclose(result.astype(float), expected, rtol=tolerance, atol=tolerance)


def test_a_promise_that_does_not_hold_is_an_access_outside():
    text, _ = kernels.compile_kernel("gelu", 80)
    args = [np.zeros(2500, np.float16), np.zeros(2500, np.float16), 2500, 0, 0]  # 2500 is not a multiple of 16
    with pytest.raises(ptx.PtxError, match="reads 16 bytes outside of its memory"):
        ptx.launch(text, "gelu", (3,), (128,), args)


# name: the most instructions that ours may execute, of Triton's, which for the product depend on its version
INSTRUCTIONS = {
    "product of float16, 1024": 1.5, "softmax, 4096 x 1024": 1.8, "layer norm, 4096 x 1024": 0.5,
    "transpose of float16, 2048": 3.8, "attention, 1024 x 64 (ours of float32)": 28,
}  # fmt: skip


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_ours_beside_those_of_triton(name):
    """See docs/gpu/other-compilers.md."""
    from programs.beside_triton import side_by_side

    mine, theirs = side_by_side(name)
    assert mine.counts["instructions of warps"] <= INSTRUCTIONS[name] * theirs.counts["instructions of warps"]
    assert theirs.counts["passes by bank conflicts"] == 0
    assert "predicted time" in compare([mine, theirs])


def predicted(launch: TracedLaunch, text: str) -> float:
    """Seconds on an H100."""
    used, spilled = register_usage(text, "sm_90a").get(launch.kernel.name, (210, 0))
    return predict(launch, CARDS["H100"], used, spilled=spilled).seconds


def test_a_product_by_the_tma_beside_triton():
    """128 x 256 x 64 at K = 1024 for sm_90: Triton's kernel of pointers copies by cp.async, 18,776 instructions."""
    from programs.tma_products import warpgroups

    from tir_mlir import interpret

    constants = {"BM": 128, "BN": 256, "BK": 64, "OUT": kernels.tl.float32}
    text, shared = kernels.compile_function(kernels.matmul, "*fp16 *fp16 *fp32 i32 i32", constants, 90, warps=8)
    (kernel,) = ptx.parse(text).kernels.values()
    a, b = (RNG.integers(-3, 4, shape).astype(np.float16) for shape in ((128, 1024), (1024, 256)))
    ours, theirs = np.zeros((2, 128, 256), F32)
    args = [a, b, theirs, 256, 1024, *[0] * (len(kernel.parameters) - 5)]
    other = ptx.launch(text, kernel.name, (1, 1), kernel.block, args, shared)
    mine = interpret(warpgroups((128, 256, 1024), 4, True, (128, 256, 64)), a, b, ours, target="sm_90a")
    assert (ours == a.astype(F32) @ b.astype(F32)).all() and (ours == theirs).all()
    assert sum(mine.instructions.values()) < 0.7 * sum(other.instructions.values())
    assert mine.bank_conflicts == 0


def test_the_public_figure_of_a_product_on_an_h100_is_predicted():
    """523 TFLOP/s of bfloat16, 4096 x 4096 x 4096 (figures of 2025)."""
    constants = {"BM": 128, "BN": 256, "BK": 64, "OUT": kernels.tl.float32}
    text, shared = kernels.compile_function(kernels.matmul, "*bf16 *bf16 *fp32 i32 i32", constants, 90, warps=8)
    (kernel,) = ptx.parse(text).kernels.values()
    n = 4096
    halves = np.zeros((n, n), np.uint16)
    args = [halves, halves.copy(), np.zeros((n, n), F32), n, n, *[0] * (len(kernel.parameters) - 5)]
    seconds = predicted(describe_launch(kernel, (32, 16), (256,), args, shared), text)
    assert 2e-12 * n**3 / seconds == pytest.approx(523, rel=0.2)


@pytest.mark.parametrize(("width", "keys", "warps", "rate"), [(64, 64, 4, 350), (128, 128, 8, 458)])
def test_public_figures_of_attention_on_an_h100_are_near(width, keys, warps, rate):
    """TFLOP/s of Triton's best kernels (figures of 2024 and 2025); this one is plainer."""
    constants = {"D": width, "BM": 128, "BN": keys}
    text, shared = kernels.compile_function(kernels.attention, "*fp16 *fp16 *fp16 *fp32 i32 fp32", constants, 90, warps)
    (kernel,) = ptx.parse(text).kernels.values()
    queries, length = 64 * 4096, 4096
    q, k, v = (np.zeros((rows, width), np.float16) for rows in (queries, length, length))
    args = [q, k, v, np.zeros(q.shape, F32), length, F32(0.1), *[0] * (len(kernel.parameters) - 6)]
    seconds = predicted(describe_launch(kernel, (queries // 128,), (32 * warps,), args, shared), text)
    assert 4e-12 * queries * length * width / seconds == pytest.approx(rate, rel=0.3)
