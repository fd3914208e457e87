"""Decompose a reduction block into results, combiner, identity, and the new values of one iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import EmitValue
from tir_mlir.dialect.ir import Block, Buffer, Index, access_indices, create, defining_op, edit, ops, walk
from tir_mlir.dialect.ir.op_traits import IDEMPOTENT, accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineLoadOp,
    AffineStoreOp,
    ChoiceOp,
    ConstantOp,
    IndexCastSIOp,
    LoadOp,
    StoreOp,
    isa,
)
from tir_mlir.passes.schedule.reduction.reducers import (
    OldValues,
    ReductionCombiner,
    arg_reducer,
    has_swapped_operands,
    scalar_reducer,
)
from tir_mlir.passes.schedule.registry import check, refuse

_KNOWN_REDUCERS = (
    "sum, difference, product, T.max, T.min, &, | and ^ (the old value first), each result by itself, and argmax "
    "and argmin as T.Select(x1 >= y1, x0, y0), T.Select(x1 >= y1, x1, y1) or T.Select(y1 > x1, y0, x0), "
    "T.Select(y1 > x1, y1, x1), in either order, with or without ties broken by position"
)

_SELECT_VALUE_FIX = "in the program, select the value by T.if_then_else, and store it once"
_COMBINE_AFTER_FIX = "and combine the old start in a block after the reduction"
_ONE_UPDATE_FIX = "in the program, combine all terms of a result in one update"


@dataclass(frozen=True)
class Updates:
    """`results[n][indices] = reducer(results[n][indices], new[n])`."""

    block: Block
    results: list[Buffer]
    indices: list[Index]
    reducers: list[tuple[ReductionCombiner, range]]  # each with the results that it combines

    @property
    def new(self) -> list[ir.Value]:
        return [value for reducer, _ in self.reducers for value in reducer.new]

    @property
    def terms(self) -> list[tuple[str, ir.Value]]:
        """What is combined into each result, with the name of the combiner."""
        return [(reducer.name, value) for reducer, _ in self.reducers for value in reducer.new]

    def combine(self, olds: Sequence[EmitValue], new: Sequence[EmitValue]) -> list[ir.Value]:
        """Emit the updated results at the insertion point."""
        combined: list[ir.Value] = []
        for reducer, span in self.reducers:
            combined += reducer.emit(olds[span.start : span.stop], new[span.start : span.stop])
        return combined

    def join(self, parts: Sequence[EmitValue], more: Sequence[EmitValue]) -> list[ir.Value]:
        """Emit the combination of partial results at the insertion point."""
        joined: list[ir.Value] = []
        for reducer, span in self.reducers:
            joined += (reducer.join or reducer.emit)(parts[span.start : span.stop], more[span.start : span.stop])
        return joined

    def write(self, targets: Sequence[ir.Value], indices: Sequence[Index], values: Sequence[ir.Value]) -> None:
        """Emit `targets[indices] = values`; several values are named, so that they print before the first store."""
        for target, value in zip(targets, values, strict=True):
            op = defining_op(value) if len(targets) > 1 else None
            if op is not None and not isa(op, IndexCastSIOp, ConstantOp):  # unnamed in the script
                edit.set_attribute(op, "tir.name", ir.StringAttr.get(f"v_{Buffer(target).name}"))
        for target, value in zip(targets, values, strict=True):
            create.store(value, target, indices)


@dataclass(frozen=True)
class BlockReduction(Updates):
    """Updates, with the constant `starts[n]` of each result."""

    starts: list[ir.Attribute]

    def parts_of_one(self, new: Sequence[EmitValue]) -> list[ir.Value]:
        """Emit the partial results of one iteration: the new values, which a difference takes from its start."""
        parts: list[ir.Value] = []
        for reducer, span in self.reducers:
            values, starts = new[span.start : span.stop], self.starts[span.start : span.stop]
            olds = [lambda s=s: arith.constant(s.type, s) for s in starts]  # type: ignore[attr-defined]
            parts += [make() for make in values] if reducer.join is None else reducer.emit(olds, values)
        return parts

    def write_starts(self, targets: Sequence[ir.Value], indices: Sequence[Index]) -> None:
        for target, start in zip(targets, self.starts, strict=True):
            create.store(arith.constant(start.type, start), target, indices)  # type: ignore[attr-defined]


def reduction_of(block: Block) -> BlockReduction:
    """Decompose a reduction block. Refuses unknown combiners, and inits other than the identity."""
    updates = updates_of(block)
    starts = init_values(updates)
    for reducer, span in updates.reducers:
        for number, identities in zip(span, reducer.identities, strict=True):
            _check_identity(block, reducer, updates.results[number], starts[number], identities)
    return BlockReduction(updates.block, updates.results, updates.indices, updates.reducers, starts)


def updates_of(block: Block) -> Updates:
    """The updates of a block, for any init. Refuses unknown combiners."""
    stores = _stores(block)
    results = [Buffer(accessed_memref(s)) for s in stores]
    indices = access_indices(stores[0])
    for store in stores[1:]:
        check(
            len(indices) == len(access_indices(store)) and all(map(Index.is_equal_to, indices, access_indices(store))),
            block,
            f'block "{block.name}" stores its results at different indices; a reduction into several '
            "buffers needs a single one",
            "in the program, compute each result in a block of its own",
        )
    _check_loads(block, stores, indices)
    reducers = _reducers(block, [StoreOp(s).value for s in stores], results)
    return Updates(block, results, indices, reducers)


def _stores(block: Block) -> list[ir.Operation]:
    """The stores of the update. Refuses a body of anything but pure values and stores to different buffers."""
    body = _update_ops(block)
    stores = [op for op in body if isa(op, AffineStoreOp)]
    inner = [o for op in body if op not in stores for o in ops(op)]
    for op in inner:
        if not is_pure(op) and not isa(op, ChoiceOp):
            refuse(
                block,
                f'the update of block "{block.name}" contains {op.name}; it must be one store for each '
                "result, at affine indices",
                fix=_SELECT_VALUE_FIX if isa(op, AffineStoreOp) else "",
            )
    targets = [accessed_memref(s) for s in stores]
    plain = bool(stores) and len(set(targets)) == len(targets) and all(Buffer(t).root.value == t for t in targets)
    text = f'the update of block "{block.name}" is not one store for each of its results'
    check(plain, block, text, _ONE_UPDATE_FIX if len(set(targets)) < len(targets) else "")
    return stores


def _update_ops(block: Block) -> list[ir.Operation]:
    """The ops of a block that are not its init."""
    init = block.init
    return [op for op in block.body_ops() if init is None or op != init]


def _check_loads(block: Block, stores: Sequence[ir.Operation], indices: Sequence[Index]) -> None:
    """Refuse unless each result is read at the index where it is stored, before the store."""
    stored: set[ir.Value] = set()
    for op in _update_ops(block):
        for inner in ops(op):
            if not isa(inner, LoadOp) or accessed_memref(inner) not in {accessed_memref(s) for s in stores}:
                continue
            name = Buffer(accessed_memref(inner)).name
            same = isa(inner, AffineLoadOp) and all(map(Index.is_equal_to, indices, access_indices(inner)))
            check(same, block, f'block "{block.name}" reads {name} at another index than it stores')
            check(
                accessed_memref(inner) not in stored,
                block,
                f'block "{block.name}" reads {name} again after storing it; compute all results before the first store',
            )
        if op in stores:
            stored.add(accessed_memref(op))


def _reducers(block: Block, values: list[ir.Value], results: Sequence[Buffer]) -> list[tuple[ReductionCombiner, range]]:
    olds = OldValues([b.value for b in results])
    if len(values) == 2 and (both := arg_reducer(values, olds)) is not None:
        reducers = [(both, range(2))]
    else:
        reducers = []
        for number, value in enumerate(values):
            reducer_of_value = scalar_reducer(value, number, olds)
            if reducer_of_value is None:
                _refuse_update(block, value, number, olds, results[number])
            reducers.append((reducer_of_value, range(number, number + 1)))
    for reducer, _ in reducers:
        for value in reducer.new:
            _check_no_old(block, value, olds)
    return reducers


def _refuse_update(block: Block, value: ir.Value, number: int, olds: OldValues, result: Buffer) -> None:
    if has_swapped_operands(value, number, olds):
        refuse(
            block,
            f'the update of block "{block.name}" has the old value of {result.name} on the right; write it as'
            f" {result.name}[...] = {result.name}[...] + new value",
        )
    refuse(
        block,
        f'the update of {result.name} in block "{block.name}" is not a known reduction; known are {_KNOWN_REDUCERS}',
    )


def _check_no_old(block: Block, value: ir.Value, olds: OldValues) -> None:
    """Refuse when a combined value depends on the results themselves."""
    op = defining_op(value)
    if op is None or not walk.is_inside(op, block.op):
        return
    for inner in ops(op):
        for result in inner.results:
            if (number := olds.number(result)) is not None:
                name = Buffer(olds.buffers[number]).name
                refuse(
                    block,
                    f'the values that block "{block.name}" combines into its results depend on {name} itself; '
                    "parts of such a reduction are not independent",
                )
    for operand in edit.captured_values(op):
        if not isinstance(operand.type, ir.MemRefType):
            _check_no_old(block, operand, olds)


def init_values(updates: Updates) -> list[ir.Attribute]:
    """The constant that the init stores to each result, at the index of the update."""
    block, results, indices = updates.block, updates.results, updates.indices
    init = block.init
    body = Block(init).body_ops() if init is not None else []
    stored: dict[ir.Value, ir.Attribute] = {}
    for op in body:
        if isa(op, AffineStoreOp) and all(map(Index.is_equal_to, indices, access_indices(op))):
            value = defining_op(StoreOp(op).value)
            if value is not None and isa(value, ConstantOp):
                stored[accessed_memref(op)] = value.attributes["value"]
    count = len([op for op in body if not isa(op, ConstantOp)])
    if set(stored) != {b.value for b in results} or count != len(results):
        names = ", ".join(b.name for b in results)
        text = (
            f'the init of block "{block.name}" does not store one constant to each of {names} at the '
            "index of the update"
        )
        refuse(block, text, fix=f"in the program, start from a constant, {_COMBINE_AFTER_FIX}")
    return [stored[b.value] for b in results]


def _check_identity(
    block: Block, reducer: ReductionCombiner, result: Buffer, start: ir.Attribute, identities: Sequence[float]
) -> None:
    """Refuse a start other than the identity: it is combined once for each part, which only a maximum, a minimum, an
    `and` or an `or` does not show.
    """
    value = start.value  # type: ignore[attr-defined]
    if reducer.name not in IDEMPOTENT and value not in identities:
        words = " or ".join(f"{k:g}" for k in identities)
        refuse(
            block,
            f"the init of {result.name} is {value:g}, which is not the identity of {reducer.name} "
            f"({words}): every part of the reduction would start from it, so it would count several "
            "times",
            fix=f"in the program, start from the identity, {_COMBINE_AFTER_FIX}",
        )


def clone_value(value: ir.Value, block: Block, ip: ir.InsertionPoint, done: dict[ir.Value, ir.Value]) -> ir.Value:
    """Clone the ops of a block that compute a value; `done` maps old values to cloned ones."""
    op = defining_op(value)
    mine = op is not None and (isa(op, ConstantOp) or walk.is_inside(op, block.op))
    if value in done or op is None or not mine:
        return done.get(value, value)
    for operand in edit.captured_values(op):
        clone_value(operand, block, ip, done)
    new = edit.clone(op, ip, done)
    done |= dict(zip(op.results, new.results, strict=True))
    return done[value]


def loaded_values(buffers: Sequence[ir.Value], indices: Sequence[Index]) -> list[EmitValue]:
    """`buffer[indices]` of each buffer, loaded where it is used."""
    return [lambda b=b: create.load(b, indices) for b in buffers]


def cloned_values(values: Sequence[ir.Value], block: Block, ip: ir.InsertionPoint) -> list[EmitValue]:
    """Values of a block, cloned where they are used."""
    done: dict[ir.Value, ir.Value] = {}
    return [lambda v=v: clone_value(v, block, ip, done) for v in values]
