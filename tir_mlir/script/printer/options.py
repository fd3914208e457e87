"""What a caller may choose about the printed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """`anonymous` prints every name as `v`: what is left is the structure.

    `symbols=False` leaves out whether, and under which name, a function is seen from outside.
    """

    syntax_sugar: bool = True
    spelling: str = "block"
    anonymous: bool = False
    symbols: bool = True
    mark: Mapping[int, str] = field(default_factory=dict)

    @property
    def block(self) -> str:
        return f"T.{self.spelling}"

    @property
    def block_attr(self) -> str:
        return f"T.{self.spelling}_attr"

    @property
    def alloc_buffer(self) -> str:
        return "T.sblock_alloc_buffer" if self.spelling == "sblock" else "T.alloc_buffer"

    @property
    def namespace(self) -> str:
        """The module that `T` stands for."""
        return "tirx" if self.spelling == "sblock" else "tir"
