"""The rule that what nobody wrote is not read, for programs that users write."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import Access, surely_unwritten
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    child_towards,
    common_parent,
    is_block,
    is_init,
    is_inside,
    ops,
    parents,
    users,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, ALLOCS, BODIES
from tir_mlir.dialect.verify.coverage import covers
from tir_mlir.dialect.verify.violation import fail


def written_before_read(func: Func) -> None:
    """Check that no element of an allocation is read that certainly nothing wrote before.

    What cannot be decided is accepted: writes at indices from data, or under conditions on data.
    """
    for op in ops(func.op):
        if op.name in ALLOCS:
            buffer = op.results[0]
            found = [a for top in dict.fromkeys(users(buffer)) for a in accesses(top) if a.buffer == buffer]
            reads = [a for a in found if not a.is_write and a.op.name == AFFINE_LOAD]
            if reads and not _filled_before(reads, [a for a in found if a.is_write]):
                _check_flow(func, buffer, any(a.is_write for a in found))


def _check_flow(func: Func, buffer: ir.Value, is_written: bool) -> None:
    try:
        missing = surely_unwritten(buffer, func.op)
    except NotProvable:
        return
    if missing is None:
        return
    touch, point = missing
    element, at, name = touch.element(point), touch.at(point), Buffer(buffer).name
    place = next((p for p in parents(touch.access.op) if is_block(p)), touch.access.op)
    why = "writes it before" if is_written else f"writes {name}"
    text = f"{element} is read at {at}, but nothing {why}; write it in a block before, or in T.init()"
    fail(place, "cover", text, Counterexample((at,), element))


def _filled_before(reads: list[Access], writes: list[Access]) -> bool:
    """Fast path: whether one block fills the whole buffer, before all reads."""
    return any(
        (block := _filling_block(write)) is not None
        and all(_is_after_init(block, write, read) or _runs_before(block.op, read.op) for read in reads)
        for write in writes
    )


def _filling_block(write: Access) -> Block | None:
    """The block of a write that stores every element of the buffer; None if it is not obvious."""
    around = parents(write.op)
    inside = around[1:] if is_init(around[0]) else around
    if not is_block(inside[0]) or any(is_block(p) and Block(p).iters for p in inside[1:]):
        return None
    block, dims = Block(inside[0]), Buffer(write.buffer).dims
    if not write.exact or not write.is_point or block.where is not None or len(write.mins) != len(dims):
        return None
    free = {i.var: i for i in block.iters}
    for index, size in zip(write.mins, dims, strict=True):
        value = index.is_value()
        it = None if value is None else free.pop(value, None)
        if it is None or it.min.as_constant() != 0 or not it.extent.same(size):
            return None
    return block if covers(block) else None


def _is_after_init(block: Block, write: Access, read: Access) -> bool:
    """Whether a block reads the element that its init has written."""
    init = block.init
    if init is None or not is_inside(write.op, init) or is_inside(read.op, init) or not is_inside(read.op, block.op):
        return False
    return all(w.same(r) for w, r in zip(write.mins, read.mins, strict=True))


def _runs_before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether all of an op runs before another."""
    level = common_parent([first, second])
    if level == first or any(p.name not in BODIES and not _is_root(p) for p in [level, *parents(level)]):
        return False
    return child_towards(level, first).is_before_in_block(child_towards(level, second))


def _is_root(op: ir.Operation) -> bool:
    return is_block(op) and not Block(op).iters
