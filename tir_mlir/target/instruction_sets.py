"""The instruction sets of the predefined CPUs, by LLVM's names, and those that Linux calls otherwise."""

from __future__ import annotations

_V3 = ("sse2", "avx", "avx2", "fma", "f16c")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512dq", "avx512vl")
# what LLVM may use for these CPUs by their names: a machine must have all of it
_ICELAKE = (
    *_V4, "avx512cd", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "gfni",
    "avx512vnni",
)  # fmt: skip
_NEWER = (*_ICELAKE, "avx512bf16")
_AMX = ("amx-tile", "amx-int8", "amx-bf16")
_I8MM = ("neon", "dotprod", "i8mm", "bf16")

PREDEFINED: dict[str, tuple[str, tuple[str, ...]]] = {
    "sse2": ("x86_64", ("sse2",)),
    "avx2": ("x86_64", _V3),
    "avx512": ("x86_64", _V4),
    "avx512_vnni": ("x86_64", (*_V4, "avx512vnni")),
    "avx512_bf16": ("x86_64", (*_V4, "avx512vnni", "avx512bf16")),
    "haswell": ("x86_64", _V3),
    "skylake_avx512": ("x86_64", (*_V4, "avx512cd")),
    "icelake": ("x86_64", _ICELAKE),
    "alder_lake": ("x86_64", (*_V3, "avxvnni", "gfni")),
    "sapphire_rapids": ("x86_64", (*_NEWER, "avx512fp16", *_AMX)),
    "sapphire_rapids_no_amx": ("x86_64", (*_NEWER, "avx512fp16")),
    "zen1": ("x86_64", (*_V3, "sse4a")),
    "zen2": ("x86_64", (*_V3, "sse4a")),
    "zen3": ("x86_64", (*_V3, "sse4a")),
    "zen4": ("x86_64", (*_NEWER, "sse4a")),
    "zen5": ("x86_64", (*_NEWER, "sse4a", "avxvnni", "avx512vp2intersect")),
    "neon": ("aarch64", ("neon",)),
    "neon_dotprod": ("aarch64", ("neon", "dotprod")),
    "neon_i8mm": ("aarch64", _I8MM),
    "sve": ("aarch64", ("neon", "sve")),
    "sme": ("aarch64", (*_I8MM, "sme")),
    "neoverse_n1": ("aarch64", ("neon", "dotprod", "fullfp16")),
    "neoverse_v1": ("aarch64", (*_I8MM, "fullfp16", "sve")),
    "neoverse_n2": ("aarch64", (*_I8MM, "fullfp16", "sve", "sve2")),
    "neoverse_v2": ("aarch64", (*_I8MM, "fullfp16", "sve", "sve2")),
    "apple_m1": ("aarch64", ("neon", "dotprod", "fullfp16")),
    "rvv": ("riscv64", tuple("mafdcv")),
    "rvv_128": ("riscv64", tuple("mafdcv")),
    "spacemit_x60": ("riscv64", tuple("mafdcv")),
    "wasm_simd": ("wasm32", ("simd128", "bulk-memory", "nontrapping-fptoint", "sign-ext")),
}
"""The architecture of each predefined CPU, and the instruction sets that its code may use."""

AVOIDED: dict[str, dict[str, str]] = {"znver4": {"gfni": "llvm.x86.vgf2p8"}}
"""By LLVM's name of a CPU, the instruction sets that it generates slower code with, and how the intrinsics begin that
need them: a program that calls one has them. Zen 4: LLVM shifts bytes by an
affine product, which has the units of dot products and multiply-adds to itself; shifts of words have others (measured:
8 `vpdpbusd` take 8 cycles, with 4 affine products 12, with 4 shifts and masks 8)."""

_LLVM_WORDS = {
    "avx512_vnni": "avx512vnni", "avx512_bf16": "avx512bf16", "avx512_fp16": "avx512fp16",
    "avx512_vbmi2": "avx512vbmi2", "avx512_bitalg": "avx512bitalg", "avx512_vpopcntdq": "avx512vpopcntdq",
    "avx512_vp2intersect": "avx512vp2intersect", "avx_vnni": "avxvnni", "avx_vnni_int8": "avxvnniint8",
    "avx_vnni_int16": "avxvnniint16", "avx_ifma": "avxifma", "avx_ne_convert": "avxneconvert",
    "amx_tile": "amx-tile", "amx_int8": "amx-int8", "amx_bf16": "amx-bf16", "amx_fp16": "amx-fp16",
    "amx_complex": "amx-complex", "pni": "sse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2", "abm": "lzcnt",
    "asimd": "neon", "asimddp": "dotprod", "asimdhp": "fullfp16",
}  # fmt: skip


def plain_name(name: str) -> str:
    """A name as the tables spell it: `Zen4` -> `zen4`, `NEON-I8MM` -> `neon_i8mm`."""
    return name.lower().replace("-", "_")


def llvm_word(feature: str) -> str:
    """LLVM's name of an instruction set that Linux may call otherwise: `avx512_vnni` -> `avx512vnni`."""
    return _LLVM_WORDS.get(feature, feature)
