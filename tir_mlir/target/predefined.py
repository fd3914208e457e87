"""The predefined targets, by name. CPUs: Linux (macOS, WebAssembly), one core, typical caches."""

from __future__ import annotations

import difflib

from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.target.cpu import Target
from tir_mlir.target.gpu import GPU, NAMES_OF_GPUS, gpu_named


def _x86(cpu: str, bits: int, registers: int, l2: int, *features: str, l1: int = 32 << 10) -> Target:
    return Target(
        bits, registers, l1, l2, arch="x86_64", features=frozenset(features), triple="x86_64-unknown-linux-gnu", cpu=cpu
    )


def _arm(*features: str, bits: int = 128) -> Target:
    return Target(
        bits, 32, l1=64 << 10, arch="aarch64", features=frozenset(features), triple="aarch64-unknown-linux-gnu",
        cpu="generic",
    )  # fmt: skip


def _riscv(bits: int) -> Target:
    return Target(
        bits, 32, arch="riscv64", features=frozenset("mafdcv"), triple="riscv64-unknown-linux-gnu", cpu="generic-rv64"
    )


_V3 = ("sse2", "avx", "avx2", "fma", "f16c")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512dq", "avx512vl")
# what LLVM may use for these CPUs by their names: a machine must have all of it
_NEWER = (
    *_V4, "avx512cd", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "gfni",
    "avx512vnni", "avx512bf16",
)  # fmt: skip
_AMX = ("amx-tile", "amx-int8", "amx-bf16")
_WASM = ("simd128", "bulk-memory", "nontrapping-fptoint", "sign-ext")

SSE2 = _x86("x86-64", 128, 16, 256 << 10, "sse2")
AVX2 = _x86("x86-64-v3", 256, 16, 256 << 10, *_V3)
AVX512 = _x86("x86-64-v4", 512, 32, 1 << 20, *_V4)
AVX512_VNNI = _x86("x86-64-v4", 512, 32, 1 << 20, *_V4, "avx512vnni")
SAPPHIRE_RAPIDS = _x86("sapphirerapids", 512, 32, 2 << 20, *_NEWER, "avx512fp16", *_AMX, l1=48 << 10)
ZEN4 = _x86("znver4", 512, 32, 1 << 20, *_NEWER, "sse4a")
NEON = _arm("neon")
NEON_DOTPROD = _arm("neon", "dotprod")
NEON_I8MM = _arm("neon", "dotprod", "i8mm", "bf16")
SVE = _arm("neon", "sve", bits=256)
SME = _arm("neon", "dotprod", "i8mm", "bf16", "sme")
APPLE_M1 = Target(
    128, 32, l1=128 << 10, l2=12 << 20, arch="aarch64", features=frozenset(("neon", "dotprod", "fullfp16")),
    triple="arm64-apple-macosx14.0", cpu="apple-m1",
)  # fmt: skip
RVV = _riscv(256)
RVV_128 = _riscv(128)
WASM_SIMD = Target(
    128, 16, arch="wasm32", features=frozenset(_WASM), triple="wasm32-unknown-unknown", cpu="generic"
)  # fmt: skip

NAMES = {name.lower(): value for name, value in list(globals().items()) if isinstance(value, Target)}


def named(name: str) -> Target | GPU:
    """The target of a name: `named("zen4")` is ZEN4, `named("nvidia/tesla-p100")` is CUDA("sm_60"). Upper and lower
    case, `-` and `_` are the same. Raises BuildError with the nearest name."""
    plain = name.lower().replace("-", "_") if isinstance(name, str) else ""
    if plain in NAMES:
        return NAMES[plain]
    if isinstance(name, str) and (gpu := gpu_named(name)) is not None:
        return gpu
    if isinstance(name, str) and name.lower().startswith(("nvidia/", "sm_", "cuda")):
        near = difflib.get_close_matches(name.lower(), NAMES_OF_GPUS, 3)
        hint = f" (near: {', '.join(map(repr, near))})" if near else ""
        raise BuildError(f'unknown GPU {short_repr(name)}{hint}; fix: its compute capability, CUDA("sm_80")')
    near = difflib.get_close_matches(plain, NAMES, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    choices = f"'llvm', {', '.join(map(repr, NAMES))}, 'cuda', 'opencl', 'gfx942', 'nvidia/nvidia-a100' and others"
    raise BuildError(f"unknown target {short_repr(name)}{hint}; known: {choices}")
