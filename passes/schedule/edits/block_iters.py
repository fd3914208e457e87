"""Replace the iters of a block, which keeps its id, annotations and declared regions; change domains and extents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import Region, declare, get_declared_regions
from tir_mlir.dialect.ir import (
    Block,
    Constraint,
    Index,
    IterSpec,
    Loop,
    attrs,
    create,
    edit,
    fold_known,
    is_block,
    ops,
    symbol_name,
)
from tir_mlir.dialect.presburger import intervals

IterMapping = Callable[[Sequence[Index]], Mapping[ir.Value, Index]]
"""Maps the new iters to the values of the old ones."""


def replace_iters(block: Block, specs: Sequence[IterSpec], old: IterMapping) -> Block:
    """Replace `block` by one with the iters `specs`. Its init runs at the start of the new reduce iters."""
    declared_regions = {
        key: get_declared_regions(block, key, []) for key in (attrs.READS, attrs.WRITES) if key in block.op.attributes
    }
    below = NestedRegions.from_op(block.op)
    with ir.InsertionPoint(block.op), block.op.location:
        new = create.block(block.name, specs)
    for key in block.op.attributes:
        if key not in new.op.attributes and key.startswith("tir."):
            edit.set_attribute(new.op, key, block.op.attributes[key])
    edit.set_attribute(new.op, attrs.ID, block.op.attributes[attrs.ID])
    mapping = old([Index.from_value(i.var) for i in new.iters])
    init = block.init
    if init is not None:
        starts = [Constraint(Index.from_value(i.var) - i.min, is_eq=True) for i in new.iters if i.kind == "R"]
        edit.rebuild_guard(init, starts or [Constraint(Index.constant(0), is_eq=True)])
    edit.move_body(block.body, new.body)
    edit.substitute(mapping)
    edit.erase(block.op)
    result = Block(new.op)
    for key, regions in declared_regions.items():
        declare(result, key, [r.substitute(mapping) for r in regions])
    below.redeclare(mapping)
    fold_known(result.op)
    return result


@dataclass(frozen=True)
class NestedRegions:
    """The declared regions of all blocks nested in an op."""

    regions: list[tuple[Block, str, list[Region]]]

    @classmethod
    def from_op(cls, root: ir.Operation) -> NestedRegions:
        blocks = [Block(op) for op in ops(root)[1:] if is_block(op)]
        keys = (attrs.READS, attrs.WRITES)
        return cls([(b, k, get_declared_regions(b, k, [])) for b in blocks for k in keys if k in b.op.attributes])

    def redeclare(self, mapping: Mapping[ir.Value, Index]) -> None:
        """Declare the regions again, with old iters replaced by `mapping`."""
        for block, key, regions in self.regions:
            declare(block, key, [r.substitute(mapping) for r in regions])


def set_domain(block: Block, mins: Sequence[Index], extents: Sequence[Index]) -> None:
    """Set the domains of the iters of a block. Existing `Block` views are stale afterwards."""
    values = list(dict.fromkeys(v for part in [*mins, *extents] for v in part.values))
    for key, parts in ((attrs.MIN, mins), (attrs.EXTENT, extents)):
        map_ = ir.AffineMap.get(0, len(values), [create.over_symbols(p, values) for p in parts])
        edit.set_attribute(block.op, key, ir.AffineMapAttr.get(map_))
    edit.set_attribute(block.op, attrs.SYMS, attrs.to_attr([symbol_name(v) for v in values]))


def shrink_domains(block: Block) -> None:
    """Shrink the spatial iters of a block that need not cover its domain to the values that its loops reach."""
    box, mins, extents = intervals.enclosing_ranges(block.op), [], []
    for it in block.iters:
        low, high = intervals.interval(it.binding, box)
        start, extent = it.min.as_constant(), it.extent.as_constant()
        if it.kind == "S" and low is not None and high is not None and start is not None and extent is not None:
            first, last = max(low, start), min(high, start + extent - 1)
            mins.append(Index.constant(first))
            extents.append(Index.constant(last - first + 1))
        else:
            mins.append(it.min)
            extents.append(it.extent)
    set_domain(block, mins, extents)


def set_extent(loop: Loop, extent: Index) -> None:
    """Set the extent of a loop that starts at 0. The op is replaced by one with the same id."""
    old = loop.upper
    edit.rewrite_indices(loop.op, lambda bound: extent if bound == old else bound)
