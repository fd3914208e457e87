"""What an iteration of a loop uses of a buffer, and planes: as many copies of that as iterations are under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import dataflow
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    IterSpec,
    Loop,
    access_indices,
    attrs,
    is_block,
    is_inside,
    is_loop,
    parents,
    step,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineStoreOp, isa
from tir_mlir.dialect.presburger import intervals, question, sets
from tir_mlir.passes.schedule.edits.block_iters import replace_iters
from tir_mlir.passes.schedule.layout.apply_layout import (
    LayoutChange,
    add_dimension,
    apply_layout,
    check_users,
    finish_layout,
    size_sources,
)
from tir_mlir.passes.schedule.registry import DECOMPOSE_REDUCTION, check, refuse


@dataclass(frozen=True)
class Part:
    """What one iteration of a loop uses of a buffer, and no other one does: `size` indices from `start` on along a
    dimension; None: all of it, which each iteration writes anew."""

    buffer: Buffer
    dimension: int | None
    start: Index
    size: int


def find_part(buffer: Buffer, loop: Loop, culprit: Block) -> Part:
    """The part of a buffer that an iteration of a loop uses. Refuses one whose iterations share elements or values.

    culprit: the block to mark in messages.
    """
    check(not buffer.is_param, culprit, f"{buffer.name} is a parameter; a copy writes a buffer of the program")
    check_users(buffer)
    for use in buffer.value.uses:
        user = use.owner.operation
        if isa(user, AffineElementAccessOp) and not is_inside(user, loop.op):
            refuse(user, f"{buffer.name} is used outside of loop {loop.name}")
        if not isa(user, AffineElementAccessOp):
            refuse(user, f"an index of {buffer.name} is not affine")
    with question(f"whether iterations of {loop.name} write what they read of {buffer.name}"):
        early = dataflow.unwritten_reads(buffer.value, loop.op)
    if early is not None:
        touch, point = early
        refuse(
            culprit,
            f"at {touch.iteration_at(point)}, {buffer.name} is read and was not written in the same iteration of "
            f"{loop.name}",
            True,
        )
    store = next(op for op in walk.ops(loop.op) if isa(op, AffineStoreOp) and accessed_memref(op) == buffer.value)
    part = Part(buffer, *_own_dimension(store, buffer, loop))
    for use in buffer.value.uses if part.dimension is not None else ():
        _check_in_part(use.owner.operation, part, loop)
    return part


def _own_dimension(store: ir.Operation, buffer: Buffer, loop: Loop) -> tuple[int | None, Index, int]:
    """The dimension along which the loop moves, the first index there of an iteration, and the indices to the next one.

    The first index is a multiple of these: then the quotient counts the iterations. No dimension: the loop moves along
    none.
    """
    bindings, ranges = _bindings(store), intervals.enclosing_ranges(store)
    inner = {Loop(p).var for p in parents(store) if is_loop(p) and p != loop.op and is_inside(p, loop.op)}
    moved = []
    for dimension, index in enumerate(access_indices(store)):
        terms = intervals.summands(intervals.expand_index(index.substitute(bindings), ranges))
        if not any(loop.var in term.values for term in terms):
            continue
        outside = sum((t for t in terms if not inner & {*t.values}), Index.constant(0)).simplify()
        own = sum((t for t in terms if inner & {*t.values}), Index.constant(0)).simplify()
        size = step(outside, loop.var)
        least, most = intervals.interval(own, ranges)
        if size is None or loop.var in own.values or least is None or most is None or not 0 <= most - least < size:
            refuse(
                store,
                f"along dimension {dimension} of {buffer.name}, an iteration of {loop.name} does not have a part of "
                "its own",
            )
        moved.append((dimension, (outside + least).simplify(), size))
    if not moved:
        return None, Index.constant(0), 1
    if len(moved) != 1:
        refuse(store, f"loop {loop.name} moves the copy along {len(moved)} dimensions of {buffer.name}, not along one")
    dimension, start, size = moved[0]
    factors, constant = intervals.linear_terms(start.expr)
    if any(factor % size for factor in (*factors.values(), constant)):
        refuse(store, f"the part of {buffer.name} of an iteration does not begin at a multiple of {size}")
    return dimension, start, size


def _bindings(op: ir.Operation) -> dict[ir.Value, Index]:
    """The iters of the blocks around an op as expressions of loops."""
    values: dict[ir.Value, Index] = {}
    for block in reversed([Block(p) for p in parents(op) if is_block(p)]):
        values |= {i.var: i.binding.substitute(values) for i in block.iters}
    return values


def _check_in_part(access: ir.Operation, part: Part, loop: Loop) -> None:
    """Refuse an access outside of the part of its iteration."""
    assert part.dimension is not None
    index = access_indices(access)[part.dimension]
    inside = (index - part.start, part.start + (part.size - 1) - index)
    with question(f"whether an access is in the part of {part.buffer.name} of its iteration"):
        dom = sets.domain(access, extra=inside)
        if not all(sets.holds(dom, condition) for condition in inside):
            refuse(
                access, f"{part.buffer.name} is accessed outside of the part that its iteration of {loop.name} copies"
            )


# --- the rewrite ------------------------------------------------------------------------------------------------------


def make_planes(part: Part, planes: int, loop: Loop) -> None:
    """Give a buffer a first dimension of planes, of which iteration k uses number k modulo the planes; none for one.

    Along its dimension, the part of one iteration remains. A block without an iter that counts the iterations gets one.
    """
    buffer = part.buffer
    if part.dimension is None:
        if planes > 1:
            _number_iterations(buffer, Loop(loop.op))
            for op, names in _ordered_kinds(buffer, loop, lambda store: _iteration_at(store, loop)).items():
                attrs.put(op, attrs.ITERS, names)
            add_dimension(buffer, planes, lambda op: _iteration_at(op, loop) % planes)
        return
    dimension = part.dimension
    kinds = _ordered_kinds(buffer, loop, lambda store: access_indices(store)[dimension])
    source = Block(next(p for p in parents(_first_store(buffer)) if is_block(p)))
    change = LayoutChange.from_extents(_plane_map(part, planes), buffer.dims, source.op)
    sources = size_sources(buffer, change)
    finish_layout(buffer, apply_layout(buffer, change), sources)
    for op, names in kinds.items():
        attrs.put(op, attrs.ITERS, names)


def _first_store(buffer: Buffer) -> ir.Operation:
    return next(use.owner.operation for use in buffer.value.uses if isa(use.owner.operation, AffineStoreOp))


def _ordered_kinds(
    buffer: Buffer, loop: Loop, number: Callable[[ir.Operation], Index]
) -> dict[ir.Operation, list[str]]:
    """The kinds of the iters of the blocks in the loop around stores: those that number the iterations are opaque, as
    several iterations write one plane."""
    kinds: dict[ir.Operation, list[str]] = {}
    for use in buffer.value.uses:
        if isa(store := use.owner.operation, AffineStoreOp):
            moving = set(number(store).values)
            for block in [Block(p) for p in parents(store) if is_block(p) and is_inside(p, loop.op)]:
                names = kinds.get(block.op, [i.kind for i in block.iters])
                kinds[block.op] = ["O" if i.var in moving else k for i, k in zip(block.iters, names, strict=True)]
                moving |= {v for i in block.iters if i.var in moving for v in i.binding.values}
    return kinds


def _plane_map(part: Part, planes: int) -> IndexMap:
    d, size = part.dimension or 0, part.size

    def plane(*index: Index) -> list[Index]:
        number = [(index[d] // size) % planes] if planes > 1 else []
        return [*number, *index[:d], index[d] % size, *index[d + 1 :]]

    return IndexMap.wrap(plane, part.buffer.rank)


# --- the number of an iteration, in blocks ----------------------------------------------------------------------------


def check_numbers(part: Part, loop: Loop) -> None:
    """Refuse planes that need an iter for the loop in a block that cannot get one."""
    if part.dimension is not None:
        return
    for use in part.buffer.value.uses:
        outer: Index | None = Index.from_value(loop.var)
        for block in _blocks_around(use.owner.operation, loop):
            outer = None if outer is None else _count_in(block, outer)
            if outer is None and block.init is not None:
                refuse(
                    block,
                    f"no iter of block {block.name} counts the iterations of {loop.name}, of which "
                    f"{part.buffer.name} gets planes, and a block with an init gets none",
                    fix=DECOMPOSE_REDUCTION,
                )


def _blocks_around(op: ir.Operation, loop: Loop) -> list[Block]:
    """The blocks between a loop and an op in it, outer to inner."""
    return [Block(p) for p in parents(op)[::-1] if is_block(p) and is_inside(p, loop.op)]


def _count_in(block: Block, outer: Index) -> Index | None:
    """A value that is known around a block, such as the number of an iteration, as an expression of its iters; None if
    no iter determines it."""
    ranges = intervals.enclosing_ranges(block.outermost)
    exact = next((i for i in block.iters if i.binding.is_equal_to(outer)), None)
    if exact is not None:
        return Index.from_value(exact.var)
    value = outer.is_value()
    for it in block.iters:
        size = step(it.binding, value) if value is not None else None
        rest = None if not size else (it.binding - outer * size).simplify()
        if size is None or rest is None or size < 1 or value in rest.values:
            continue
        least, most = intervals.interval(rest, ranges)
        if least is not None and most is not None and least >= 0 and most < size:
            return Index.from_value(it.var) // size
    return None


def _number_iterations(buffer: Buffer, loop: Loop) -> None:
    """Give each block around an access of a buffer an iter that counts the iterations of a loop, unless it has one."""
    for op in [use.owner.operation for use in buffer.value.uses]:
        outer = Index.from_value(loop.var)
        for number in [block.id for block in _blocks_around(op, loop)]:
            block = Block(walk.op_with_id(loop.op, number))
            count = _count_in(block, outer)
            if count is None:
                block = _add_iter(block, outer, loop)
                count = Index.from_value(block.iters[-1].var)
            outer = count


def _add_iter(block: Block, binding: Index, loop: Loop) -> Block:
    names = {i.name for i in block.iters}
    name = next(n for n in (f"v{loop.name}", *(f"v{loop.name}_{i}" for i in range(len(names)))) if n not in names)
    specs = [*map(IterSpec.like, block.iters), IterSpec(name, "O", 0, loop.upper, binding, loop.is_wide)]
    old = [i.var for i in block.iters]
    return replace_iters(block, specs, lambda new: dict(zip(old, new[:-1], strict=True)))


def _iteration_at(op: ir.Operation, loop: Loop) -> Index:
    """The number of the iteration at an access, in which each block has an iter for it."""
    value = Index.from_value(loop.var)
    for block in _blocks_around(op, loop):
        count = _count_in(block, value)
        assert count is not None, "each block around an access has got an iter"
        value = count
    return value
