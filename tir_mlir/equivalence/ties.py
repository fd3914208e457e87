"""Results that are unspecified where data is equal: which of several greatest elements an argmax returns."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Func, all_blocks, walk
from tir_mlir.dialect.ir.op_traits import COMPARISONS, ELEMENT_LOADS, ELEMENT_STORES, accessed


def unspecified_by_ties(func: Func) -> frozenset[int]:
    """The numbers of the parameters that depend on which one of equal elements a reduction keeps.

        I[vi] = T.Select(V[vi] >= A[vi, vk], I[vi], vk)     # I, but not V

    Such a position in an allocated buffer may go anywhere: then it is every parameter that the function writes.
    """
    roots = [Buffer(b).root.value for block in all_blocks(func.op) if _reduces(block) for b in _positions(block)]
    if any(value not in func.args for value in roots):
        stored = [accessed(op) for op in walk.ops(func.op) if op.name in ELEMENT_STORES]
        roots = [Buffer(b).root.value for b in stored]
    return frozenset(n for n, a in enumerate(func.args) if a in roots)


def _reduces(block: Block) -> bool:
    return any(i.kind == "R" for i in block.iters)


def _positions(block: Block) -> list[ir.Value]:
    """The buffers that a block stores what it chose to, where it compares elements of another one that it stores."""
    stores = [op for op in walk.ops(block.op) if op.name in ELEMENT_STORES]
    written = [accessed(op) for op in stores]
    targets = []
    for store in stores:
        target, compared = accessed(store), _compared(store.operands[0])
        if compared and target not in compared and any(c in written for c in compared):
            targets.append(target)
    return targets


def _compared(value: ir.Value) -> list[ir.Value]:
    """The buffers of the elements that choose a stored value by a plain comparison, without a rule for ties."""
    choice = value.owner
    if isinstance(choice, ir.Block) or choice.name != "arith.select":
        return []
    test = choice.operands[0].owner
    if isinstance(test, ir.Block) or test.name not in COMPARISONS:
        return []
    owners = [v.owner for v in test.operands]
    return [accessed(o.operation) for o in owners if not isinstance(o, ir.Block) and o.name in ELEMENT_LOADS]
