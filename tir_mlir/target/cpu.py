"""A target CPU: what schedules and code generation know of it."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tir_mlir.target.any_target import AnyTarget, Memory
from tir_mlir.target.host import machine_architecture, runnable_features

_SYSTEMS = {"linux": "-linux-", "darwin": "-apple-"}
"""The systems that this package runs on, and what the triples of their code contain."""
_SYSTEM = re.compile("linux|apple|darwin|windows|bsd|android|wasi|fuchsia|solaris|aix|zos|haiku")
"""Of a triple of a CPU with an operating system."""
_CODE_FEATURES = re.compile(r"avx|amx|fma$|f16c|sse4|neon|dotprod|i8mm|bf16|fullfp16|sve|sme(?!p)|v$|zv|simd|relaxed")
"""Instruction sets that decide which code is fast; a kernel or a system reports many that do not."""


@dataclass(frozen=True)
class Target(AnyTarget):
    """A CPU: its vector registers (width in bits, number), bytes of cache per core at each level, and cores.

    `arch` and `features` (instruction sets) use LLVM's names and select instructions; without them schedules use only
    instructions that every CPU has. `triple` and `cpu` are the code generation target (`build(sch, target=...)`); "":
    this machine. With registers of variable length (SVE, RISC-V's vectors), `vector_bits` is the least length that
    the code runs on.
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

    kind = "cpu"
    noun = "CPU"
    is_cpu = True
    is_tuned = True

    def as_cpu(self) -> Target:
        return self

    @property
    def chip(self) -> str:
        return self.cpu or self.arch

    @property
    def memories(self) -> Mapping[str, Memory]:
        return {"global": Memory(0, 64, "program")}

    def as_json(self) -> dict[str, object]:
        return {**dataclasses.asdict(self), "features": sorted(self.features)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Target:
        """What `as_json` returned, read from JSON. Raises KeyError, TypeError if it is something else."""
        values: dict[str, Any] = {**fields, "features": frozenset(fields["features"])}
        return cls(**values)

    def record_key(self, threads: int | None = None) -> str:
        """Architecture, vector registers, threads, and the instruction sets that matter; caches are left out: they
        differ between machines that run the same code.

            host()  ->  "x86_64 512x32 threads=2 avx avx2 avx512bw ... fma"
        """
        return _record_key(self, threads)

    def lanes(self, bits: int) -> int:
        """The number of elements of this width in a vector register."""
        return max(1, self.vector_bits // bits)

    @property
    def runs_here(self) -> bool:
        return not self.triple or self.hindrance is None

    @property
    def hindrance(self) -> str | None:
        """Why this machine does not run code for the target: `it lacks amx-tile`; None if it does."""
        if self.arch != machine_architecture() or _SYSTEMS.get(sys.platform, " ") not in self.triple:
            return f"it is {machine_architecture()}, {sys.platform}"
        if lacking := sorted(self.features - runnable_features()):
            return f"it lacks {', '.join(lacking)}"
        if self.is_scalable and scalable_bits() < self.vector_bits:
            return f"its vector registers have {scalable_bits()} bits, not {self.vector_bits}"
        return None

    @property
    def has_threads(self) -> bool:
        """Whether parallel loops run in threads; else they are serial."""
        return self.arch != "wasm32" and not self.is_bare

    @property
    def is_bare(self) -> bool:
        """Whether it runs code without an operating system: no heap, no threads, and no memory of a thread."""
        return bool(self.triple) and self.arch != "wasm32" and not _SYSTEM.search(self.triple)

    @property
    def is_scalable(self) -> bool:
        """Whether the length of the vector registers differs between CPUs of this kind."""
        return bool(self.features & {"sve", "v"})

    @property
    def llvm_features(self) -> str:
        """The instruction sets for LLVM: `+avx2,+fma`."""
        words = {*self.features, *([f"zvl{self.vector_bits}b"] if "v" in self.features else [])}
        return ",".join(f"+{name}" for name in sorted(words))

    @property
    def vscale(self) -> tuple[int, int] | None:
        """The range of LLVM's `vscale`, the length of a scalable register in granules; None if they are not scalable.

        The most is what the architecture allows: longer registers than `vector_bits` run the code, too.
        """
        if not self.is_scalable:
            return None
        return (self.vector_bits // 128, 16) if "sve" in self.features else (self.vector_bits // 64, 1024)

    @property
    def given(self) -> frozenset[str]:
        """What kernels may need: the instruction sets and, if registers are scalable, the lengths that they have at
        least: `vl256b`."""
        lengths = [n for n in (128, 256, 512, 1024, 2048) if self.is_scalable and n <= self.vector_bits]
        return self.features | {f"vl{n}b" for n in lengths}

    def has(self, *features: str) -> bool:
        """Whether the CPU has all of these instruction sets."""
        return self.given.issuperset(features)


@functools.lru_cache(maxsize=64)
def _record_key(target: Target, threads: int | None) -> str:
    words = sorted(f for f in target.features if _CODE_FEATURES.match(f))
    vectors = f"{target.vector_bits}x{target.registers}"
    return " ".join([target.arch or "any", vectors, f"threads={threads or target.cores}", *words])


# --- the length of this machine's scalable vector registers (SVE), as its system reports it ---------------------------


_PR_SVE_GET_VL = 51
_LENGTH = 0xFFFF  # the other bits of the answer are flags


@functools.cache
def scalable_bits() -> int:
    """The length in bits; 0 without such registers."""
    if machine_architecture() != "aarch64":
        return 0
    answer = _ask_system()
    return 8 * (answer & _LENGTH) if answer > 0 else 0


def _ask_system() -> int:
    try:
        return ctypes.CDLL(None).prctl(_PR_SVE_GET_VL, 0, 0, 0, 0)
    except (OSError, AttributeError):
        return 0
