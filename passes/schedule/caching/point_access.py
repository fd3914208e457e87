"""Blocks that access a buffer at one element per instance, and redirecting that access to another element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Region, declare, get_declared_regions, outer_iters
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    Loop,
    access_indices,
    attrs,
    blocks_below,
    is_loop,
    is_symbol,
    ops,
    same_indices,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, isa
from tir_mlir.dialect.presburger import (
    Domain,
    flatten,
    fold_index,
    has_division,
    intervals,
    question,
    sets,
    smallest_point,
)
from tir_mlir.passes.schedule.caching.copy_block import access_at
from tir_mlir.passes.schedule.registry import check, copy_whole_buffer, refuse, use_words


@dataclass(frozen=True)
class PointAccess:
    """A block that accesses `buffer` at `indices` (over its iters and outer values) and nowhere else."""

    block: Block
    buffer: Buffer
    indices: tuple[Index, ...]

    @property
    def used(self) -> list[Iter]:
        """The iters of the block that occur in the indices, in the order of the block."""
        return iters_in(self.block, self.indices)


def iters_in(block: Block, indices: Sequence[Index]) -> list[Iter]:
    """The iters of a block that occur in some expressions, in the order of the block."""
    values = {v for i in indices for v in i.values}
    return [i for i in block.iters if i.var in values]


def point_access(block: Block, buffer: Buffer) -> PointAccess:
    """Refuse unless a block has no nested blocks and accesses the buffer by plain accesses at one index.

    A loop of one iteration in the block has its only value in the index.
    """
    inner = blocks_below(block.op, with_init=True)
    if inner:
        refuse(
            block,
            f'block "{block.name}" contains block "{inner[0].name}"; it must not contain blocks',
            fix=f'pass block "{inner[0].name}"',
        )
    accessing = [op for op in ops(block.op) if any(_reaches(v, buffer) for v in op.operands)]
    check(bool(accessing), block, f'block "{block.name}" declares {buffer.name}, but does not access it')
    available = {i.var for i in block.iters} | set(outer_iters(block))
    units = {lp.var: lp.lower for op in ops(block.op) if is_loop(op) and (lp := Loop(op)).const_extent == 1}
    first: list[Index] | None = None
    for op in accessing:
        if not isa(op, AffineElementAccessOp):
            refuse(
                op,
                f"{buffer.name} is accessed by {use_words(op)}, at a non-affine index or through a pointer or "
                "view; only plain accesses at affine indices can be redirected",
                fix=copy_whole_buffer(buffer.name),
            )
        if accessed_memref(op) != buffer.value:
            text = (
                f"{buffer.name} is accessed through the view {Buffer(accessed_memref(op)).name}, which would "
                "keep the old buffer"
            )
            refuse(op, text, fix=copy_whole_buffer(buffer.name))
        indices = [i.substitute(units).simplify() for i in access_indices(op)]
        if any(v not in available and not is_symbol(v) for i in indices for v in i.values):
            text = f"the index of {buffer.name} uses a loop inside the block; it must use iters of the block only"
            refuse(op, text, fix=copy_whole_buffer(buffer.name))
        if first is not None and not same_indices(first, indices):
            text = f'block "{block.name}" accesses {buffer.name} at different indices; a single one is needed'
            refuse(op, text, fix=copy_whole_buffer(buffer.name))
        first = first or indices
    return PointAccess(block, buffer, tuple(first or ()))


def fold_access_indices(access: PointAccess) -> PointAccess:
    """The access without iters that its indices do not depend on in their ranges: `vi // 64`, vi < 64, is 0."""
    if not any(has_division(i.expr) for i in access.indices):
        return access
    box = intervals.enclosing_ranges(access.block.body.operations[0].operation)
    return replace(access, indices=tuple(fold_index(i, box) for i in access.indices))


def fix_map(access: PointAccess) -> str:
    """Fix for a map that does not fit: one with a dimension for each iter of the index."""
    names = ", ".join(i.name for i in access.used)
    return f"lambda {', '.join(i.name for i in access.block.iters)}: ({names}) is a map that fits"


def _reaches(value: ir.Value, buffer: Buffer) -> bool:
    return isinstance(value.type, ir.MemRefType) and Buffer(value).root == buffer


def redirect_access(access: PointAccess, cache: Buffer, indices: Sequence[Index]) -> None:
    """Make the block access `cache[indices]` instead; its declared regions follow."""
    ones = tuple(Index.constant(1) for _ in indices)
    for key in (attrs.READS, attrs.WRITES):
        if any(r.buffer == access.buffer for r in get_declared_regions(access.block, key, [])):
            regions = get_declared_regions(access.block, key, [])
            element = Region(cache, tuple(indices), ones)
            declare(access.block, key, [element if r.buffer == access.buffer else r for r in regions])
    for op in ops(access.block.op):
        if any(v == access.buffer.value for v in op.operands):
            access_at(op, cache, indices)


# --- injectivity ------------------------------------------------------------------------------------------------------


def check_distinct_cells(access: PointAccess, cell: Sequence[Index]) -> None:
    """Refuse when two instances that access different elements would share an element of the cache."""
    if not _is_plainly_injective(cell, access.used):
        text = "{first} and {second} would share an element of the cache, but access {a} and {b}"
        _compare(access, access.indices, cell, text, fix_map(access))
    emit_remark(f"no two elements of `{access.buffer.name}` share an element of the copy")


def check_single_cell(access: PointAccess, cell: Sequence[Index]) -> None:
    """Refuse when two instances that access the same element would use different elements of the cache, as it is not
    known which of them is final.
    """
    if not _is_plainly_injective(access.indices, iters_in(access.block, cell)):
        text = "{first} and {second} both access {a}, but would use two elements of the cache"
        _compare(access, cell, access.indices, text, copy_whole_buffer(access.buffer.name))
    emit_remark(
        f"all accesses of block `{access.block.name}` to an element of `{access.buffer.name}` use one of the copy"
    )


def _is_plainly_injective(indices: Sequence[Index], iters: Sequence[Iter]) -> bool:
    """Whether each of some iters is an index by itself."""
    return {i.var for i in iters} <= {v for i in indices if (v := i.is_value()) is not None}


def _compare(access: PointAccess, apart: Sequence[Index], equal: Sequence[Index], text: str, fix: str) -> None:
    """Refuse when two instances with equal values of `equal` differ in `apart`."""
    block, buffer = access.block, access.buffer
    inner = block.body.operations[0].operation
    with question(f"whether {buffer.name} can be kept in another order"):
        dom = sets.domain(inner, block.op, [*apart, *equal])
        outer = [Index.from_value(v) for v in dom.dims[: dom.free]]
        wrong = _pairs(dom, [*outer, *equal]).subtract(_pairs(dom, [*outer, *apart]))
        if wrong.is_empty():
            return
        point = smallest_point(flatten(wrong)) or []
    count = len(dom.dims)
    first, second = point[-2 * count : -count][dom.free :], point[-count:][dom.free :]
    elements = [_element(dom, access, p) for p in (point[-2 * count : -count], point[-count:])]
    words = {"first": _instance(block, first), "second": _instance(block, second), "a": elements[0], "b": elements[1]}
    pair = (words["first"], words["second"])
    refuse(block, text.format(**words), counterexample=Counterexample(pair, elements[0]), fix=fix)


def _pairs(dom: Domain, indices: Sequence[Index]) -> isl.Map:
    relation = dom.map(indices)
    return relation.apply_range(relation.reverse())


def _instance(block: Block, point: Sequence[int]) -> Iteration:
    return Iteration.from_point(block.name, [i.name for i in block.iters], point)


def _element(dom: Domain, access: PointAccess, point: Sequence[int]) -> Element:
    relation = dom.map(access.indices)
    for number, value in enumerate(point):
        relation = relation.fix_val(sets.dim_type.in_, number, isl.Val(value))
    coordinates = smallest_point(relation.range()) or []
    return Element.from_indices(access.buffer.name, coordinates[len(coordinates) - len(access.indices) :])
