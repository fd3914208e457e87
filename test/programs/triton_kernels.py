"""Kernels of Triton, compiled to PTX without a GPU. Importing this needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, z, n, W: tl.constexpr):
    i = tl.program_id(0) * W + tl.arange(0, W)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(x, y, n, W: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, W)
    v = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * n + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def layer_norm(x, w, b, y, n, W: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, W)
    m = c < n
    v = tl.load(x + r * n + c, mask=m, other=0.0)
    d = tl.where(m, v - tl.sum(v, 0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(y + r * n + c, d * scale * tl.load(w + c, mask=m) + tl.load(b + c, mask=m), mask=m)


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    at, bt = a + rm[:, None] * K + rk[None, :], b + rk[:, None] * N + rn[None, :]
    total = tl.zeros((BM, BN), OUT)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(at), tl.load(bt), total, out_dtype=OUT)
        at += BK
        bt += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], total)


@triton.jit
def attention(q, k, v, o, L, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    rn = tl.arange(0, BN)
    query = tl.load(q + rm[:, None] * D + rd[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for n in range(0, L, BN):
        t = tl.dot(query, tl.load(k + (n + rn)[None, :] * D + rd[:, None])) * scale
        new = tl.maximum(most, tl.max(t, 1))
        p, shrink = tl.exp(t - new[:, None]), tl.exp(most - new)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + (n + rn)[:, None] * D + rd[None, :])
        result = result * shrink[:, None] + tl.dot(p.to(tl.float16), values)
        most = new
    tl.store(o + rm[:, None] * D + rd[None, :], result / total[:, None])


@triton.jit
def transpose(x, y, M, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(y + j[:, None] * M + i[None, :], tl.trans(tl.load(x + i[:, None] * N + j[None, :])))


@triton.jit
def column_sums(x, y, M, N, B: tl.constexpr):
    j = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for i in range(0, M):
        total += tl.load(x + i * N + j)
    tl.atomic_add(y + j, total)


@triton.jit
def gather(x, at, y, n, W: tl.constexpr):
    i = tl.program_id(0) * W + tl.arange(0, W)
    m = i < n
    tl.store(y + i, tl.load(x + tl.load(at + i, mask=m, other=0), mask=m), mask=m)


@triton.jit
def gelu(x, y, n, W: tl.constexpr):
    i = tl.program_id(0) * W + tl.arange(0, W)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)
    tl.store(y + i, (0.5 * v * (1 + tl.erf(v * 0.70710678))).to(tl.float16), mask=m)


@triton.jit
def running_sums(x, y, n, W: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, W)
    tl.store(y + r * n + c, tl.cumsum(tl.load(x + r * n + c), 0))


@triton.jit
def histogram(x, y, n, W: tl.constexpr):
    i = tl.program_id(0) * W + tl.arange(0, W)
    m = i < n
    tl.atomic_add(y + tl.load(x + i, mask=m, other=0), 1, mask=m)


@triton.jit
def argmax(x, y, n, W: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, W)
    tl.store(y + r, tl.argmax(tl.load(x + r * n + c), 0))


_TILES = {"BM": 64, "BN": 64, "BK": 32}
KERNELS = {
    "add": (add, "*fp32 *fp32 *fp32 i32", {"W": 1024}),
    "softmax": (softmax, "*fp32 *fp32 i32", {"W": 1024}),
    "layer_norm": (layer_norm, "*fp32 *fp32 *fp32 *fp32 i32", {"W": 1024}),
    "matmul_f16": (matmul, "*fp16 *fp16 *fp32 i32 i32", {**_TILES, "OUT": tl.float32}),
    "matmul_bf16": (matmul, "*bf16 *bf16 *fp32 i32 i32", {**_TILES, "OUT": tl.float32}),
    "matmul_tf32": (matmul, "*fp32 *fp32 *fp32 i32 i32", {**_TILES, "OUT": tl.float32}),
    "matmul_int8": (matmul, "*i8 *i8 *i32 i32 i32", {**_TILES, "OUT": tl.int32}),
    "attention": (attention, "*fp16 *fp16 *fp16 *fp32 i32 fp32", {"D": 64, "BM": 64, "BN": 64}),
    "transpose": (transpose, "*fp16 *fp16 i32 i32", {"B": 32}),
    "column_sums": (column_sums, "*fp32 *fp32 i32 i32", {"B": 128}),
    "gather": (gather, "*fp32 *i32 *fp32 i32", {"W": 1024}),
    "gelu": (gelu, "*fp16 *fp16 i32", {"W": 1024}),
    "running_sums": (running_sums, "*fp32 *fp32 i32", {"W": 1024}),
    "histogram": (histogram, "*i32 *i32 i32", {"W": 1024}),
    "argmax": (argmax, "*fp32 *i32 i32", {"W": 1024}),
}
"""By name: the function, the types of its parameters, its constants."""


def compile_kernel(name: str, capability: int) -> tuple[str, int]:
    """The PTX of a kernel and its bytes of dynamic shared memory. Pointers and sizes are multiples of 16."""
    return compile_function(*KERNELS[name], capability)


def compile_function(function, types: str, constants: dict, capability: int, warps: int = 4) -> tuple[str, int]:
    """The same of a function: the types of its parameters, its constants, the warps of a block."""
    names, given = function.arg_names, types.split()
    signature = dict(zip(names, given, strict=False)) | dict.fromkeys(constants, "constexpr")
    aligned = {(n,): [["tt.divisibility", 16]] for n, type_ in enumerate(given) if type_ != "fp32"}
    values = {(names.index(constant),): value for constant, value in constants.items()}
    source = ASTSource(fn=function, signature=signature, constexprs=values, attrs=aligned)
    done = triton.compile(
        source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps, "num_stages": 3}
    )
    return done.asm["ptx"], done.metadata.shared
