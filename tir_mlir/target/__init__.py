"""Target CPUs, as seen by schedules and code generation."""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.target.host import architecture
from tir_mlir.target.host import features as features_of_host
from tir_mlir.target.host import host as registers_of_host

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Target:
    """A CPU: its vector registers (width in bits, number), bytes of cache per core at each level, and cores.

    `arch` and `features` (instruction sets) use LLVM's names and select instructions; without them schedules use only
    instructions that every CPU has. `triple` and `cpu` are the code generation target (`build(sch, target=...)`); "":
    this machine.
    """

    vector_bits: int
    registers: int
    l1: int = 32 << 10
    l2: int = 512 << 10
    l3: int = 8 << 20
    cores: int = 1
    arch: str = ""
    features: frozenset[str] = frozenset()
    triple: str = ""
    cpu: str = ""

    def lanes(self, bits: int) -> int:
        """The number of elements of this width in a vector register."""
        return max(1, self.vector_bits // bits)

    @property
    def runs_here(self) -> bool:
        """Whether code for this target runs on this machine."""
        here = self.arch == architecture() and self.features <= features_of_host()
        return not self.triple or (here and "linux" in self.triple and sys.platform.startswith("linux"))

    def has(self, *features: str) -> bool:
        """Whether the CPU has all of these instruction sets."""
        return self.features.issuperset(features)


def _x86(cpu: str, bits: int, registers: int, l2: int, *features: str) -> Target:
    return Target(
        bits, registers, l2=l2, arch="x86_64", features=frozenset(features), triple="x86_64-unknown-linux-gnu", cpu=cpu
    )


def _arm(*features: str) -> Target:
    return Target(
        128, 32, l1=64 << 10, arch="aarch64", features=frozenset(features), triple="aarch64-unknown-linux-gnu",
        cpu="generic",
    )  # fmt: skip


_V3 = ("sse2", "avx", "avx2", "fma", "f16c")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512dq", "avx512vl")

SSE2 = _x86("x86-64", 128, 16, 256 << 10, "sse2")
AVX2 = _x86("x86-64-v3", 256, 16, 256 << 10, *_V3)
AVX512 = _x86("x86-64-v4", 512, 32, 1 << 20, *_V4)
AVX512_VNNI = _x86("x86-64-v4", 512, 32, 1 << 20, *_V4, "avx512vnni")
NEON = _arm("neon")
NEON_DOTPROD = _arm("neon", "dotprod")
"""Predefined CPUs: Linux, one core, typical caches."""


@functools.cache
def host() -> Target:
    """The target of this machine, from system information; typical sizes where that is missing."""
    vectors = registers_of_host()
    sizes = {int(level): size for level, size in _cache_sizes()}
    plain = Target(vectors.vector_bits, vectors.registers)
    return Target(
        vectors.vector_bits,
        vectors.registers,
        sizes.get(1, plain.l1),
        sizes.get(2, plain.l2),
        sizes.get(3, plain.l3),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        architecture(),
        features_of_host(),
    )


def _cache_sizes() -> list[tuple[str, int]]:
    """The level and size in bytes of each data cache."""
    found = []
    for folder in sorted(_CACHES.glob("index*")):
        try:
            kind, level, size = ((folder / n).read_text().strip() for n in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size[:-1].isdigit():
            found.append((level, int(size[:-1]) << {"K": 10, "M": 20}.get(size[-1], 0)))
    return found
