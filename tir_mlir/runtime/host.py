"""What the builders of kernels must know of the CPU they run on."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Host:
    """Width of a vector register and how many there are."""

    vector_bits: int
    registers: int


def cpu_features() -> str:
    """The CPU's feature line as the system tells it; where it tells none, the machine's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.machine())


@functools.cache
def host() -> Host:
    """This machine. A guess that is too wide is slower, never wrong: LLVM splits vectors that do not fit."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        words = set(cpu_features().split())
        if "avx512f" in words:
            return Host(512, 32)
        return Host(256 if "avx2" in words else 128, 16)
    return Host(128, 32)
