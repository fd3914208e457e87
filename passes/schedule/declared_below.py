"""What blocks beneath a block declare to read and write: maps of the iters around them, which a step may replace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect import attrs
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.regions import Region, declare, declared
from tir_mlir.dialect.views import Block, is_block
from tir_mlir.dialect.walk import ops


@dataclass(frozen=True)
class DeclaredBelow:
    """The declared regions of the blocks beneath an op, as expressions."""

    regions: list[tuple[Block, str, list[Region]]]

    @classmethod
    def of(cls, root: ir.Operation) -> DeclaredBelow:
        blocks = [Block(op) for op in ops(root)[1:] if is_block(op)]
        keys = (attrs.READS, attrs.WRITES)
        return cls([(b, k, declared(b, k, [])) for b in blocks for k in keys if k in b.op.attributes])

    def keep(self, mapping: Mapping[ir.Value, Index]) -> None:
        """Declare them again over the iters that are around now; the old ones are expressions of these."""
        for block, key, found in self.regions:
            declare(block, key, [r.over(mapping) for r in found])
