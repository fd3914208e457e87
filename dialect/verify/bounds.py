"""The rules of bounds: iters are bound inside their domains, buffers are accessed inside their shapes, views of an
arena lie inside it."""

from __future__ import annotations

from itertools import pairwise

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, access_domain, accesses_of_op, is_reshaped, known_indices, view_access
from tir_mlir.dialect.calls import ArenaView, is_arena_view
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration, NotProvable
from tir_mlir.dialect.ir import Block, Buffer, Constraint, Index, Iter, constraints, is_block, parents
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineAccessOp, AffineElementAccessOp, AffineIfOp, ComputedAccessOp, isa
from tir_mlir.dialect.presburger import (
    constraint_set,
    domain,
    holds,
    intervals,
    nonneg,
    only_where,
    over_digits,
    question,
)
from tir_mlir.dialect.verify.violation import coordinates_text, example, fail, fail_undecided

ARENA = "arena"


def bindings_in_domain(op: ir.Operation) -> None:
    """Check that every value bound to an iter is in the iter's domain, wherever the block runs."""
    box = intervals.enclosing_ranges(op)
    if intervals.are_bindings_in_domain(op, box):
        return
    block = Block(op)
    open_bounds = _open_bounds(block, box)
    if not open_bounds:
        return
    dom = domain(op)
    for number, index in open_bounds:
        with question(f'the bindings of block "{block.name}"'):
            outside = dom.set.subtract(constraint_set(dom, Constraint(index)))
            if outside.is_empty():
                continue
        it = block.iters[number]
        coordinates, value = example(dom, outside, it.binding, op)
        iteration = coordinates_text(coordinates)
        size = it.extent.as_constant()
        low = it.min.as_constant() or 0
        has = f"[{low}, {low + size})" if size is not None else "of symbolic size"
        if not dom.exact:
            fail_undecided(op, "domain", f'iter {it.name} of block "{block.name}" is bound within its domain {has}')
        fail(
            op,
            "domain",
            f'block "{block.name}": iter {it.name} has the domain {has}, but it is bound to {value} at {iteration}'
            f"{only_where(outside, op)}",
            Counterexample((Iteration(block.name, coordinates),)),
        )


def _open_bounds(block: Block, box: intervals.ValueRanges) -> list[tuple[int, Index]]:
    """What intervals and digits leave open: the number of an iter, and what has to be at least 0 of its binding."""
    bounds: list[tuple[int, Index]] = []
    unit = Index.constant(1)
    for number, it in enumerate(block.iters):
        if intervals.is_in_range(it.binding, unit, it.min, it.extent, box):
            continue
        size = it.extent.as_constant()
        if size is not None and size < 0:
            fail(block.op, "domain", f'iter {it.name} of block "{block.name}" has a negative extent {size}')
        for index, is_low in ((it.binding - it.min, True), (it.min + it.extent - it.binding - 1, False)):
            if not intervals.at_least_zero(index, box) and not _inside_by_digits(block.op, it, is_low):
                bounds.append((number, index))
    return bounds


def _inside_by_digits(op: ir.Operation, it: Iter, is_low: bool) -> bool:
    """Whether a binding is not below (not above) its iter's domain; by the digits of fused loops, False is unknown."""
    low, extent = it.min.as_constant(), it.extent.as_constant()
    if low is None or extent is None:
        return False
    last = isl.Val(str(low + extent - 1))  # the number may be larger than 64 bits
    try:
        with question(f"the digits of iter {it.name}"):
            digits = over_digits(op, None, Block(op).bindings)
            if digits is None:
                return False
            value = digits.aff(it.binding)
            distance = value.add_constant_val(isl.Val(-low)) if is_low else value.neg().add_constant_val(last)
            return digits.set.is_subset(nonneg(distance))
    except NotProvable:
        return False


def access_shape(op: ir.Operation) -> None:
    """Check that every access with an affine index, or one known from a table, is inside its buffer."""
    check_access(op)


def check_access(op: ir.Operation) -> bool:
    """The same; returns whether all indices of the op are of these kinds, so that it is proved to be inside."""
    if isa(op, AffineElementAccessOp) and intervals.is_access_in_bounds(
        op, accessed_memref(op), intervals.enclosing_ranges(op)
    ):
        return True
    if isa(op, AffineAccessOp) and is_reshaped(Buffer(accessed_memref(op))):
        return _inside_view(op)
    proved = not isa(op, ComputedAccessOp) or None not in known_indices(op)
    for access in accesses_of_op(op):
        if access.exact or (isa(op, ComputedAccessOp) and access_domain(access).exact):
            in_bounds(op, access)
        else:
            proved = False
    return proved


def _inside_view(op: ir.Operation) -> bool:
    """The same for an affine access of a view with other strides than its root."""
    if not ir.MemRefType(accessed_memref(op).type).has_static_shape:
        return False
    in_bounds(op, view_access(op))
    return True


def in_bounds(op: ir.Operation, access: Access) -> None:
    """Check that an access is inside its buffer, wherever it runs."""
    buffer = Buffer(access.buffer)
    box = intervals.enclosing_ranges(op)
    start = Index.constant(0)
    for number, (low, extent, size) in enumerate(zip(access.mins, access.extents, buffer.dims, strict=True)):
        if intervals.is_in_range(low, extent, start, size, box):
            continue
        checks = (low, size - low - extent)
        open_ = [c for c in checks if not intervals.at_least_zero(c, box) and not _is_condition(c, op)]
        if not open_:
            continue
        dom = access_domain(access)
        for check in open_:
            with question(f"the bounds of {buffer.name}"):
                outside = dom.set.subtract(constraint_set(dom, Constraint(check)))
                empty = outside.is_empty()
            if not empty:
                coordinates, value = example(dom, outside, low, op)
                limit, many = size.as_constant(), extent.as_constant() or 1
                position = f"index {value}" if many == 1 else f"indices {value} to {value + many - 1}"
                have = f"has {limit} rows" if limit is not None else "has a symbolic size"
                kind = "written" if access.is_write else "read"
                out = f"at {position} in dimension {number}, which {have}"
                if not dom.exact:
                    fail_undecided(op, "bounds", f"{buffer.name} is never {kind} {out}")
                fail(
                    op,
                    "bounds",
                    f"{buffer.name} is {kind} {out}, at {coordinates_text(coordinates)}{only_where(outside, op)}",
                    Counterexample((Iteration(_block_name(op), coordinates),), _in_dim(buffer, number, value)),
                )


def _is_condition(index: Index, op: ir.Operation) -> bool:
    """Whether a condition around an op says that an index is not negative, as `X[i - 1] if 1 <= i` does of i - 1."""
    chain = [op, *parents(op)]
    for child, parent in pairwise(chain):
        if isa(parent, AffineIfOp) and child.block == parent.regions[0].blocks[0]:
            gaps = [(index - c.index).simplify().as_constant() for c in constraints(parent)]
            if any(gap is not None and gap >= 0 for gap in gaps):
                return True
    return False


def _block_name(op: ir.Operation) -> str:
    return next((Block(p).name for p in parents(op) if is_block(p)), "") or "statement"


def _in_dim(buffer: Buffer, number: int, value: int) -> Element:
    return Element.from_indices(buffer.name, [value if d == number else ":" for d in range(buffer.rank)])


# --- views of an arena: of bytes, inside it, at a multiple of the element ---------------------------------------------


def arena_view(op: ir.Operation) -> None:
    """Check a `memref.view`."""
    view = ArenaView(op)
    if is_arena_view(view.arena.op):
        fail(op, ARENA, f"{view.buffer.name} is a view of the view {view.arena.name}; make it a view of the arena")
    size, name = view.size, view.buffer.name
    if size is None:
        text = f"it is not provable that the view {name} is inside {view.arena.name}: two of its extents are symbolic"
        fail(op, ARENA, text, provable=False)
    end = view.arena.dims[0] - view.offset - size
    _check(op, view, view.offset, f"the view {name} starts inside {view.arena.name}")
    _check(op, view, end, f"the view {name} ends inside {view.arena.name}")
    if not _is_multiple(op, view.offset, view.width):
        multiple = f"a multiple of {view.width}, the bytes of a {view.buffer.dtype}"
        offset = view.offset.as_constant()
        has = f"byte {offset} is not" if offset is not None else "it is not provable that its offset is"
        fail(op, ARENA, f"the view {name} starts at {multiple}: {has}", provable=offset is not None)


def _is_multiple(op: ir.Operation, index: Index, factor: int) -> bool:
    number = index.as_constant()
    if number is not None:
        return number % factor == 0
    try:
        with question("where a view starts"):
            return holds(domain(op, extra=[index]), index % factor, is_eq=True)
    except (KeyError, NotProvable):
        return False


def _check(op: ir.Operation, view: ArenaView, index: Index, claim: str) -> None:
    """Check that an expression is never negative."""
    number = index.as_constant()
    if number is not None and number >= 0:
        return
    try:
        with question(claim):
            dom = domain(op, extra=[index])
            outside = dom.set.subtract(constraint_set(dom, Constraint(index)))
            if outside.is_empty():
                return
    except (KeyError, NotProvable):
        fail(op, ARENA, f"it is not provable that {claim}", provable=False)
    if not dom.exact:
        fail(op, ARENA, f"it is not provable that {claim}", provable=False)
    size, offset = view.size, view.offset
    begin, end = (example(dom, outside, i, op)[1] for i in (offset, offset + size))  # type: ignore[operator]
    has = example(dom, outside, view.arena.dims[0], op)[1]
    fail(
        op,
        ARENA,
        f"the view {view.buffer.name} has the bytes {begin} to {end} of {view.arena.name}, which has"
        f" {has}{only_where(outside, op)}",
    )
