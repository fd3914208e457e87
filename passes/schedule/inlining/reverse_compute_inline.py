"""reverse_compute_inline: inline an elementwise consumer into its producer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, access_domain, accesses_of_op
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.diagnostics import NotAffine, NotProvable, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Loop,
    access_indices,
    attrs,
    create,
    edit,
    enclosing_block,
    fold_known,
    freeze_modules,
    is_inside,
    is_loop,
    ops,
    parent_op,
    parents,
    same_indices,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineLoadOp, AffineStoreOp, ElementLoadOp, StoreOp, isa
from tir_mlir.dialect.presburger import constraint_set, domain, full_box, holds, question, to_index
from tir_mlir.dialect.presburger.guards import drop_implied_conditions
from tir_mlir.dialect.verify.iter_kinds import iter_kinds
from tir_mlir.passes.schedule.edits import set_domain
from tir_mlir.passes.schedule.inlining.block_expression import (
    BlockExpression,
    Inverse,
    check_visible,
    clone_expression,
    expression_of,
    inverse_of,
)
from tir_mlir.passes.schedule.inlining.compute_inline import remove
from tir_mlir.passes.schedule.legality import (
    Scope,
    check_complete,
    check_complete_or_reduction,
    check_runs_after,
    common_ancestor,
    compared_elements,
    elements_over,
    in_order,
    is_child,
    ops_between,
    producers,
    scope_of,
    smallest_element,
    writers,
    writes_of,
)
from tir_mlir.passes.schedule.registry import (
    DECOMPOSE_REDUCTION,
    MOVE_UNDER_ONE_LOOP,
    cache_write_first,
    check,
    inline_producer,
    primitive,
    refuse,
)

_PARTIAL_COPY = 'block "{}" copies only part of what the reduction "{}" computes'
_FUSE_EPILOGUE = "fuse_reduction_epilogue merges an addition to it; otherwise reverse_compute_at"


@primitive("reverse_compute_inline", moves="into others")
def reverse_compute_inline(block: Block) -> None:
    """Merge a consumer into the block that produces its input, and erase the intermediate buffer.

        for i in range(n):                            for i in range(n):
            with T.block("B"): B[vi] = f(A[vi])           with T.block("B"): C[vi] = g(f(A[vi]))
        for i in range(n):                       ->
            with T.block("C"): C[vi] = g(B[vi])

    The merged block keeps the name and iters of the producer; in a producer with blocks inside, it is the one with the
    store. If the consumer reads only part of what the producer computes, a guard excludes the rest. Every element of
    the result gets the same value as before. Annotations that prefetch the intermediate buffer prefetch the result.

    Requires: both bodies are one store of a pure value (that of the producer may be in loops inside the block), all
    iters spatial, no init (but a pure copy also merges into a reduction, which then runs in the buffer of the copy);
    the consumer reads the buffer that the producer computes always at the same index, which determines its iters, and
    has no guard; nothing else uses that buffer; no op between the two accesses the result or writes another input of
    the consumer, which may be complete before (the producer is that of the input that is computed last); the consumer
    reads exactly what the producer computes, or a part that a guard on the producer can select.
    """
    with freeze_modules():
        pair = _pair(block)
        _check_between(pair)
        conditions = _conditions(pair)
        if pair.producer.block.init is not None:
            check(
                not conditions, block, _PARTIAL_COPY.format(block.name, pair.producer.block.name), MOVE_UNDER_ONE_LOOP
            )
        part = "a part, which a guard selects, of" if conditions else "each element of"
        emit_remark(f"block `{block.name}` reads {part} `{pair.producer.buffer.name}` once, which nothing else uses")
    _rewrite(pair, conditions)


def _rewrite(pair: _ProducerConsumerPair, conditions: list[Constraint]) -> None:
    block, producer_id, buffer = pair.consumer.block, pair.producer.block.id, pair.producer.buffer
    scope = scope_of(block)
    position = walk.position(walk.child_towards(scope.op, pair.producer.block.op))

    recompute_regions(pair.producer.block, scope)
    if pair.producer.block.init is not None:
        redirect(pair.producer.block, buffer, pair.consumer, pair.inverse)
    else:
        _merge(pair)
    remove(block, buffer, scope, pair.consumer.buffer)
    if conditions:
        _guard(_find_block(scope, producer_id, position), conditions)
    merged = _find_block(scope, producer_id, position)
    iter_kinds(merged)  # an iter of the producer may not affect the index that the consumer writes
    fold_known(merged.op)
    _shrink(merged)


def _find_block(scope: Scope, number: int, position: int) -> Block:
    """The block with an id, after edits that may have rebuilt it. `position`: where it was, in the scope's body."""
    listed = scope.op.regions[0].blocks[0].operations
    near = range(
        max(0, position - 2), min(position + 3, len(listed))
    )  # edits remove a few ops from the body, which is long
    op = next((o for n in near if (o := walk.find(listed[n].operation, number)) is not None), None)
    return Block(walk.op_with_id(scope.op, number) if op is None else op)


@dataclass(frozen=True)
class _ProducerConsumerPair:
    """A producer, the consumer to merge into it, the loads of the buffer between them, and the consumer's iters by
    element.
    """

    producer: BlockExpression
    consumer: BlockExpression
    loads: list[ir.Operation]
    inverse: Inverse


def _pair(block: Block) -> _ProducerConsumerPair:
    consumer = expression_of(block)
    check_complete(block)
    inverse_of(block, consumer.indices)
    check(
        block.where is None or not drop_implied_conditions(block, walk.constraints(block.where)),
        block,
        f'block "{block.name}" has a guard (T.where), which the merged block would lose: split by '
        "factors that divide the extent",
    )
    scope = scope_of(block)
    check(
        is_child(block, scope),
        block,
        f'block "{block.name}" is in an init region; only blocks of a body can be merged',
        DECOMPOSE_REDUCTION,
    )
    buffer = _intermediate(consumer, scope)
    producers = writers(scope, buffer.value)
    if len(producers) != 1:
        text = f"{buffer.name} is written by {len(producers)} blocks of the scope; merging needs a single producer"
        refuse(block, text, fix=_fix_writers(producers))
    producer = _producer(producers[0], buffer, consumer)
    owner = buffer.op
    if owner is None or enclosing_block(owner) != scope:
        refuse(
            producers[0],
            f'block "{producers[0].name}" computes {buffer.name}, which is visible outside its scope; an output block '
            "must store it",
            fix=MOVE_UNDER_ONE_LOOP,
        )
    loads = _loads(buffer, producer, consumer)
    return _ProducerConsumerPair(producer, consumer, loads, inverse_of(block, access_indices(loads[0])))


def _producer(block: Block, buffer: Buffer, consumer: BlockExpression) -> BlockExpression:
    """The computation of the producer: a single store, or a reduction if the consumer is a pure copy."""
    if block.init is not None and is_copy(consumer):
        check_complete_or_reduction(block)
        return accumulator_of(block, buffer)
    storing = storing_block(block, buffer)
    expression = expression_of(storing, _FUSE_EPILOGUE, in_loops=True)
    for complete in {block.id: block, storing.id: storing}.values():
        check_complete(complete)
    check_stores_once(expression)
    return expression


def _fix_writers(writers: list[Block]) -> str:
    """Fix for a buffer with several writers."""
    if any(i.kind == "R" for b in writers for i in b.iters):
        return f"before decompose_reduction, {_FUSE_EPILOGUE}"
    return "in the program, let one block write all of it, using T.if_then_else to select the value"


def _intermediate(consumer: BlockExpression, scope: Scope) -> Buffer:
    """Of the buffers that a block reads and its scope computes, the one that is computed last."""
    computed_inputs = [Buffer(b) for b in dict.fromkeys(a.buffer for a in consumer.inputs()) if writers(scope, b)]
    names = ", ".join(b.name for b in computed_inputs) or "none"
    last = computed_inputs
    if len(computed_inputs) > 1:
        read = {b.value for b in computed_inputs}
        nearest = [m for m in producers(consumer.block) if read & set(writes_of(m))][-1:]
        last = [b for b in computed_inputs if any(b.value in writes_of(m) for m in nearest)]
    check(
        len(last) == 1,
        consumer.block,
        f'block "{consumer.block.name}" must read exactly one buffer that the last of its producers computes; it '
        f"reads {names}",
        "reverse_compute_at keeps them all" if computed_inputs else inline_producer(consumer.block),
    )
    return last[0]


def _loads(buffer: Buffer, producer: BlockExpression, consumer: BlockExpression) -> list[ir.Operation]:
    """The loads of the buffer. Refuses loads outside the consumer, or at more than one index."""
    loads = [u.owner.operation for u in buffer.value.uses if not _is_own(u.owner.operation, producer)]
    for load in loads:
        if not isa(load, AffineLoadOp):
            text = f"{buffer.name} is used by {load.name}; merging needs loads at affine indices only"
            refuse(load, text, fix=inline_producer(producer.block))
        if not walk.is_inside(load, consumer.block.op):
            text = f'{buffer.name} is also read outside block "{consumer.block.name}", so it must remain'
            refuse(load, text, fix=inline_producer(producer.block))
    first = access_indices(loads[0])
    for load in loads[1:]:
        if not same_indices(first, access_indices(load)):
            refuse(
                load,
                f'block "{consumer.block.name}" reads {buffer.name} at several indices; merging needs a single one',
                fix=inline_producer(producer.block),
            )
    return loads


def _is_own(op: ir.Operation, producer: BlockExpression) -> bool:
    """Whether an op is the producer's store, or part of its reduction."""
    return op == producer.store or (producer.block.init is not None and walk.is_inside(op, producer.block.op))


def _check_between(pair: _ProducerConsumerPair) -> None:
    """Refuse unless the consumer may run as early as the producer."""
    producer, consumer = pair.producer.block, pair.consumer.block
    check_runs_after(consumer, producer)
    between = ops_between(producer.op, consumer.op)
    inputs = {a.buffer for a in pair.consumer.inputs()} - {pair.producer.buffer.value}
    level, result = common_ancestor(producer.op, consumer.op)[0], pair.consumer.buffer
    touched = [a for op in between for a in accesses(op) if a.op != pair.consumer.store]
    writes = [a for a in touched if a.is_write and a.buffer in inputs]
    if (conflict := in_order(writes, pair.consumer.inputs(), level)) is not None:
        clash, _, example = conflict
        refuse(
            clash.op,
            f'{Buffer(clash.buffer).name}, which block "{consumer.name}" reads, is written between '
            f'block "{producer.name}" and it',
            counterexample=example,
            fix=f"compute_inline what computes {Buffer(clash.buffer).name} first, or reverse_compute_at",
        )
    uses = [a for a in touched if a.buffer == result.value]
    if (conflict := in_order(uses, accesses_of_op(pair.consumer.store), level)) is not None:
        clash, _, example = conflict
        refuse(
            clash.op,
            f'{result.name}, which block "{consumer.name}" writes, is used between block '
            f'"{producer.name}" and it; writing it earlier would change that',
            counterexample=example,
            fix=cache_write_first(consumer),
        )
    check_visible(pair.consumer, pair.producer.store, producer)


# --- the part of the producer that is read ----------------------------------------------------------------------------


def _conditions(pair: _ProducerConsumerPair) -> list[Constraint]:
    """Conditions on the producer's iters under which it computes exactly what the consumer reads; usually none."""
    producer, consumer = pair.producer.block, pair.consumer.block
    level = common_ancestor(producer.op, consumer.op)[0]
    store, load = accesses_of_op(pair.producer.store)[0], _unconditional_load(pair)
    with question(f'whether block "{consumer.name}" reads what block "{producer.name}" computes'):
        computed, read = compared_elements(store, load, level, consumer)
        if not (missing := read.subtract(computed)).is_empty():
            refuse(
                consumer,
                f'block "{consumer.name}" needs {(lacks := smallest_element(load.buffer, missing))}, which '
                f'block "{producer.name}" has not computed in the same iteration of their common loops',
                counterexample=lacks,
                fix=inline_producer(producer) if parent_op(pair.loads[0]) != consumer.op else "",
            )
        if computed.is_subset(read):
            return []
        dom = domain(pair.producer.store)
        conditions = [c for c in _select_conditions(pair) if not holds(dom, c.index, c.is_eq)]
        check_guards_whole_block(pair.producer, conditions)
        computed = _guarded_elements(pair, conditions, level)
        if not computed.is_equal(read):
            extra = computed.subtract(read)
            refuse(
                consumer,
                f'block "{producer.name}" also computes {smallest_element(load.buffer, extra)}, which block '
                f'"{consumer.name}" does not read in the same iteration of their common loops; no guard '
                "on its iters separates the two",
                fix=inline_producer(producer),
            )
        return conditions


def _unconditional_load(pair: _ProducerConsumerPair) -> Access:
    """The consumer's load as an unconditional one."""
    load = accesses_of_op(pair.loads[0])[0]
    return replace(load, op=pair.consumer.store)


def _select_conditions(pair: _ProducerConsumerPair) -> list[Constraint]:
    """The conditions under which the stored element lies in the consumer's domain, over the loops around the
    producer.
    """
    element = pair.producer.indices
    try:
        iters = pair.inverse.at_access(accesses_of_op(pair.producer.store)[0])
    except (NotAffine, NotProvable):
        text = "the part that is read has no simple guard on the producer's iters"
        refuse(pair.consumer.block, text, provable=False, fix=inline_producer(pair.producer.block))
    bound = {i.var: i.binding for i in pair.producer.block.iters}
    conditions: list[Constraint] = []
    for it in pair.consumer.block.iters:
        value = iters[it.var]
        conditions += [Constraint(value - it.min), Constraint(it.min + it.extent - value - 1)]
    for part, read in zip(element, access_indices(pair.loads[0]), strict=True):
        conditions.append(Constraint(read.substitute(iters) - part, is_eq=True))
    return [Constraint(c.index.substitute(bound).simplify(), c.is_eq) for c in conditions]


def _guarded_elements(pair: _ProducerConsumerPair, conditions: list[Constraint], level: ir.Operation) -> isl.Map:
    """{ loops at and above `level` -> elements } of the producer, under some conditions."""
    store = accesses_of_op(pair.producer.store)[0]
    dom = access_domain(store, extra=[c.index for c in conditions])
    for c in conditions:
        dom.set = dom.set.intersect(constraint_set(dom, c))
    return elements_over(dom, store, level)


def _guard(block: Block, conditions: list[Constraint]) -> None:
    """Add conditions to the guard of a block."""
    if (old := block.where) is not None:
        edit.rebuild_guard(old, [*walk.constraints(old), *conditions])
    else:
        with ir.InsertionPoint(block.op), block.op.location:
            guard = create.where(conditions)
        edit.move_before(block.op, list(guard.regions[0].blocks[0].operations)[-1])


def _shrink(block: Block) -> None:
    """Shrink the domain of each iter to the values that its loops reach, since the result, unlike the buffer, must be
    covered except where a guard excludes elements.

    An iter whose values have no single expression is unchanged.
    """
    if full_box.is_full_box(block):
        return
    ends = [end for i in block.iters for end in (i.binding - i.min, i.min + i.extent - 1 - i.binding)]
    dom = domain(block.op, extra=ends, guards=False)
    for end in ends:
        dom.set = dom.set.intersect(constraint_set(dom, Constraint(end)))
    symbols = symbols_by_name(block.op)
    lows: list[Index] = []
    extents: list[Index] = []
    with question(f'the domain of block "{block.name}"'):
        bound = dom.map([i.binding for i in block.iters]).range()
        for number, it in enumerate(block.iters):
            pieces = [
                e.coalesce().gist(bound.params()).get_pieces() for e in (bound.dim_min(number), bound.dim_max(number))
            ]
            low, extent = it.min, it.extent
            if all(len(e) == 1 for e in pieces):
                low, last = (to_index(e[0][1], [], symbols) for e in pieces)
                extent = (last - low + 1).simplify()
            lows.append(low)
            extents.append(extent)
    set_domain(block, lows, extents)


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _merge(pair: _ProducerConsumerPair) -> None:
    """Store the consumer's result instead of the producer's store."""
    store, consumer = pair.producer.store, pair.consumer
    iters = pair.inverse.at_access(accesses_of_op(store)[0])
    loaded: dict[ir.Value, ir.Value] = {load.results[0]: pair.producer.value for load in pair.loads}
    op_count = len(_ops_before(store))
    with consumer.store.location:
        value = clone_expression(consumer, store, iters, loaded)
        _in_written_order(pair, _ops_before(store)[op_count:])
        with ir.InsertionPoint(store):
            create.store(value, consumer.buffer.value, [i.substitute(iters) for i in consumer.indices])
    edit.erase(store)


def _ops_before(op: ir.Operation) -> list[ir.Operation]:
    body = [o.operation for o in op.block.operations]
    return body[: body.index(op)]


def _in_written_order(pair: _ProducerConsumerPair, merged: Sequence[ir.Operation]) -> None:
    """Move what the consumer reads before the buffer between the two before the producer's ops.

    The text of the merged expression has it first: `B = f(A)` and `C = E + B` give `C = E + f(A)`.
    """
    steps = pair.producer.steps
    if not steps or any(attrs.NAME in op.attributes for op in steps):
        return
    ahead = takewhile(lambda step: not any(walk.is_inside(load, step) for load in pair.loads), pair.consumer.steps)
    missing = sum(map(_loads_in, ahead))
    first = next(op for op in _ops_before(pair.producer.store) if op in steps)
    for op in merged:
        if missing <= 0:
            break
        missing -= _loads_in(op)
        edit.move_before(op, first)


def _loads_in(op: ir.Operation) -> int:
    return sum(isa(o, ElementLoadOp) for o in ops(op))


# --- a copy into the reduction that computes its input ----------------------------------------------------------------


def is_copy(consumer: BlockExpression) -> bool:
    """Whether a block stores what it loads, unchanged."""
    return any(isa(step, AffineLoadOp) and step.results[0] == consumer.value for step in consumer.steps)


def accumulator_of(block: Block, buffer: Buffer) -> BlockExpression:
    """A reduction as its last store to `buffer`. Refuses uses of the buffer other than plain loads and stores."""
    uses = [op for op in ops(block.op) if buffer.value in list(op.operands)]
    odd = next((op for op in uses if not isa(op, AffineElementAccessOp)), None)
    if odd is not None:
        text = f"{buffer.name} is used by {odd.name}; merging needs loads and stores at affine indices only"
        refuse(odd, text, fix=MOVE_UNDER_ONE_LOOP)
    stores = [op for op in block.body_ops() if isa(op, AffineStoreOp) and accessed_memref(op) == buffer.value]
    if len(stores) != 1:
        text = f'block "{block.name}" does not update {buffer.name} by one store, which merging needs'
        refuse(block, text, fix=MOVE_UNDER_ONE_LOOP)
    return BlockExpression(block, stores[0], [])


def redirect(block: Block, buffer: Buffer, consumer: BlockExpression, inverse: Inverse) -> None:
    """Let a reduction load and store the element of the copy instead of each element of `buffer`."""
    for op in [o for o in ops(block.op) if isa(o, AffineElementAccessOp) and accessed_memref(o) == buffer.value]:
        iters = inverse.at_access(accesses_of_op(op)[0])
        indices = [i.substitute(iters) for i in consumer.indices]
        with ir.InsertionPoint(op), op.location:
            if isa(op, AffineStoreOp):
                create.store(StoreOp(op).value, consumer.buffer.value, indices)
            else:
                edit.replace_uses(op.results[0], create.load(consumer.buffer.value, indices))
        edit.erase(op)


# --- where a producer stores ------------------------------------------------------------------------------------------


def storing_block(producer: Block, buffer: Buffer) -> Block:
    """The block around the only store of `producer` to a buffer; with several stores, the producer itself."""
    stores = [a.op for a in accesses_to(buffer.value, producer.op, True)]
    storing = enclosing_block(stores[0]) if len(stores) == 1 else producer
    return storing if isinstance(storing, Block) else producer


def recompute_regions(block: Block, scope: Scope) -> None:
    """Let the regions of a block, and of those around it in a scope, be computed from their accesses."""
    enclosing = parents(block.op)
    for op in [block.op, *enclosing[: enclosing.index(scope.op)]]:
        if attrs.BLOCK in op.attributes:
            attrs.put(op, attrs.READS, None)
            attrs.put(op, attrs.WRITES, None)


def check_stores_once(producer: BlockExpression) -> None:
    """Refuse a producer that stores an element in two of its iterations, loops inside it included."""
    block = producer.block
    if not _inner_loops(producer):
        inverse_of(block, producer.indices)
        return
    with question(f'whether the loops in block "{block.name}" store each element once'):
        dom = domain(producer.store, block.op, producer.indices)
        once = dom.map([*(Index.from_value(v) for v in dom.dims[: dom.free]), *producer.indices]).is_injective()
    if not once:
        text = f'two iterations of the loops in block "{block.name}" store the same element of {producer.buffer.name}'
        refuse(block, text, fix=MOVE_UNDER_ONE_LOOP)


def check_guards_whole_block(producer: BlockExpression, conditions: Sequence[Constraint]) -> None:
    """Refuse conditions on the loops inside a producer: they cannot guard the block."""
    inner = _inner_loops(producer)
    if any(v in inner for c in conditions for v in c.index.values):
        text = f'only a part of what the loops in block "{producer.block.name}" compute is read; no guard on the block '
        refuse(producer.block, f"{text}separates the two", fix=inline_producer(producer.block))


def _inner_loops(producer: BlockExpression) -> list[ir.Value]:
    """The variables of the loops between a block and its store."""
    return [Loop(p).var for p in parents(producer.store) if is_loop(p) and is_inside(p, producer.block.op)]
