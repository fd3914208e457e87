"""Read and write regions of blocks, computed from their accesses.

Declared regions may be smaller, at the user's responsibility. Proofs never rely on them: dependences, dataflow and
coverage are computed from the accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import access_boxes
from tir_mlir.dialect.analysis.accesses import (
    READ,
    WRITE,
    Access,
    Touch,
    access_domain,
    accesses,
    accesses_of_op,
    in_view,
    memrefs,
    resolve_views,
    touches,
)
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    attrs,
    edit,
    is_block,
    is_inside,
    is_symbol,
    only_reads,
    ops,
    owner_op,
    parents,
    read_map,
    symbol_name,
    symbols_by_name,
    touch,
)
from tir_mlir.dialect.ir.op_views import (
    AffineParallelOp,
    AllocLikeOp,
    AllocOp,
    ComputedAccessOp,
    FuncOp,
    LoadOp,
    MemrefCastOp,
    MemrefLoadOp,
    MemrefStoreOp,
    SubviewOp,
    ViewLikeOp,
    isa,
)
from tir_mlir.dialect.presburger import has_division, intervals, question, region_map, to_index

dim_type = isl.dim_type
A = TypeVar("A", Access, Touch)
_NAMED = AllocLikeOp.names | SubviewOp.names


@dataclass(frozen=True)
class Region:
    """`buffer[mins : mins + extents]`, over the iters of the block (and of its enclosing blocks)."""

    buffer: Buffer
    mins: tuple[Index, ...]
    extents: tuple[Index, ...]

    def is_equal_to(self, region: Region) -> bool:
        pairs = zip((*self.mins, *self.extents), (*region.mins, *region.extents), strict=True)
        return self.buffer == region.buffer and all(a.is_equal_to(b) for a, b in pairs)

    def substitute(self, mapping: Mapping[ir.Value, Index]) -> Region:
        """The region with values replaced by expressions."""
        if not mapping:
            return self
        mins, extents = (tuple(i.substitute(mapping).simplify() for i in group) for group in (self.mins, self.extents))
        return Region(self.buffer, mins, extents)


@only_reads
def regions(block: Block) -> tuple[list[Region], list[Region]]:
    """The reads and the writes of a block: declared if it declares them, else computed.

    One box per buffer, relaxed over loops inside the block; buffers that the block allocates are excluded. Reads are in
    the order of the text; a block with an init does not read what it writes.
    """
    reads, writes = accessed_regions(block)
    return get_declared_regions(block, attrs.READS, reads), get_declared_regions(block, attrs.WRITES, writes)


def get_declared_regions(block: Block, key: str, otherwise: list[Region]) -> list[Region]:
    """The regions of `tir.reads` or `tir.writes`; `otherwise` if the block has none."""
    if key not in block.op.attributes:
        return otherwise
    values = [i.var for i in block.iters] + outer_iters(block)
    in_reach = {b.name: b for b in visible_buffers(block.op)}
    result = []
    for entry in attrs.get(block.op, key):
        operands = [*values[: entry["min"].n_dims], *block.symbols]
        mins, extents = (tuple(read_map(entry[k], operands)) for k in ("min", "extent"))
        result.append(Region(in_reach[entry["buffer"]], mins, extents))
    return result


def outer_iters(block: Block) -> list[ir.Value]:
    """The iters of the enclosing blocks, innermost block first."""
    iter_vars: list[ir.Value] = []
    for parent in parents(block.op):
        if isa(parent, AffineParallelOp) and attrs.BLOCK in parent.attributes:
            iter_vars += [i.var for i in Block(parent).iters]
    return iter_vars


def declare(block: Block, key: str, block_regions: Sequence[Region]) -> None:
    """Store regions as an attribute of the block (they differ from the computed ones, or cannot be computed)."""
    dims = [i.var for i in block.iters] + outer_iters(block)
    symbols = _symbols_for(block, block_regions, dims)
    swap = {v: ir.AffineExpr.get_dim(i) for i, v in enumerate(dims)}
    swap |= {v: ir.AffineExpr.get_symbol(i) for i, v in enumerate(symbols)}

    def as_map(indices: Sequence[Index]) -> ir.AffineMap:
        exprs = []
        for index in indices:
            operands = [swap[v] for v in index.values]
            exprs.append(
                index.expr.compose(ir.AffineMap.get(len(dims), len(symbols), operands)) if operands else index.expr
            )
        return ir.AffineMap.get(len(dims), len(symbols), exprs)

    entries = [
        ir.DictAttr.get(
            {
                "buffer": ir.StringAttr.get(r.buffer.name),
                "min": ir.AffineMapAttr.get(as_map(r.mins)),
                "extent": ir.AffineMapAttr.get(as_map(r.extents)),
            }
        )
        for r in block_regions
    ]
    edit.set_attribute(block.op, key, ir.ArrayAttr.get(entries))


def _symbols_for(block: Block, block_regions: Sequence[Region], dims: Sequence[ir.Value]) -> list[ir.Value]:
    """The symbols of a block, extended by those that the regions use; updates the attributes of the block."""
    old_symbols = block.symbols
    index_values = dict.fromkeys(v for r in block_regions for index in (*r.mins, *r.extents) for v in index.values)
    new = [v for v in index_values if v not in old_symbols and v not in dims]
    if not new:
        return old_symbols
    if not all(is_symbol(v) for v in new):
        raise NotProvable(
            f"a region of block {block.name} depends on a loop around it; bind that loop to an iter of the block"
        )
    touch(block.op)
    facts = block.op.attributes
    for key in (attrs.MIN, attrs.EXTENT):
        facts[key] = _wider(facts[key], len(new))
    for key in (attrs.READS, attrs.WRITES):
        if key in facts:
            entries = [{n.name: n.attr for n in ir.DictAttr(e)} for e in ir.ArrayAttr(facts[key])]
            wide = [e | {k: _wider(e[k], len(new)) for k in ("min", "extent")} for e in entries]
            facts[key] = ir.ArrayAttr.get([ir.DictAttr.get(e) for e in wide])
    facts[attrs.SYMS] = attrs.to_attr([*attrs.get(block.op, attrs.SYMS, []), *map(symbol_name, new)])
    vars(block).pop("symbols", None)  # cached before the change
    return [*old_symbols, *new]


def _wider(attr: ir.Attribute, count: int) -> ir.Attribute:
    """A map with more, unused, symbols."""
    map_ = ir.AffineMapAttr(attr).value
    return ir.AffineMapAttr.get(ir.AffineMap.get(map_.n_dims, map_.n_symbols + count, list(map_.results)))


def visible_buffers(op: ir.Operation) -> list[Buffer]:
    """Parameters, allocations and views visible at an op, innermost last."""
    visible: list[Buffer] = []
    for parent in parents(op)[::-1]:
        if isa(parent, FuncOp):
            visible += Func(parent).params
        for region in parent.regions:
            for body in region.blocks:
                for inner in body.operations:
                    if inner.operation.name in _NAMED:
                        visible.append(Buffer(inner.results[0]))
    return visible


@only_reads
def buffers(block: Block) -> tuple[list[Buffer], list[Buffer]]:
    """The buffers of `regions(block)`, without their boxes."""
    result = []
    for key, groups in zip((attrs.READS, attrs.WRITES), _groups(block, touches(block.op)), strict=True):
        otherwise = [Region(Buffer(g[0].buffer), (), ()) for g in groups]
        result.append([r.buffer for r in get_declared_regions(block, key, otherwise)])
    return result[0], result[1]


@only_reads
def accessed_regions(block: Block) -> tuple[list[Region], list[Region]]:
    """The regions of a block computed from its accesses."""
    reads, writes = _groups(block, accesses(block.op))
    return [box(group, block.op) for group in reads], [box(group, block.op) for group in writes]


def _groups(block: Block, touched: Sequence[A]) -> tuple[list[list[A]], list[list[A]]]:
    """The reads and writes of a block by buffer, in the order of the text, without its own allocations.

    The declarations of a nested block determine the order of its buffers.
    """
    nested_ops = list(ops(block.op))
    allocated = [o.results[0] for o in nested_ops if isa(o, AllocOp)]
    touched = [a for a in touched if a.buffer not in allocated] if allocated else touched
    excluded = {a.buffer for a in touched if a.is_write} if block.init is not None else set()
    reads = [a for a in touched if a.kind == READ and a.buffer not in excluded]
    if any(isa(o, ComputedAccessOp) for o in nested_ops):
        reads = _in_written_order(reads, nested_ops)
    writes = [a for a in touched if a.kind == WRITE]
    for inner in reversed([Block(o) for o in nested_ops if is_block(o) and o != block.op]):
        reads, writes = _as_declared(inner, attrs.READS, reads), _as_declared(inner, attrs.WRITES, writes)
    return _by_buffer(reads), _by_buffer(writes)


def _in_written_order(reads: Sequence[A], body: Iterable[ir.Operation]) -> list[A]:
    """Reads in the order of the text: `A[I[i]]` reads A, then I; `C[I[i]] = A[i]` as well.

    The ops compute an index before they use it. body: the ops that read, in order.
    """
    order = [a.op for a in reads]
    for op in body:
        if isa(op, MemrefLoadOp):
            _move_before(order, op, _loads_behind(_indices(op)))
        elif isa(op, MemrefStoreOp):
            _move_behind(order, _loads_behind(_indices(op)), _loads_behind([MemrefStoreOp(op).value]))
    position_of = {op: number for number, op in enumerate(order)}
    return sorted(reads, key=lambda a: position_of[a.op])


def _indices(access: ir.Operation) -> list[ir.Value]:
    return [v for v in access.operands if isinstance(v.type, ir.IndexType)]


def _loads_behind(values: Iterable[ir.Value]) -> list[ir.Operation]:
    """The loads from which values are computed, where they are no statement of their own (`x = A[i]`)."""
    pending, loads = list(values), dict[ir.Operation, None]()
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block) or attrs.NAME in owner.attributes or owner in loads:
            continue
        if isa(owner, LoadOp):
            loads[owner.operation] = None
        pending += [v for v in owner.operands if not isinstance(v.type, ir.MemRefType)]
    return list(loads)


def _move_before(order: list[ir.Operation], op: ir.Operation, loads: Sequence[ir.Operation]) -> None:
    """Move an op before the first of some."""
    positions = [order.index(load) for load in loads if load in order]
    if op in order and positions and min(positions) < order.index(op):
        order.remove(op)
        order.insert(min(positions), op)


def _move_behind(order: list[ir.Operation], moved: Sequence[ir.Operation], loads: Sequence[ir.Operation]) -> None:
    """Move ops behind the last of some, in their order, where they are before all of them."""
    positions = [order.index(load) for load in loads if load in order]
    moving = [op for op in order if op in moved and op not in loads]
    if positions and moving and max(map(order.index, moving)) < min(positions):
        last = order[max(positions)]
        for op in moving:
            order.remove(op)
        position = order.index(last) + 1
        order[position:position] = moving


def _as_declared(inner: Block, key: str, touched: list[A]) -> list[A]:
    """The accesses, with those of a nested block in the order of its declarations."""
    if key not in inner.op.attributes:
        return touched
    order = {r.buffer.value: n for n, r in enumerate(get_declared_regions(inner, key, []))}
    positions = [n for n, a in enumerate(touched) if is_inside(a.op, inner.op)]
    sorted_ = sorted((touched[n] for n in positions), key=lambda a: order.get(a.buffer, len(order)))
    result = list(touched)
    for position, access in zip(positions, sorted_, strict=True):
        result[position] = access
    return result


def _by_buffer(touched: Sequence[A]) -> list[list[A]]:
    groups: dict[ir.Value, list[A]] = {}
    for access in touched:
        groups.setdefault(access.buffer, []).append(access)
    return list(groups.values())


@only_reads
def box(group: Sequence[Access], top: ir.Operation, free: Sequence[ir.Value] = ()) -> Region:
    """The bounding box of accesses to one buffer, relaxed over everything nested in `top` and over the variables `free`
    of enclosing loops.

    Guards inside `top` are used if the bounds remain single expressions, else ignored (a larger box). Without affine
    bounds the result is the whole buffer.
    """
    first = group[0]
    if all(a.mins == first.mins and a.extents == first.extents for a in group) and _is_plain(first, top, free):
        return Region(Buffer(first.buffer), first.mins, first.extents)
    plain = access_boxes.access_box(group, top, free)
    if plain is not None and not any(has_division(i.expr) for i in plain.mins):  # isl has one form for equal quotients
        return Region(Buffer(first.buffer), plain.mins, plain.extents)
    guarded = any(access_boxes.is_guarded(a, top) for a in group)
    for with_guards in (True, False) if guarded else (False,):  # without guards both are the same question
        try:
            with question(f"the region of {Buffer(first.buffer).name}"):
                return _isl_box(group, top, with_guards, free)
        except NotProvable:
            continue
    dims = Buffer(first.buffer).dims
    return Region(Buffer(first.buffer), tuple(Index.constant(0) for _ in dims), tuple(dims))


def _is_plain(access: Access, top: ir.Operation, free: Sequence[ir.Value]) -> bool:
    """Whether the access uses only iters of `top` and values defined outside it that are not `free`."""
    for index in access.indices:
        for value in index.values:
            if value in free or (owner_op(value) != top and is_inside(owner_op(value), top)):
                return False
    return True


def _isl_box(group: Sequence[Access], top: ir.Operation, with_guards: bool, free: Sequence[ir.Value]) -> Region:
    """Dimension by dimension, of the accesses that differ there: isl takes much longer for all at once. First those
    of most indices, whose bounds may have several pieces."""
    columns = [
        list({(a.op.block, a.mins[d], a.extents[d]): a for a in group}.values()) for d in range(len(group[0].mins))
    ]
    bounds: dict[int, tuple[Index, Index]] = {}
    for d in sorted(range(len(columns)), key=lambda d: -len(columns[d])):
        relation, outer, symbols = footprint(columns[d], top, with_guards, axis=d)
        for number, value in enumerate(outer):
            if value in free:
                relation = _anywhere(
                    relation, number, intervals.known_range(value, intervals.enclosing_ranges(group[0].op))
                )
        bounds[d] = _bounds(relation, outer, symbols)
    mins, extents = zip(*(bounds[d] for d in range(len(columns))), strict=True)
    return Region(Buffer(group[0].buffer), mins, extents)


@only_reads
def footprint(
    group: Sequence[Access], top: ir.Operation, guards: bool = True, split: bool = False, axis: int | None = None
) -> tuple[isl.Map, list[ir.Value], dict[str, ir.Value]]:
    """The footprint { outer values -> elements } of accesses to one buffer, relaxed over everything nested in `top`.

    Outer values are the iters of `top` (if it is a block) and the used values defined outside it. The last result maps
    isl parameters to values. `split`: elements as the parts of linearized indices, where accesses have them. `axis`: of
    elements, only their index in this dimension.
    """
    axes = slice(axis, None if axis is None else axis + 1)
    free: dict[ir.Value, None] = {}
    for access in group:
        dom = access_domain(access, top, guards=guards)
        free |= dict.fromkeys(dom.dims[: dom.free])
    extra = [Index.from_value(v) for v in free]
    relation: isl.Map | None = None
    for access in group:
        dom = access_domain(access, top, extra, guards)
        part = access.elements(dom) if split else region_map(dom, access.mins[axes], access.extents[axes])
        part = part.project_out(dim_type.in_, dom.outer, len(dom.dims) - dom.outer)
        relation = part if relation is None else relation.union(part)
    assert relation is not None
    return relation, dom.dims[: dom.outer], symbols_by_name(top)


def _bounds(relation: isl.Map, outer: Sequence[ir.Value], symbols: dict[str, ir.Value]) -> tuple[Index, Index]:
    """The least index, and the extent, of a relation to indices of one dimension."""
    context = relation.domain()
    low, high = (_single(bound, context) for bound in (relation.dim_min(0), relation.dim_max(0)))
    first = to_index(low, outer, symbols)
    return first, (to_index(high, outer, symbols) - first + 1).simplify()


def _anywhere(relation: isl.Map, number: int, span: tuple[int | None, int | None]) -> isl.Map:
    """A relation with input `number` relaxed over its range."""
    low, high = span
    if low is None or high is None:
        raise NotProvable("a loop around without constant bounds")
    relation = relation.lower_bound_val(dim_type.in_, number, isl.Val(low))
    relation = relation.upper_bound_val(dim_type.in_, number, isl.Val(high))
    return relation.project_out(dim_type.in_, number, 1).insert_dims(dim_type.in_, number, 1)


def _single(bound: isl.PwAff, context: isl.Set) -> isl.Aff:
    pieces = bound.coalesce().gist(context).get_pieces()
    if len(pieces) != 1:
        raise NotProvable("a bound with several pieces")
    return pieces[0][1]


_SUBVIEW = "memref.subview"


def root_region(region: Region) -> Region:
    """A region of a view as a region of its root buffer."""
    buffer, mins, extents, _ = resolve_views(region.buffer, list(region.mins), list(region.extents))
    return Region(buffer, tuple(mins), tuple(extents))


@only_reads
def as_written(block: Block) -> tuple[list[Region], list[Region]]:
    """`regions(block)`, as regions of views for buffers that the block accesses through a single view.

    A_sub = T.match_buffer(A[vi * 16:vi * 16 + 16], (16,))
    with T.block("b"):
        T.reads(A_sub[v])        not A[vi * 16 + v]
    """
    reads, writes = regions(block)
    memref_values = {v for a in accesses(block.op) for v in memrefs(a.op)}
    if not any(Buffer(v).op is not None and isa(Buffer(v).op, SubviewOp) for v in memref_values):  # type: ignore[union-attr]
        return reads, writes
    return [_view_region(block, r) for r in reads], [_view_region(block, r) for r in writes]


def _view_region(block: Block, region: Region) -> Region:
    """A region of a buffer as a region of the only view of it that the block uses."""
    chains = [_chain(block, v) for a in accesses(block.op) if a.buffer == region.buffer.value for v in memrefs(a.op)]
    chains = [c for c in chains if c[-1] == region.buffer]
    if not chains or any(c != chains[0] for c in chains):
        return region
    for view in reversed(chains[0][:-1]):
        box = in_view(view, region.mins, region.extents)
        if box is None:
            return region if region.buffer == chains[0][-1] else root_region(region)
        region = Region(view, tuple(box[0]), tuple(box[1]))
    return region


def _chain(block: Block, memref: ir.Value) -> list[Buffer]:
    """A view defined outside the block, its source, and so on down to the root buffer."""
    chain = [Buffer(memref)]
    while (op := chain[-1].op) is not None and isa(op, SubviewOp, MemrefCastOp):
        chain.append(Buffer(ViewLikeOp(op).source))
        if is_inside(op, block.op):
            chain = chain[-1:]
    return chain


EXPLICIT = {attrs.READS: "explicit_read_region", attrs.WRITES: "explicit_write_region"}
"""Annotations of a block: the numbers of the regions declared by annotate_buffer_access."""
WORDS = {attrs.READS: "reads", attrs.WRITES: "writes"}


def hides(block: Block, key: str) -> bool:
    """Whether unsafe_hide_buffer_access removed regions from the declarations of a block."""
    return WORDS[key] in attrs.get(block.op, attrs.HIDDEN, [])


def hide(block: Block, key: str) -> None:
    """Record that regions are missing from the declarations of a block."""
    hidden = attrs.get(block.op, attrs.HIDDEN, [])
    attrs.put(block.op, attrs.HIDDEN, sorted({*hidden, WORDS[key]}))


def explicit(block: Block, key: str) -> list[int]:
    """The numbers of the regions that the user declared by annotate_buffer_access."""
    numbers = block.annotations.get(EXPLICIT[key], [])
    return [n for n in numbers if isinstance(n, int)] if isinstance(numbers, list) else []


def only_groups(block: Block) -> bool:
    """Whether a block without iters has no declarations and no accesses besides those of nested blocks."""
    declarations = [attrs.get(block.op, key) for key in (attrs.READS, attrs.WRITES)]
    if block.iters or [] not in declarations or any(declarations):
        return False
    # the parser drops declarations equal to the computed regions
    if None in declarations and accessed_regions(block)[declarations.index(None)]:
        return False
    return not any(accesses_of_op(op) for op in ops(block.op, skip=lambda o: o != block.op and is_block(o)))


def confirmed_regions(block: Block) -> tuple[list[Region], list[Region]]:
    """The declared regions of a block if its accesses confirm them, else the computed regions."""
    result = []
    for key, actual in zip((attrs.READS, attrs.WRITES), accessed_regions(block), strict=True):
        unverified = hides(block, key) or explicit(block, key) or only_groups(block)
        result.append(actual if unverified else get_declared_regions(block, key, actual))
    return result[0], result[1]
