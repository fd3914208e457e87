"""What schedules must know of the CPU they are made for."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.runtime.host import host as registers_of_host

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Target:
    """A CPU: its vector registers (width in bits, number), bytes of cache a core can use at each level, and cores."""

    vector_bits: int
    registers: int
    l1: int = 32 << 10
    l2: int = 512 << 10
    l3: int = 8 << 20
    cores: int = 1

    def lanes(self, bits: int) -> int:
        """Elements of so many bits in a register."""
        return max(1, self.vector_bits // bits)


@functools.cache
def host() -> Target:
    """This machine, as the system describes it; usual sizes where it says nothing."""
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
    )


def _cache_sizes() -> list[tuple[str, int]]:
    """Level and bytes of each data cache."""
    found = []
    for folder in sorted(_CACHES.glob("index*")):
        try:
            kind, level, size = ((folder / n).read_text().strip() for n in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size[:-1].isdigit():
            found.append((level, int(size[:-1]) << {"K": 10, "M": 20}.get(size[-1], 0)))
    return found
