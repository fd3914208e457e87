"""What schedules a block of a kind: one table of rules for each family of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.producers import Member
from tir_mlir.schedules.programs.attention import AttentionBlocks
from tir_mlir.schedules.programs.block_kinds import Kind

HEAVY = frozenset({Kind.PRODUCT, Kind.CONVOLUTION})
"""The kinds of blocks that nothing is fused into but what computes their elements further."""
Attempt = tuple[str, Callable[[], object]]
"""A function of `tir_mlir.schedules` by its name, and the call that schedules a block."""


class Program(Protocol):
    """The blocks of a function, while they are scheduled one after the other, from the last to the first."""

    sch: Schedule
    blocks: dict[str, BlockHandle]
    kinds: dict[str, Kind]

    def attention(self, name: str) -> AttentionBlocks | None:
        """The attention that ends in a block."""
        ...

    def follows_attention(self, name: str) -> bool:
        """Whether a block, which ends no attention, reads the result of one: heads put in another order."""
        ...

    def reductions(self, name: str, fixed: frozenset[str]) -> list[Member]:
        """The reductions along rows among a block and its producers up to those in `fixed`."""
        ...

    def light(self, name: str) -> frozenset[str]:
        """The blocks that are not inlined into this one: those that are not elementwise, or that others read too."""
        ...

    def unfusible_blocks(self, name: str, heavy: frozenset[Kind]) -> frozenset[str]:
        """The blocks that are not fused into this one: those of heavy kinds, those scheduled already, and those that
        others read as well."""
        ...


class Rules(Protocol):
    """The functions of a family of targets."""

    @property
    def attention(self) -> bool:
        """Whether the blocks of an attention are scheduled together."""
        ...

    @property
    def epilogues(self) -> bool:
        """Whether elementwise blocks that alone read a product or a convolution are scheduled with it."""
        ...

    @property
    def kept_kinds(self) -> frozenset[Kind]:
        """The kinds of blocks that remain as they are, with no warning."""
        ...

    def schedule_function(self, sch: Schedule, function: str) -> str | None:
        """Schedule all blocks of a function at once. Returns the name of what did, None if nothing fits."""
        ...

    def attempts(self, program: Program, name: str, epilogue: BlockHandle | None) -> Iterator[Attempt]:
        """The functions that may schedule a block, best first. epilogue: an elementwise block that alone reads it."""
        ...
