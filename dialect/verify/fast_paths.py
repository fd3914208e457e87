"""Cached fast-path checks on attributes and intervals. `True` is definitive; `False` means unknown.

Attributes are uniqued, so checking a block that a step left unchanged is a dictionary lookup.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.ir import ENTRIES, attrs, is_symbol, over_dims
from tir_mlir.dialect.ir.op_traits import ALLOCS, index_operands
from tir_mlir.dialect.presburger import ValueRanges, intervals
from tir_mlir.dialect.presburger.intervals import Range, constant_of

_SHAPE = (attrs.ITERS, attrs.NAMES, attrs.MIN, attrs.EXTENT, attrs.SYMS, "lowerBoundsMap", "upperBoundsMap")


def shape_key(op: ir.Operation) -> Hashable | None:
    """The key of `block_shape`; None if the block's lower and upper bounds have different operands."""
    operands = list(op.operands)
    half = len(operands) // 2
    if operands[:half] != operands[half:]:
        return None
    attributes = op.attributes
    return (*(attributes[k] if k in attributes else None for k in _SHAPE), len(op.regions[0].blocks[0].arguments))


def bindings_inside(op: ir.Operation, box: ValueRanges) -> bool:
    """Whether intervals show that every binding of a block lies in its iter's constant domain."""
    low = attrs.affine_map(op, "lowerBoundsMap")
    ranges = _known(list(op.operands)[: low.n_inputs], box)
    return _bindings_inside(low, ranges, attrs.affine_map(op, attrs.MIN), attrs.affine_map(op, attrs.EXTENT))


@lru_cache(maxsize=ENTRIES)
def _bindings_inside(low: ir.AffineMap, ranges: tuple[Range, ...], mins: ir.AffineMap, extents: ir.AffineMap) -> bool:
    if mins.n_symbols:
        return False
    domains = zip(over_dims(low), over_dims(mins), over_dims(extents), strict=False)  # a dummy argument has no domain
    for binding, start, extent in domains:
        first, count = constant_of(start), constant_of(extent)
        least, most = intervals.of_expr(binding, ranges)
        if first is None or count is None or least is None or most is None:
            return False
        if least < first or most >= first + count:
            return False
    return True


def reduces_upwards(op: ir.Operation) -> bool:
    """Whether the bindings of a block's reduce iters show that its init comes first: they only grow."""
    return _reduces_upwards(attrs.affine_map(op, "lowerBoundsMap"), op.attributes[attrs.ITERS])


@lru_cache(maxsize=ENTRIES)
def _reduces_upwards(low: ir.AffineMap, kinds: ir.Attribute) -> bool:
    bindings = zip(over_dims(low), attrs.from_attr(kinds), strict=False)  # a dummy argument has no kind
    return all(intervals.only_positive(binding) for binding, kind in bindings if kind == "R")


def access_inside(op: ir.Operation, memref: ir.Value, box: ValueRanges) -> bool:
    """Whether intervals show that an affine load or store stays inside its buffer of constant shape."""
    owner = memref.owner
    if not isinstance(owner, ir.Block) and owner.name not in ALLOCS:
        return False
    ranges = _known(index_operands(op), box)
    return _access_inside(attrs.affine_map(op, "map"), ranges, tuple(ir.MemRefType(memref.type).shape))


@lru_cache(maxsize=ENTRIES)
def _access_inside(map_: ir.AffineMap, ranges: tuple[Range, ...], shape: tuple[int, ...]) -> bool:
    for expr, size in zip(over_dims(map_), shape, strict=True):
        least, most = intervals.of_expr(expr, ranges)
        if least is None or most is None or least < 0 or most >= size:
            return False
    return True


def _known(values: list[ir.Value], box: ValueRanges) -> tuple[Range, ...]:
    return tuple([box.get(v) or ((0, None) if is_symbol(v) else (None, None)) for v in values])
