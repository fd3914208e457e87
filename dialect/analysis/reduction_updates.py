"""Reduction updates `X[f] = X[f] op value`: the only dependence that may be reordered.

A reduce iter declares that its reduction may be reassociated. This file is the only definition of such a reduction.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis.access_relations import AccessRelation
from tir_mlir.dialect.ir import ASSOCIATIVE, Block, access_indices, accessed, is_block, is_inside, parents


def is_reduction_pair(a: AccessRelation, b: AccessRelation) -> bool:
    """Whether both accesses belong to one update `X[f] = X[f] op value`, in a block with a reduce iter."""
    one, other = update_store(a.access.op), update_store(b.access.op)
    return one is not None and other is not None and one == other


def is_one_sum(a: AccessRelation, b: AccessRelation) -> bool:
    """Whether both accesses belong to one reduction: its init, or its update `X[f] = X[f] op value`."""
    owners = [next((p for p in parents(t.access.op) if is_block(p)), None) for t in (a, b)]
    if owners[0] is None or owners[0] != owners[1]:
        return False
    init = Block(owners[0]).init
    return init is not None and all(is_inside(t.access.op, init) or update_store(t.access.op) for t in (a, b))


def update_store(op: ir.Operation) -> ir.Operation | None:
    """The store of the reduction update that a load or store belongs to, or None."""
    if op.name == "affine.load":
        candidates = [u.owner for u in op.results[0].uses]
        stores = [u.owner for c in candidates for r in c.operation.results for u in r.uses]
        for store in stores:
            load = _updated_load(store.operation) if store.name == "affine.store" else None
            if load is not None and load == op:
                return store.operation
        return None
    if op.name == "affine.store" and _updated_load(op) is not None:
        return op
    return None


def _updated_load(store: ir.Operation) -> ir.Operation | None:
    """The load of the updated element if the store is `X[f] = X[f] op value` of a declared reduction."""
    value = store.operands[0]
    if isinstance(value.owner, ir.Block) or value.owner.name not in ASSOCIATIVE:
        return None
    if not any(is_block(p) and any(i.kind == "R" for i in Block(p).iters) for p in parents(store)):
        return None
    memref, indices = accessed(store), access_indices(store)
    for side, other in ((0, 1), (1, 0)):
        owner = value.owner.operands[side].owner
        if isinstance(owner, ir.Block):
            continue
        load = owner.operation
        if load.name != "affine.load" or accessed(load) != memref:
            continue
        same = all(x.same(y) for x, y in zip(access_indices(load), indices, strict=True))
        if (
            same
            and _is_used_once(load)
            and _is_used_once(value.owner)
            and not _reads(value.owner.operands[other], memref)
        ):
            return load
    return None


def _is_used_once(op: ir.Operation | ir.OpView) -> bool:
    """Whether a partial result has one use; another user would observe the order of the updates."""
    return sum(1 for _ in op.operation.results[0].uses) == 1


def _reads(value: ir.Value, memref: ir.Value) -> bool:
    """Whether a value is computed from loads of a buffer."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if "load" in owner.name and accessed(owner.operation) == memref:
        return True
    return any(_reads(v, memref) for v in owner.operands if not isinstance(v.type, ir.MemRefType))
