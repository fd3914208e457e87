"""The rules of iter kinds: spatial iters are independent, reduce iters index nothing that is written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tir_mlir.dialect.analysis import IterConflict, commutative_update, iter_conflict
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.certainty import not_affine
from tir_mlir.dialect.ir import Block, Buffer, enclosing_block, is_inside
from tir_mlir.dialect.ir.op_views import AffineStoreOp, isa
from tir_mlir.dialect.presburger import only_where
from tir_mlir.dialect.verify.violation import fail

ORDERED = "ordered (T.axis.opaque)"


def iter_kinds(block: Block) -> None:
    """Check the declared kinds of a block's iters.

    No two instances that run, differ in a spatial iter and agree in the ordered ones access one element, one of them
    writing: at equal ordered iters, the spatial ones may run in any order. No reduce iter indexes a store. Where that
    is undecided as an index is a product with a size, or a quotient by one, the declaration counts; no step relies on
    it.
    """
    _check_reduce(block)
    spatial, ordered = _numbers(block, "S"), _numbers(block, "O")
    clash = _conflict(block, spatial, ordered)
    if clash is not None:
        it = block.iters[clash.number]
        text = f'iter {it.name} of block "{block.name}" is declared spatial, but {clash.text}'
        where = "" if clash.doubt else only_where(clash.pairs, block.op)
        text = f"{text}{where}; {_advice(clash, spatial, ordered)}"
        fail(block.op, "kinds", text, clash.example, provable=not clash.doubt)


def _numbers(block: Block, kind: str) -> list[int]:
    return [n for n, i in enumerate(block.iters) if i.kind == kind and (kind != "S" or i.extent.as_constant() != 1)]


def _conflict(block: Block, spatial: Sequence[int], ordered: Sequence[int]) -> IterConflict | None:
    # primitives that rely on an undecided answer check the affected loops themselves
    conflict = iter_conflict(block, spatial, ordered, skip_undecided=True)
    return None if conflict is not None and conflict.doubt == not_affine(Buffer(conflict.buffer)) else conflict


def _advice(clash: IterConflict, spatial: Sequence[int], ordered: Sequence[int]) -> str:
    """The kinds to declare: reduce for a sum, product or extremum, else the fewest ordered iters that suffice."""
    block = clash.block
    summed = _accumulating_iters(clash)
    if summed:
        return f"its order does not matter: declare {_join_names(summed)} reduce (T.axis.reduce)"
    for size in range(1, len(spatial) + 1):
        for chosen in combinations(spatial, size):
            remaining = [n for n in spatial if n not in chosen]
            if _conflict(block, remaining, [*ordered, *chosen]) is None:
                return f"declare {_join_names([block.iters[n].name for n in chosen])} {ORDERED}"
    return f"declare its iters {ORDERED}"


def _accumulating_iters(clash: IterConflict) -> list[str]:
    """The spatial iters whose iterations add up in one element, if the conflict is between such updates."""
    block = clash.block
    touched = accesses_to(clash.buffer, block.op)
    if any(commutative_update(a.op) is None for a in touched):
        return []
    index_values = {v for a in touched for m in a.mins for v in m.values}
    return [i.name for i in block.iters if i.kind == "S" and i.var not in index_values and i.extent.as_constant() != 1]


def _join_names(names: Sequence[str]) -> str:
    return " and ".join(names)


def _check_reduce(block: Block) -> None:
    """Check that no reduce iter indexes a store: all its points contribute to one element."""
    if all(it.kind != "R" for it in block.iters):
        return
    for access in accesses(block.op):
        if not isa(access.op, AffineStoreOp) or enclosing_block(access.op) != block:
            continue
        owner = Buffer(access.buffer).op
        if owner is not None and is_inside(owner, block.op):
            continue
        index_values = {v for m in access.mins for v in m.values}
        for number, it in enumerate(block.iters):
            if it.kind == "R" and it.var in index_values:
                alone = _conflict(block, [*_numbers(block, "S"), number], _numbers(block, "O")) is None
                text = f'iter {it.name} of block "{block.name}" is declared reduce but indexes the store to '
                kind = "spatial" if alone else ORDERED
                fail(block.op, "kinds", f"{text}{Buffer(access.buffer).name}; declare it {kind}")
