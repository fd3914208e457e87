"""The predefined targets, by name. CPUs: Linux (macOS, WebAssembly), one core, typical caches."""

from __future__ import annotations

import difflib

from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.target.any_target import AnyTarget
from tir_mlir.target.cpu import Target
from tir_mlir.target.gpu import NAMES_OF_GPUS, gpu_named
from tir_mlir.target.instruction_sets import PREDEFINED, plain_name


def _x86(name: str, cpu: str, bits: int, registers: int, l2: int, l1: int = 32 << 10) -> Target:
    arch, features = PREDEFINED[name]
    return Target(bits, registers, l1, l2, arch=arch, features=frozenset(features), triple=f"{arch}-{_LINUX}", cpu=cpu)


def _arm(name: str, bits: int = 128, cpu: str = "generic", l2: int = 512 << 10) -> Target:
    arch, features = PREDEFINED[name]
    return Target(
        bits, 32, l1=64 << 10, l2=l2, arch=arch, features=frozenset(features), triple=f"{arch}-{_LINUX}", cpu=cpu
    )


def _riscv(name: str, bits: int, cpu: str = "generic-rv64") -> Target:
    arch, features = PREDEFINED[name]
    return Target(bits, 32, arch=arch, features=frozenset(features), triple=f"{arch}-{_LINUX}", cpu=cpu)


_LINUX = "unknown-linux-gnu"

SSE2 = _x86("sse2", "x86-64", 128, 16, 256 << 10)
AVX2 = _x86("avx2", "x86-64-v3", 256, 16, 256 << 10)
AVX512 = _x86("avx512", "x86-64-v4", 512, 32, 1 << 20)
AVX512_VNNI = _x86("avx512_vnni", "x86-64-v4", 512, 32, 1 << 20)
AVX512_BF16 = _x86("avx512_bf16", "x86-64-v4", 512, 32, 1 << 20)
HASWELL = _x86("haswell", "haswell", 256, 16, 256 << 10)
SKYLAKE_AVX512 = _x86("skylake_avx512", "skylake-avx512", 512, 32, 1 << 20)
ICELAKE = _x86("icelake", "icelake-server", 512, 32, 1280 << 10, l1=48 << 10)
ALDER_LAKE = _x86("alder_lake", "alderlake", 256, 16, 1280 << 10, l1=48 << 10)
SAPPHIRE_RAPIDS = _x86("sapphire_rapids", "sapphirerapids", 512, 32, 2 << 20, l1=48 << 10)
SAPPHIRE_RAPIDS_NO_AMX = _x86("sapphire_rapids_no_amx", "sapphirerapids", 512, 32, 2 << 20, l1=48 << 10)
ZEN1 = _x86("zen1", "znver1", 256, 16, 512 << 10)
ZEN2 = _x86("zen2", "znver2", 256, 16, 512 << 10)
ZEN3 = _x86("zen3", "znver3", 256, 16, 512 << 10)
ZEN4 = _x86("zen4", "znver4", 512, 32, 1 << 20)
ZEN5 = _x86("zen5", "znver5", 512, 32, 1 << 20, l1=48 << 10)
NEON = _arm("neon")
NEON_DOTPROD = _arm("neon_dotprod")
NEON_I8MM = _arm("neon_i8mm")
SVE = _arm("sve", bits=256)
SME = _arm("sme")
NEOVERSE_N1 = _arm("neoverse_n1", cpu="neoverse-n1", l2=1 << 20)
# four units of 128 bits, or two of 256 by SVE, whose products lack the forms by element: copies cost half of the rate
NEOVERSE_V1 = _arm("neoverse_v1", cpu="neoverse-v1", l2=1 << 20)
NEOVERSE_N2 = _arm("neoverse_n2", cpu="neoverse-n2", l2=1 << 20)
NEOVERSE_V2 = _arm("neoverse_v2", cpu="neoverse-v2", l2=2 << 20)
APPLE_M1 = Target(
    128, 32, l1=128 << 10, l2=12 << 20, arch="aarch64", features=frozenset(PREDEFINED["apple_m1"][1]),
    triple="arm64-apple-macosx14.0", cpu="apple-m1",
)  # fmt: skip
RVV = _riscv("rvv", 256)
RVV_128 = _riscv("rvv_128", 128)
SPACEMIT_X60 = _riscv("spacemit_x60", 256, "spacemit-x60")
WASM_SIMD = Target(
    128, 16, arch="wasm32", features=frozenset(PREDEFINED["wasm_simd"][1]), triple="wasm32-unknown-unknown",
    cpu="generic",
)  # fmt: skip

NAMES = {name.lower(): value for name, value in list(globals().items()) if type(value) is Target}
_REGISTERED: dict[str, AnyTarget] = {}


def register(name: str, target: AnyTarget) -> None:
    """Give a target a name, by which `build(..., target=name)` takes it."""
    _REGISTERED[plain_name(name)] = target


def named(name: str) -> AnyTarget:
    """The target of a name: `named("zen4")` is ZEN4, `named("nvidia/tesla-p100")` is CUDA("sm_60"). Upper and lower
    case, `-` and `_` are the same. Raises BuildError with the nearest name."""
    plain = plain_name(name) if isinstance(name, str) else ""
    if (known := NAMES.get(plain) or _REGISTERED.get(plain)) is not None:
        return known
    if isinstance(name, str) and (gpu := gpu_named(name)) is not None:
        return gpu
    if isinstance(name, str) and name.lower().startswith(("nvidia/", "sm_", "cuda")):
        near = difflib.get_close_matches(name.lower(), NAMES_OF_GPUS, 3)
        hint = f" (near: {', '.join(map(repr, near))})" if near else ""
        raise BuildError(f'unknown GPU {short_repr(name)}{hint}; fix: its compute capability, CUDA("sm_80")')
    near = difflib.get_close_matches(plain, [*NAMES, *_REGISTERED], 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    choices = f"'llvm', {', '.join(map(repr, NAMES))}, 'cuda', 'opencl', 'gfx942', 'nvidia/nvidia-a100' and others"
    raise BuildError(f"unknown target {short_repr(name)}{hint}; known: {choices}")
