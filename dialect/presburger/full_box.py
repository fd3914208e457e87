"""Whether the iterations of a nest are a full box of its iterators, each point met once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable, TirError
from tir_mlir.dialect.ir import (
    Block,
    Index,
    Iter,
    Loop,
    attrs,
    is_block,
    is_inside,
    is_loop,
    is_where,
    over_dims,
    parents,
    symbols_by_name,
    used_dims,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.dialect.presburger.intervals import Range, constant_bounds, constant_of, terms
from tir_mlir.dialect.presburger.isl_exprs import to_index
from tir_mlir.dialect.presburger.sets import Domain, dim_type, domain, flatten, question, region_map, smallest_point
from tir_mlir.dialect.presburger.size_conditions import only_where


class NotABox(TirError):
    """Iterations that leave a point of their bounding box out, meet one twice, or have bounds that vary."""


Box = tuple[list[Index], list[Index]]


def box_of(iterators: Sequence[ir.Value], op: ir.Operation, top: ir.Operation, names: Sequence[str]) -> Box:
    """Minimum and extent of every iterator in the iterations of `op` beneath `top`, as expressions of outer values.

    From the bounds alone a set with holes, or a triangle, would look like a box: the set must equal it.
    Errors: NotABox.
    """
    plain = _plain_box(iterators, op, top)
    if plain is not None:
        return plain
    order = ", ".join(names)
    try:
        with question(f"whether the iterations ({order}) are a full box"):
            return _isl_box(iterators, op, top, order)
    except NotProvable as error:
        raise NotABox(str(error)) from error


def _plain_box(iterators: Sequence[ir.Value], op: ir.Operation, top: ir.Operation) -> Box | None:
    """Every iterator is a loop of its own plus an outer value, no loop is left over; None when that is not seen."""
    chain = [p for p in parents(op) if p != top and is_inside(p, top)]
    loops = {Loop(p).var: Loop(p) for p in chain if is_loop(p)}
    bound = {i.var: i.binding for p in chain if is_block(p) for i in Block(p).iters}
    mins, extents = [], []
    for iterator in iterators:
        binding = bound.get(iterator, Index.of(iterator)).simplified()
        used = [v for v in binding.values if v in loops]
        if len(used) != 1 or any(v in bound for v in binding.values):
            return None
        loop = loops.pop(used[0])
        low = binding - Index.of(loop.var)
        extent = loop.const_extent
        if loop.var in low.simplified().values or extent is None or loop.lower.as_constant() is None:
            return None
        mins.append((low + loop.lower).simplified())
        extents.append(Index.constant(extent))
    return (mins, extents) if not loops else None


def _isl_box(iterators: Sequence[ir.Value], op: ir.Operation, top: ir.Operation, order: str) -> Box:
    dom = domain(op, top, guards=False)
    outer, symbols = dom.dims[: dom.outer], symbols_by_name(op)
    image = dom.relation([dom.env[v] for v in iterators])
    params = [isl.Aff.var_on_domain(dom.zero.get_domain_local_space(), dim_type.set, n) for n in range(dom.outer)]
    if not dom.relation([*params, *(dom.env[v] for v in iterators)]).is_injective():
        raise NotABox(f"two iterations of its loops are bound to the same point ({order})")
    image = image.project_out(dim_type.in_, dom.outer, len(dom.dims) - dom.outer)
    mins, extents = [], []
    for number in range(len(iterators)):
        low = to_index(_single(image.dim_min(number), image.domain()), outer, symbols)
        high = to_index(_single(image.dim_max(number), image.domain()), outer, symbols)
        mins.append(low)
        extents.append((high - low + 1).simplified())
    full = region_map(_outer_domain(dom, top), mins, extents).intersect_domain(image.domain())
    missing = full.subtract(image)
    if not missing.is_empty():
        point = (smallest_point(flatten(missing)) or [])[-len(iterators) :]
        sizes = " x ".join(str(e.as_constant() or "n") for e in extents)
        at = ", ".join(map(str, point))
        way = only_where(missing, op)
        raise NotABox(f"its iterations are not a full box of {sizes}: ({order}) = ({at}) is left out{way}")
    return mins, extents


def _outer_domain(dom: Domain, top: ir.Operation) -> Domain:
    """The values that the iterations of `dom` depend on, without its loops."""
    first = top.regions[0].blocks[0].operations[0].operation
    return domain(first, top, [Index.of(v) for v in dom.dims[: dom.free]])


def _single(bound: isl.PwAff, context: isl.Set) -> isl.Aff:
    pieces = bound.coalesce().gist(context).get_pieces()
    if len(pieces) != 1:
        raise NotABox("the bounds of its iterations change from place to place")
    return pieces[0][1]


def full_box(op: ir.Operation) -> bool:
    """Whether an unguarded block's bindings are plainly mixed-radix numbers of loops of constant bounds that reach all
    of its constant domain."""
    parent = op.parent
    if parent is None or is_where(parent.operation):
        return False
    low = attrs.affine_map(op, "lowerBoundsMap")
    known = []
    for value in list(op.operands)[: low.n_inputs]:
        owner = value.owner
        if not isinstance(owner, ir.Block) or not is_loop(owner.owner.operation):
            return False
        bounds = constant_bounds(owner.owner.operation)
        if bounds is None:
            return False
        known.append(bounds)
    return _full_box(low, tuple(known), attrs.affine_map(op, attrs.MIN), attrs.affine_map(op, attrs.EXTENT))


@lru_cache(maxsize=1 << 13)
def _full_box(low: ir.AffineMap, loops: tuple[Range, ...], mins: ir.AffineMap, extents: ir.AffineMap) -> bool:
    if mins.n_symbols:
        return False
    used: set[int] = set()
    for binding, start, extent in zip(over_dims(low), over_dims(mins), over_dims(extents), strict=False):
        dims = used_dims(binding)
        found = intervals.terms(binding)
        first, count = constant_of(start), constant_of(extent)
        if used & dims or found is None or first is None or count is None:
            return False
        used |= dims
        reach, begin = 1, found[1]
        for dim, factor in sorted(found[0].items(), key=lambda item: item[1]):
            least, most = loops[dim]
            if least is None or most is None:
                return False
            if factor != reach and most != least:
                return False
            reach *= most - least + 1
            begin += factor * least
        if reach != count or begin != first:
            return False
    return True


def is_full_box(block: Block) -> bool:
    """Whether bindings plainly reach the whole domain, each point once: each iter is a mixed-radix number of loops of
    its own, cut at the end of its domain at most."""
    from tir_mlir.dialect.ir import loops_above

    iters = block.iters
    cut = _cut_iters(block, iters)
    if cut is None:
        return False
    loops = {lp.var: lp for lp in loops_above(block.op)}
    used: set[ir.Value] = set()
    for number, it in enumerate(iters):
        if used & set(it.binding.values) or not _reaches(it, loops, number in cut):
            return False
        used |= set(it.binding.values)
    return True


def _cut_iters(block: Block, iters: Sequence[Iter]) -> set[int] | None:
    """The iters whose bindings the guard keeps below the end of their domains; None where it does more than that."""
    from tir_mlir.dialect.ir import constraints

    cut: set[int] = set()
    for condition in [] if block.where is None else constraints(block.where):
        ends = [n for n, it in enumerate(iters) if condition.index.same(it.min + it.extent - 1 - it.binding)]
        if condition.is_eq or not ends:
            return None
        cut.add(ends[0])
    return cut


def _reaches(it: Iter, loops: dict[ir.Value, Loop], cut: bool) -> bool:
    """Whether one binding takes every value of its iter's domain, once; and no other, unless those are cut off."""
    if (value := it.binding.is_value()) is not None and value in loops:
        loop = loops[value]
        plain = len(loop.lowers) == len(loop.uppers) == 1
        if plain and loop.lower.same(it.min) and loop.upper.same(it.min + it.extent):
            return True
    low, extent = it.min.as_constant(), it.extent.as_constant()
    reach = None if low is None else _radix(it.binding - low, loops)
    if reach is None or extent is None:
        return False
    return reach >= extent if cut else reach == extent


def reaches(index: Index, loops: dict[ir.Value, Loop], extent: int) -> bool:
    """Whether an expression is a mixed-radix number of `loops` that takes exactly the values [0, extent), each once."""
    return _radix(index, loops) == extent


def _radix(index: Index, loops: dict[ir.Value, Loop]) -> int | None:
    """How many values a mixed-radix number of `loops` takes, from 0 on, each once; None for any other expression."""
    index = index.simplified()
    found = terms(index.expr)
    if found is None or any(v not in loops for v in index.values):
        return None
    reach, start = 1, found[1]
    for dim, factor in sorted(found[0].items(), key=lambda item: item[1]):
        loop = loops[index.values[dim]]
        size, first = loop.const_extent, loop.lower.as_constant()
        if size is None or first is None or (factor != reach and size != 1):
            return None
        reach *= size
        start += factor * first
    return reach if start == 0 else None
