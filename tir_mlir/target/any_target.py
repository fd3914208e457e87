"""What every target, of a CPU or of another kind, answers to schedules, the tuner and `build`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from tir_mlir.dialect.diagnostics import BuildError

if TYPE_CHECKING:
    from tir_mlir.target.cpu import Target
    from tir_mlir.target.gpu import CUDA, GPU


@dataclass(frozen=True)
class Memory:
    """A memory of a target, in which buffers of a scope are."""

    size: int
    """Bytes; 0: what a machine has."""
    alignment: int
    """Bytes to which a buffer in it is aligned."""
    seen_by: str
    """Who shares it: "program", "block", "warp" or "thread"."""
    declared: int = 0
    """Bytes that a kernel can declare, where a launch has to ask for more; 0: all."""


class AnyTarget:
    """A target of any kind. `kind` says how programs are compiled for it: the name of its back end in
    `tir_mlir.targets`. The rest are questions, with the answers of a target that nothing else is known of."""

    kind: str = ""
    noun: str = "target of this kind"
    """What it is called where something is not for it."""
    is_cpu: bool = False
    """Whether it has what the schedules of `tir_mlir.schedules` ask: vector registers, caches, cores."""
    is_tuned: bool = False
    """Whether records of a `tune.Database` may be of it."""

    @property
    def chip(self) -> str:
        """Its name in messages."""
        return self.kind

    @property
    def hindrance(self) -> str | None:
        """Why this machine does not run code for the target; None if it does."""
        return None

    @property
    def runs_here(self) -> bool:
        """Whether code for this target runs on this machine."""
        return self.hindrance is None

    @property
    def memories(self) -> Mapping[str, Memory]:
        """The memory of each scope of a buffer."""
        return {}

    def has(self, *features: str) -> bool:
        """Whether it has all of these instruction sets, which tensor intrinsics need."""
        return not features

    def as_cpu(self) -> Target:
        """The CPU that the target is. Raises BuildError for others."""
        self._refuse()

    def as_gpu(self) -> GPU | None:
        """The GPU that the target is; None for others."""
        return None

    @property
    def nvidia(self) -> CUDA | None:
        """The NVIDIA GPU that it is, or stands in for; None for others."""
        return None

    def as_json(self) -> str | dict[str, object]:
        """The target as a value of JSON."""
        return self.chip

    def record_key(self, threads: int | None = None) -> str:
        """What times depend on, as records name it; threads: default all. Raises BuildError where none are taken."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise BuildError(f"{self.chip} is not a CPU, and this is for CPUs")
