"""Change the domain of iters and the extent of loops in place."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Block, Index, Loop, attrs, create, edit, symbol_name
from tir_mlir.dialect.presburger import intervals


def set_domain(block: Block, mins: Sequence[Index], extents: Sequence[Index]) -> None:
    """Set the domains of the iters of a block. Existing `Block` views are stale afterwards."""
    values = list(dict.fromkeys(v for part in [*mins, *extents] for v in part.values))
    for key, parts in ((attrs.MIN, mins), (attrs.EXTENT, extents)):
        map_ = ir.AffineMap.get(0, len(values), [create.over_symbols(p, values) for p in parts])
        edit.set_attribute(block.op, key, ir.AffineMapAttr.get(map_))
    edit.set_attribute(block.op, attrs.SYMS, attrs.to_attr([symbol_name(v) for v in values]))


def shrink_domains(block: Block) -> None:
    """Shrink the spatial iters of a block that need not cover its domain to the values that its loops reach."""
    box, mins, extents = intervals.around(block.op), [], []
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
