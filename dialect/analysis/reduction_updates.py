"""Reduction updates `X[f] = X[f] op value`: the only dependence that may be reordered.

A reduce iter declares that its reduction may be reassociated. This file is the only definition of such a reduction. The
index may be loaded from another buffer (`H[X[i]] = H[X[i]] + 1`), as long as both sides have the same one.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis.access_relations import AccessRelation
from tir_mlir.dialect.analysis.accesses import accesses, accesses_of_op
from tir_mlir.dialect.ir import Block, Buffer, access_indices, cache_while_frozen, is_block, is_inside, parents, top_of
from tir_mlir.dialect.ir.op_traits import (
    ASSOCIATIVE,
    ATOMICS,
    accessed_memref,
    index_operands,
)
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineLoadOp,
    AffineStoreOp,
    ApplyOp,
    ComputedAccessOp,
    ElementLoadOp,
    ElementStoreOp,
    LoadOp,
    StoreOp,
    isa,
)


def is_reduction_pair(a: AccessRelation, b: AccessRelation) -> bool:
    """Whether both accesses belong to one update `X[f] = X[f] op value`, in a block with a reduce iter."""
    first_update, second_update = commutative_update(a.access.op), commutative_update(b.access.op)
    return (
        first_update is not None
        and second_update is not None
        and first_update == second_update
        and is_declared_reduction(first_update)
    )


def is_atomic_update(a: AccessRelation, b: AccessRelation) -> bool:
    """Whether both accesses belong to one declared update of memory that threads share, in one instruction.

    Its order does not matter then, whatever threads run at the same time: `H[X[i]] = H[X[i]] + 1`.
    """
    store = commutative_update(a.access.op) if is_reduction_pair(a, b) else None
    scope = Buffer(a.access.buffer).scope
    return store is not None and atomic_kind(store) is not None and (scope == "global" or scope.startswith("shared"))


def atomic_kind(store: ir.Operation) -> str | None:
    """The kind of `memref.atomic_rmw` that the update of a store is; None if no GPU has one for its op and type."""
    value = StoreOp(store).value
    element = value.type
    least = 16 if isinstance(element, ir.FloatType) else 32
    has_width = isinstance(element, ir.FloatType | ir.IntegerType) and element.width in range(least, 65)
    return ATOMICS.get(value.owner.name) if has_width and not isinstance(value.owner, ir.Block) else None


def is_one_sum(a: AccessRelation, b: AccessRelation) -> bool:
    """Whether both accesses belong to one reduction: its init, or its update `X[f] = X[f] op value`."""
    block = common_block(a, b)
    init = block.init if block is not None else None
    return init is not None and all(is_inside(t.access.op, init) or update_store(t.access.op) for t in (a, b))


def common_block(a: AccessRelation, b: AccessRelation) -> Block | None:
    """The block that both accesses are directly in; None for a condition around a block and an access in it."""
    first, second = (next(filter(is_block, parents(t.access.op)), None) for t in (a, b))
    return Block(first) if first is not None and second is not None and first == second else None


@cache_while_frozen
def update_store(op: ir.Operation) -> ir.Operation | None:
    """The store of the declared reduction update with affine indices that a load or store belongs to, or None."""
    store = commutative_update(op) if isa(op, AffineElementAccessOp) else None
    return store if store is not None and is_declared_reduction(store) else None


@cache_while_frozen
def commutative_update(op: ir.Operation) -> ir.Operation | None:
    """The store of the update `X[f] = X[f] op value` that a load or store belongs to, or None. Declared or not."""
    if isa(op, ElementLoadOp):
        candidates = [u.owner for u in op.results[0].uses]
        stores = [u.owner for c in candidates for r in c.operation.results for u in r.uses]
        for store in stores:
            load = _updated_load(store.operation) if isa(store, ElementStoreOp) else None
            if load is not None and load == op:
                return store.operation
        return None
    if isa(op, ElementStoreOp) and _updated_load(op) is not None:
        return op
    return None


def is_declared_reduction(store: ir.Operation) -> bool:
    """Whether a block around an update has a reduce iter, and its ordered iters, if any, are indices of the store.

    Updates of one element then differ in no ordered iter.
    """
    iters = [i for p in parents(store) if is_block(p) for i in Block(p).iters]
    if not any(i.kind == "R" for i in iters):
        return False
    ordered = [i.var for i in iters if i.kind == "O" and i.extent.as_constant() != 1]
    if not ordered:
        return True
    alone = [i.is_value() for i in access_indices(store)] if isa(store, AffineStoreOp) else []
    return all(v in alone for v in ordered)


def _updated_load(store: ir.Operation) -> ir.Operation | None:
    """The load of the updated element if the store is `X[f] = X[f] op value`."""
    value = StoreOp(store).value
    if isinstance(value.owner, ir.Block) or value.owner.name not in ASSOCIATIVE:
        return None
    memref = accessed_memref(store)
    for side, operand in ((0, 1), (1, 0)):
        owner = value.owner.operands[side].owner
        if isinstance(owner, ir.Block):
            continue
        load = owner.operation
        if not isa(load, ElementLoadOp) or accessed_memref(load) != memref:
            continue
        if (
            loads_stored_element(load, store)
            and _is_used_once(load)
            and _is_used_once(value.owner)
            and not _reads(value.owner.operands[operand], memref)
        ):
            return load
    return None


def loads_stored_element(load: ir.Operation, store: ir.Operation) -> bool:
    """Whether a load and a store of one buffer have the same indices."""
    if isa(load, AffineLoadOp) and isa(store, AffineStoreOp):
        pairs = zip(access_indices(load), access_indices(store), strict=True)
        return all(x.is_equal_to(y) for x, y in pairs)
    if not isa(load, ComputedAccessOp) or not isa(store, ComputedAccessOp):
        return False
    load_indices, store_indices = index_operands(load), index_operands(store)
    owner = next((p for p in parents(store) if is_block(p)), None) or top_of(store)
    if any(_reads(v, accessed_memref(store)) for v in store_indices):
        return False
    written = {a.buffer for a in accesses(owner) if a.is_write}
    return all(_same_value(x, y, written) for x, y in zip(load_indices, store_indices, strict=True))


def _same_value(first: ir.Value, second: ir.Value, written: set[ir.Value]) -> bool:
    """Whether two values of one block's body are equal: computed alike from buffers that are not `written` there."""
    if first == second:
        return True
    if isinstance(first.owner, ir.Block) or isinstance(second.owner, ir.Block):
        return False
    a, b = first.owner.operation, second.owner.operation
    if a.name != b.name or _attributes(a) != _attributes(b) or len(a.regions) or first.type != second.type:
        return False
    pure = isa(a, ElementLoadOp, ApplyOp) or a.name.startswith("arith.")
    if not pure or any(x.buffer in written for x in accesses_of_op(a)):
        return False
    pairs = zip(a.operands, b.operands, strict=False)
    return len(a.operands) == len(b.operands) and all(_same_value(x, y, written) for x, y in pairs)


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _is_used_once(op: ir.Operation | ir.OpView) -> bool:
    """Whether a partial result has one use; another user would observe the order of the updates."""
    return sum(1 for _ in op.operation.results[0].uses) == 1


def _reads(value: ir.Value, memref: ir.Value) -> bool:
    """Whether a value is computed from loads of a buffer."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if isa(owner, LoadOp) and accessed_memref(owner.operation) == memref:
        return True
    return any(_reads(v, memref) for v in owner.operands if not isinstance(v.type, ir.MemRefType))
