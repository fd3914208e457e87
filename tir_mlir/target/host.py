"""The CPU of this machine, as seen by kernel builders and schedules."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.target import mac


@dataclass(frozen=True)
class Host:
    """The width and number of vector registers."""

    vector_bits: int
    registers: int


def cpu_features() -> str:
    """The CPU's feature line from the system; without one, the machine's name and what is known of it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return " ".join([platform.processor() or platform.machine(), *sorted(mac.features() if _is_mac() else ())])
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.machine())


def library_file(name: str) -> str:
    """The file of a shared library on this system: `LLVM` -> `libLLVM.so`, on macOS `libLLVM.dylib`."""
    return f"lib{name}{'.dylib' if sys.platform == 'darwin' else '.so'}"


_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
_LLVM_WORDS = {
    "avx512_vnni": "avx512vnni", "avx512_bf16": "avx512bf16", "avx512_fp16": "avx512fp16",
    "avx512_vbmi2": "avx512vbmi2", "avx512_bitalg": "avx512bitalg", "avx512_vpopcntdq": "avx512vpopcntdq",
    "avx512_vp2intersect": "avx512vp2intersect", "avx_vnni": "avxvnni", "avx_vnni_int8": "avxvnniint8",
    "avx_vnni_int16": "avxvnniint16", "avx_ifma": "avxifma", "avx_ne_convert": "avxneconvert",
    "amx_tile": "amx-tile", "amx_int8": "amx-int8", "amx_bf16": "amx-bf16", "amx_fp16": "amx-fp16",
    "amx_complex": "amx-complex", "pni": "sse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2", "abm": "lzcnt",
    "asimd": "neon", "asimddp": "dotprod", "asimdhp": "fullfp16",
}  # fmt: skip
"""Instruction sets with different names in Linux and LLVM."""


def llvm_word(feature: str) -> str:
    """LLVM's name of an instruction set that Linux may call otherwise: `avx512_vnni` -> `avx512vnni`."""
    return _LLVM_WORDS.get(feature, feature)


def architecture() -> str:
    """LLVM's name of the architecture."""
    name = platform.machine().lower()
    return _ARCHITECTURES.get(name, name)


def _is_mac() -> bool:
    return sys.platform == "darwin" and architecture() == "aarch64"


@functools.cache
def features() -> frozenset[str]:
    """The instruction sets of this machine, by LLVM's names; AMX only where the system supports it."""
    if _is_mac():
        return mac.features()
    names = frozenset(map(llvm_word, cpu_features().split(":")[-1].split()))
    if "amx-tile" in names and not has_tiles():
        return frozenset(word for word in names if not word.startswith("amx-"))
    return names


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def host() -> Host:
    """The vector registers of this machine. Too wide a guess is only slower: LLVM splits vectors that do not fit."""
    if architecture() == "x86_64":
        if "avx512f" in features():
            return Host(512, 32)
        return Host(256 if "avx2" in features() else 128, 16)
    return Host(128, 32)


# --- whether the system supports the tile registers of AMX, which the CPU alone does not say --------------------------


_ARCH_PRCTL, _GET_SUPPORTED, _TILE_DATA = 158, 0x1021, 18


@functools.cache
def has_tiles() -> bool:
    """Whether Linux would let a process use tile registers. Nothing is asked for."""
    if not sys.platform.startswith("linux"):
        return False
    supported = ctypes.c_uint64()
    syscall = ctypes.CDLL(None).syscall
    syscall.restype, syscall.argtypes = ctypes.c_long, (ctypes.c_long, ctypes.c_long, ctypes.c_void_p)
    answered = syscall(_ARCH_PRCTL, _GET_SUPPORTED, ctypes.addressof(supported)) == 0
    return answered and bool(supported.value >> _TILE_DATA & 1)
