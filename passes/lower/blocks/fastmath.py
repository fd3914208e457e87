"""The floating-point policy: which operations may be reassociated or contracted.

A reduce iter declares that the order of the reduction does not matter. So in a block with a reduce iter, or nested in
one, an update `C[v] = C[v] + e` may be reassociated, and its products contracted into fused multiply-adds. All other
arithmetic is strict IEEE. Max and min are associative and need no flag.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import loads_stored_element
from tir_mlir.dialect.ir import Block, defining_op, is_block, is_init, walk
from tir_mlir.dialect.ir.op_traits import CONTRACTED, ORDERED_REDUCERS, accessed_memref
from tir_mlir.dialect.ir.op_views import ElementStoreOp, StoreOp, isa
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-fastmath", "Set fast-math flags on the updates of declared reductions")
def run(module: ir.Module) -> None:
    """Set fast-math flags on the updates of reductions.

        %s = arith.addf %c, (arith.mulf %a, %b)   -->   %s = arith.addf %c, (...) fastmath<reassoc,contract>
        affine.store %s, %C[%vi, %vj]                   with arith.mulf fastmath<contract>

    Applies in blocks with a reduce iter. Requires blocks.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if isa(op, ElementStoreOp) and _in_reduction(op):
                _mark(op)


def _in_reduction(store: ir.Operation) -> bool:
    for parent in walk.parents(store):
        if is_init(parent):
            return False
        if is_block(parent) and any(i.kind == "R" for i in Block(parent).iters):
            return True
    return False


def _mark(store: ir.Operation) -> None:
    chain = _update_chain(store)
    if not chain:
        return
    pending = [v for op in chain for v in op.operands]
    while pending:
        source = defining_op(pending.pop())
        if source is not None and source.name in CONTRACTED and source not in chain:
            source.attributes["fastmath"] = _flags("contract")
            pending += list(source.operands)
    for op in chain:
        op.attributes["fastmath"] = _flags("reassoc,contract")


def _flags(names: str) -> ir.Attribute:
    return ir.Attribute.parse(f"#arith.fastmath<{names}>")


def _update_chain(store: ir.Operation) -> list[ir.Operation]:
    """The additions (or multiplications) from the stored value to the load of the same element; [] if there are
    none.
    """
    source = defining_op(StoreOp(store).value)
    if source is None or source.name not in ORDERED_REDUCERS:
        return []
    return _path(source, source.name, store)


def _path(op: ir.Operation, kind: str, store: ir.Operation) -> list[ir.Operation]:
    for operand in op.operands:
        source = defining_op(operand)
        if source is None:
            continue
        if _loads_same(source, store):
            return [op]
        if source.name == kind and (tail := _path(source, kind, store)):
            return [op, *tail]
    return []


def _loads_same(load: ir.Operation, store: ir.Operation) -> bool:
    if load.name != store.name.replace("store", "load") or accessed_memref(load) != accessed_memref(store):
        return False
    return loads_stored_element(load, store)
