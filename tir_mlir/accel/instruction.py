"""An instruction of a machine: its operands, what it computes, and what issues it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tir_mlir.accel.operands import Assumption, ExecutionUnit, Field, MemorySpace, Number, Stride, Tile, TokenQueue
from tir_mlir.dialect.computation import TensorIntrin

Cycles = Callable[..., int]
Operand = Tile | Number


@dataclass(frozen=True, eq=False)
class MachineInstruction:
    """An instruction: its operands, what it computes, and what issues it."""

    machine: str
    name: str
    unit: ExecutionUnit
    operands: tuple[Operand, ...]
    calls: tuple[str, ...]
    cycles: int | Cycles | None
    latency: int
    sets: tuple[Field, ...]
    """The fields that its numbers of the same name become."""
    needs: Mapping[Field, Stride | Number | int]
    """The fields that it depends on, and what each has to be."""
    intrinsic: TensorIntrin | None
    """What it computes; None for one that sets registers, or orders others, only."""
    waits: tuple[ExecutionUnit, ...] = ()
    """The units for whose instructions it waits, but for the last ones: as many as its number `left` says."""
    tokens: TokenQueue | None = None
    """The queue into which it puts a token, if its unit is the producer, or from which it takes one."""
    assumptions: tuple[Assumption, ...] = ()
    """What has to hold of its strides."""
    clears: tuple[MemorySpace, ...] = ()
    """The memories whose contents it loses."""

    @property
    def intrinsic_name(self) -> str:
        """Its name for `tensorize`."""
        return f"{self.machine}.{self.name}"

    @property
    def kernel(self) -> str:
        """The function that a program calls for it."""
        return f"{self.machine}_{self.name}"

    @property
    def tiles(self) -> list[Tile]:
        return [o for o in self.operands if isinstance(o, Tile)]

    @property
    def numbers(self) -> list[Number]:
        return [o for o in self.operands if isinstance(o, Number)]

    @property
    def puts_token(self) -> bool:
        """Whether it puts a token into its queue; else it takes one."""
        return self.tokens is not None and self.unit == self.tokens.producer

    def duration(self, numbers: Mapping[str, int | float]) -> int:
        """The cycles for which it occupies its unit."""
        return self.cycles(**numbers) if callable(self.cycles) else self.cycles or 0

    def __repr__(self) -> str:
        return f"{self.intrinsic_name}({', '.join(o.name for o in self.operands)})"
