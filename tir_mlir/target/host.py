"""The CPU of this machine, as seen by kernel builders and schedules: itself, or the one that TIR_HOST names."""

from __future__ import annotations

import ctypes
import difflib
import functools
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError, short_repr, variables
from tir_mlir.target import mac
from tir_mlir.target.instruction_sets import PREDEFINED, llvm_word, plain_name


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


@functools.cache
def assumed_cpu_name() -> str | None:
    """The name of the predefined CPU that TIR_HOST says this machine's CPU is; None without. Raises BuildError for
    another name."""
    text = variables.text("TIR_HOST")
    if not text:
        return None
    if (name := plain_name(text)) in PREDEFINED:
        return name
    near = difflib.get_close_matches(name, PREDEFINED, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    known = ", ".join(PREDEFINED)
    raise BuildError(
        f"the environment variable TIR_HOST names an unknown CPU, {short_repr(text)}{hint}; known: {known}"
    )


def architecture() -> str:
    """LLVM's name of the architecture of the host: this machine's, or that of TIR_HOST."""
    return PREDEFINED[name][0] if (name := assumed_cpu_name()) else machine_architecture()


@functools.cache
def features() -> frozenset[str]:
    """The instruction sets that code for the host may use, by LLVM's names: this machine's, or those of TIR_HOST."""
    return frozenset(PREDEFINED[name][1]) if (name := assumed_cpu_name()) else machine_features()


def runnable_features() -> frozenset[str]:
    """The instruction sets of the host that this machine has: all of them, unless TIR_HOST names another CPU."""
    return features() & machine_features()


def machine_architecture() -> str:
    """LLVM's name of the architecture of this machine."""
    name = platform.machine().lower()
    return _ARCHITECTURES.get(name, name)


@functools.cache
def machine_features() -> frozenset[str]:
    """The instruction sets of this machine, by LLVM's names; AMX only where the system supports it."""
    if _is_mac():
        return mac.features()
    names = frozenset(map(llvm_word, cpu_features().split(":")[-1].split()))
    if "amx-tile" in names and not has_tiles():
        return frozenset(word for word in names if not word.startswith("amx-"))
    return names


def _is_mac() -> bool:
    return sys.platform == "darwin" and machine_architecture() == "aarch64"


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def host() -> Host:
    """The vector registers of the host. Too wide a guess is only slower: LLVM splits vectors that do not fit."""
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
