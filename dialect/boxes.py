"""Whether the iterations of a nest are a full box of its iterators, each point met once."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.errors import NotProvable, TirError
from tir_mlir.dialect.from_isl import to_index
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.sets import Domain, dim_type, domain, flatten, question, region_map, smallest_point
from tir_mlir.dialect.size_conditions import only_where
from tir_mlir.dialect.views import Block, Loop, is_block, is_loop, symbols_by_name
from tir_mlir.dialect.walk import is_inside, parents


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
