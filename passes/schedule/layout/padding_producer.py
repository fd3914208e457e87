"""Extend a producer that writes a buffer in row-major order to the new layout, so that it also writes the padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    IterSpec,
    Loop,
    access_indices,
    create,
    edit,
    is_block,
    is_init,
    is_loop,
    ops,
    parent_op,
    walk,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, AFFINE_STORE, CHOICES, NO_ACCESS, is_pure
from tir_mlir.passes.schedule.edits import replace_iters
from tir_mlir.passes.schedule.layout.apply_layout import simplify_indices
from tir_mlir.passes.schedule.layout.layout_padding import PaddingValue


@dataclass(frozen=True)
class RowMajorProducer:
    """A block that stores `buffer[iters]`, each iter bound to one of the serial `loops`, in order."""

    block: Block
    iters: list[Iter]
    loops: list[Loop]


def row_major_producers(buffer: Buffer, stores: Sequence[ir.Operation]) -> list[RowMajorProducer] | None:
    """The sweeps that all stores of a buffer belong to; None if a store belongs to none."""
    found: dict[ir.Operation, RowMajorProducer] = {}
    for store in stores:
        home = parent_op(store)
        while not is_block(home):
            if not is_init(home):
                return None
            home = parent_op(home)
        if home not in found:
            sweep = _row_major_producer(buffer, Block(home), [s for s in stores if walk.is_inside(s, home)])
            if sweep is None:
                return None
            found[home] = sweep
    return list(found.values())


def _row_major_producer(buffer: Buffer, block: Block, stores: Sequence[ir.Operation]) -> RowMajorProducer | None:
    if block.where is not None or not buffer.rank or not _is_plain(block, stores):
        return None
    own = {i.var: i for i in block.iters}
    found: list[list[Iter]] = []
    for store in stores:
        values = [i.is_value() for i in access_indices(store)] if store.name == AFFINE_STORE else [None]
        iters = [own[v] for v in values if v is not None and v in own and own[v].kind == "S"]
        if len(iters) != buffer.rank or len(set(values)) != buffer.rank:
            return None
        found.append(iters)
    if any(one != found[0] for one in found):
        return None
    loops = _loops(buffer, block, found[0])
    return None if loops is None else RowMajorProducer(block, found[0], loops)


def _is_plain(block: Block, stores: Sequence[ir.Operation]) -> bool:
    """Whether a body is side-effect free except for these stores: one at the end, one in the init."""
    body = block.body_ops()
    if not body or body[-1] not in stores or len(stores) > 1 + (block.init is not None):
        return False
    for op in ops(block.op)[1:]:
        choice = op.name in CHOICES
        if op not in stores and not (is_pure(op) or choice):
            return False
    if block.init is None:
        return True
    inside = list(block.init.regions[0].blocks[0].operations)
    return inside[-2].operation in stores


def _loops(buffer: Buffer, block: Block, iters: Sequence[Iter]) -> list[Loop] | None:
    """The loops that iters are bound to: perfectly nested in order, plain, covering the buffer, otherwise unused."""
    loops = []
    for it, dim in zip(iters, buffer.dims, strict=True):
        var = it.binding.is_value()
        home = var.owner.owner.operation if var is not None and isinstance(var.owner, ir.Block) else None
        if home is None or not is_loop(home):
            return None
        loop = Loop(home)
        plain = len(loop.lowers) == len(loop.uppers) == 1 and loop.kind == "serial" and not loop.annotations
        from_zero = loop.lower.as_constant() == 0 and it.min.as_constant() == 0
        if not (plain and from_zero and loop.upper.same(dim) and it.extent.same(dim)):
            return None
        if any(use.owner.operation != block.op for use in loop.var.uses) or _used_twice(block, loop, it):
            return None
        loops.append(loop)
    chain = [lp.op for lp in loops]
    for outer, inner in zip(chain, chain[1:], strict=False):
        if Loop(outer).body_ops() != [inner]:
            return None
    current = chain[-1]
    while current != block.op:
        held = Loop(current).body_ops()
        if len(held) != 1 or not (is_loop(held[0]) or held[0] == block.op):
            return None
        current = held[0]
    return loops


def _used_twice(block: Block, loop: Loop, it: Iter) -> bool:
    return any(loop.var in other.binding.values for other in block.iters if other.var != it.var)


# --- rewrite ----------------------------------------------------------------------------------------------------------


def extend_producer(sweep: RowMajorProducer, value: PaddingValue, buffer: Buffer) -> None:
    """Extend loops and iters to the new dimensions, and store the padding value where there is no element."""
    held = sweep.loops[-1].body_ops()
    first = sweep.loops[0].op
    shape = value.change.shape
    with ir.InsertionPoint(first), first.location:
        loops = [create.loop(value.names[0], 0, shape[0])]
        for name, extent in zip(value.names[1:], shape[1:], strict=True):
            with create.at_end(loops[-1].body):
                loops.append(create.loop(name, 0, extent))
    end = list(loops[-1].body.operations)[-1]
    for op in held:
        edit.move_before(op, end)
    block, at = _replace_iters(sweep, value, loops)
    edit.erase(first)
    if block.init is not None:
        _select_padding(list(block.init.regions[0].blocks[0].operations)[-2].operation, value, at)
    _select_padding(block.body_ops()[-1], value, at)
    for op in ops(block.op):
        if op.name in AFFINE_ELEMENT_ACCESSES:
            # in the padding the inverse map is arbitrary: store at the new index itself
            better = iter(at if op.name == AFFINE_STORE else simplify_indices(op, access_indices(op)))
            edit.rewrite_indices(op, lambda _, better=better: next(better))


def _replace_iters(sweep: RowMajorProducer, value: PaddingValue, loops: Sequence[Loop]) -> tuple[Block, list[Index]]:
    """The block with iters over the new dimensions in place of the old ones, and these iters."""
    replaced = [i.var for i in sweep.iters]
    kept = [i for i in sweep.block.iters if i.var not in replaced]
    start = next(n for n, i in enumerate(sweep.block.iters) if i.var in replaced)
    pairs = zip(loops, value.change.shape, strict=True)
    specs, wide = [IterSpec.like(i) for i in kept], any(i.is_wide for i in sweep.iters)
    specs[start:start] = [IterSpec(f"v_{lp.name}", "S", 0, extent, Index.of(lp.var), wide) for lp, extent in pairs]

    def old(values: Sequence[Index]) -> dict[ir.Value, Index]:
        own = values[start : start + len(loops)]
        found = dict(zip(replaced, value.change.back(own), strict=True))
        rest = [*values[:start], *values[start + len(loops) :]]
        return found | {i.var: v for i, v in zip(kept, rest, strict=True)}

    made = replace_iters(sweep.block, specs, old)
    return made, [Index.of(i.var) for i in made.iters[start : start + len(loops)]]


def _select_padding(store: ir.Operation, value: PaddingValue, at: Sequence[Index]) -> None:
    """`B[at] = x` -> `B[at] = T.if_then_else(padding, pad, x)`; x is computed only where it is used."""
    steps = [o.operation for o in store.block.operations]
    steps = [o for o in steps[: steps.index(store)] if not is_init(o) and o.name not in NO_ACCESS]

    def other() -> ir.Value:
        here = ir.InsertionPoint.current.block
        for step in steps:
            here.append(step)
        return store.operands[0]

    with ir.InsertionPoint(store), store.location:
        edit.set_operand(store, 0, value.chosen(at, other))
