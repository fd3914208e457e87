"""Fill the padding of a new layout: by the producer, by a block after it, or as an assumption on an input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import affine, arith

from tir_mlir.dialect.diagnostics import TirError, short_repr
from tir_mlir.dialect.index_maps import IndexMap, Padding
from tir_mlir.dialect.ir import Block, Buffer, Constraint, Index, IterSpec, Loop, convert, create, dtypes
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.dialect.symbolic import Constant
from tir_mlir.passes.schedule.layout.apply_layout import LayoutChange
from tir_mlir.passes.schedule.registry import refuse


@dataclass(frozen=True)
class PaddingValue:
    """The value of the padding as a function of the new indices, and the conditions that hold in the padding."""

    change: LayoutChange
    value: IndexMap
    padding: Padding
    dtype: str

    @property
    def names(self) -> list[str]:
        """Names of the new dimensions, for the loops over them."""
        return self.change.map.result_names()

    def make(self, values: Sequence[Index]) -> ir.Value:
        """Emit the value at the given new indices."""
        type_ = dtypes.to_mlir(self.dtype)
        mapped = self.value.map_indices(values)[0]
        number = mapped.as_constant() if isinstance(mapped, Index) else mapped
        if number is not None:
            if dtypes.is_float(self.dtype):
                return arith.constant(type_, ir.FloatAttr.get(type_, number))
            return arith.constant(type_, ir.IntegerAttr.get(type_, dtypes.as_signed(int(number), self.dtype)))
        integer = arith.index_cast(ir.IntegerType.get_signless(32), create.apply(mapped))
        return convert(integer, self.dtype)

    def chosen(self, values: Sequence[Index], otherwise: Callable[[], ir.Value]) -> ir.Value:
        """Emit the padding value where the new indices lie in the padding, else the value of `otherwise`."""
        pieces, unpadded = self.padding.pieces, self.padding.kept
        if len(pieces) == 1:
            return _emit_choice(
                self.change.conditions(pieces[0], values), lambda: self.make(values), otherwise, self.dtype
            )
        if unpadded is not None:
            return _emit_choice(
                self.change.conditions(unpadded, values), otherwise, lambda: self.make(values), self.dtype
            )
        remaining = PaddingValue(self.change, self.value, Padding(pieces[1:], None, never=False), self.dtype)
        in_first = self.change.conditions(pieces[0], values)
        return _emit_choice(
            in_first, lambda: self.make(values), lambda: remaining.chosen(values, otherwise), self.dtype
        )


def _emit_choice(
    conditions: Sequence[Constraint], then: Callable[[], ir.Value], otherwise: Callable[[], ir.Value], dtype: str
) -> ir.Value:
    """`T.if_then_else(conditions, then, other)`."""
    op = create.guard(conditions, results=[dtypes.to_mlir(dtype)], has_else=True)
    for region, make in zip(op.regions, (then, otherwise), strict=True):
        with ir.InsertionPoint(region.blocks[0]):
            affine.yield_([make()])
    return op.results[0]


def padding_value(block: Block, change: LayoutChange, buffer: Buffer, value: Any, padding: Padding) -> PaddingValue:
    """The user's padding value, checked against the type of the buffer."""
    rank = len(change.layout.exprs)
    try:
        map_ = IndexMap.wrap(_constant(value, rank) or value, rank)
    except TypeError:
        refuse(block, f"the padding value is a number or a map of the new indices, not {short_repr(value)}")
    except TirError as error:
        refuse(block, f"the padding value: {error}")
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, str) and dtype != buffer.dtype:
        text = f"{buffer.name} has type {buffer.dtype}; {value} as its padding value has type {dtype}"
        refuse(block, text, fix=f"pass a plain number: it takes the type of {buffer.name}")
    if len(map_.terms) != 1:
        refuse(block, f"the padding value is one expression; {map_} gives {len(map_.terms)}")
    if map_.sizes:
        refuse(block, f"the padding value: {map_.sizes[0]} is not a variable of the map {map_}")
    _check_fits(block, buffer, map_)
    return PaddingValue(change, map_, padding, buffer.dtype)


def _constant(value: Any, rank: int) -> IndexMap | None:
    """A number as a constant map."""
    item = value.item() if isinstance(value, np.generic) else value
    if not isinstance(item, (int, float)):
        return None
    return IndexMap(tuple(f"i{n}" for n in range(rank)), (Constant(int(item) if isinstance(item, bool) else item),))


def _check_fits(block: Block, buffer: Buffer, map_: IndexMap) -> None:
    """Refuse a value that the element type of the buffer cannot represent."""
    term = map_.terms[0]
    number = term.value if isinstance(term, Constant) else None
    if buffer.dtype == "bool" and number not in (0, 1):
        refuse(
            block, f"{buffer.name} has type bool; {map_} as its padding value is not a bool", fix="use True or False"
        )
    if isinstance(number, float) and not dtypes.is_float(buffer.dtype):
        text = f"{buffer.name} has type {buffer.dtype}; {number} as its padding value is a float"
        refuse(block, text, fix="use an integer")
    if isinstance(number, int) and not dtypes.is_float(buffer.dtype) and buffer.dtype != "bool":
        low, high = dtypes.limits(buffer.dtype)
        if not low <= number <= high:
            text = f"{number} as the padding value does not fit {buffer.dtype}, the type of {buffer.name}"
            refuse(block, text, fix=f"use one of {low} to {high}")


# --- padding blocks ---------------------------------------------------------------------------------------------------


def loops_over_layout(filling_: PaddingValue, prefix: str = "") -> tuple[list[Loop], list[IterSpec]]:
    """Create loops over the new dimensions at the insertion point, and the iters bound to them."""
    loops: list[Loop] = []
    for name, extent in zip(filling_.names, filling_.change.shape, strict=True):
        with create.at_end(loops[-1].body) if loops else ir.InsertionPoint.current:
            loops.append(create.loop(prefix + name, 0, extent))
    extents = filling_.change.shape
    specs = [
        IterSpec(f"v_{lp.name}", "S", 0, extent, Index.of(lp.var)) for lp, extent in zip(loops, extents, strict=True)
    ]
    return loops, specs


def add_padding_block(filling_: PaddingValue, buffer: Buffer, anchor: ir.Operation) -> None:
    """Create blocks `buffer_<B>_padding`, `buffer_<B>_padding_1`, ... before an op, one for each piece of the
    padding.
    """
    for number, piece in enumerate(filling_.padding.pieces):
        name = f"buffer_{buffer.name}_padding" + (f"_{number}" if number else "")
        with ir.InsertionPoint(anchor), anchor.location:
            loops, specs = loops_over_layout(filling_)
            with create.at_end(loops[-1].body):
                guard = create.where(filling_.change.conditions(piece, [Index.of(lp.var) for lp in loops]))
                with create.at_end(guard.regions[0].blocks[0]):
                    block = create.block(name, specs)
            indices = [Index.of(i.var) for i in block.iters]
            with create.at_end(block.body):
                create.store(filling_.make(indices), buffer.value, indices)


def add_assumption_block(filling_: PaddingValue, buffer: Buffer, anchor: ir.Operation) -> None:
    """Create a block `buffer_<A>_assumptions`: the caller has initialized the padding with the value."""
    with ir.InsertionPoint(anchor), anchor.location:
        loops, specs = loops_over_layout(filling_)
        with create.at_end(loops[-1].body):
            block = create.block(f"buffer_{buffer.name}_assumptions", specs)
        indices = [Index.of(i.var) for i in block.iters]
        with create.at_end(block.body):
            element, value = create.load(buffer.value, indices), filling_.make(indices)
            floats = dtypes.is_float(buffer.dtype)
            same = arith.cmpf(arith.CmpFPredicate.OEQ, element, value) if floats else _equal(element, value)
            outside = [_emit_negation(filling_.change.conditions(p, indices)) for p in filling_.padding.pieces]
            total = outside[0]
            for condition in outside[1:]:
                total = arith.andi(total, condition)
            create.assume(arith.ori(total, same))


def _equal(lhs: ir.Value, right: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, lhs, right)


def _emit_negation(conditions: Sequence[Constraint]) -> ir.Value:
    """Emit whether a conjunction does not hold."""
    if len(conditions) == 1:
        return _comparison(conditions[0], holds=False)
    total = _comparison(conditions[0])
    for c in conditions[1:]:
        total = arith.andi(total, _comparison(c))
    return arith.xori(total, arith.constant(ir.IntegerType.get_signless(1), 1))


def _comparison(c: Constraint, holds: bool = True) -> ir.Value:
    """Emit a constraint, or its negation, as a comparison of int32 values without subtraction."""
    values = [arith.index_cast(ir.IntegerType.get_signless(32), create.apply(side)) for side in _sides(c.index)]
    kind = arith.CmpIPredicate
    predicate = (kind.eq if holds else kind.ne) if c.is_eq else (kind.sge if holds else kind.slt)
    return arith.cmpi(predicate, *values)


def _sides(index: Index) -> tuple[Index, Index]:
    """`a - b + c` as `a` and `b - c`; in a sum with divisions only the constant moves."""
    zero = index.substitute({v: Index.constant(0) for v in index.values}).simplified().as_constant() or 0
    factors = dim_factors(index.expr)
    if factors is None:
        return (index - zero).simplified(), Index.constant(-zero)
    lhs, right = Index.constant(0), Index.constant(-factors[1])
    for dim, factor in factors[0].items():
        part = Index.of(index.values[dim]) * abs(factor)
        lhs, right = (lhs + part, right) if factor > 0 else (lhs, right + part)
    return lhs.simplified(), right.simplified()
