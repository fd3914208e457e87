"""Ordered iters (`T.axis.opaque`, `T.axis.scan`): whether their iterations depend on each other."""

from __future__ import annotations

from tir_mlir.dialect.analysis import IterConflict, iter_conflict
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Iter
from tir_mlir.dialect.ir.op_views import MemrefStoreOp, isa
from tir_mlir.passes.schedule.registry import refuse

KEEP_NEST = "merge and fission move it as a whole, in its order"
DECLARE_SPATIAL = "declare it spatial: its iterations are independent"
INIT_BLOCK = "in the program, let a block of its own write the initial value, instead of T.init"


def check_independent(block: Block) -> None:
    """Refuse a block whose iterations depend on each other, unless they differ in a reduce iter only.

    Those of an ordered iter may, and those of spatial iters where their independence is declared, but not provable.
    """
    ordered = [i for i in block.iters if i.kind == "O"]
    clash = _conflict(block) if ordered or is_only_declared(block) else None
    if clash is not None:
        names = ", ".join(i.name for i in ordered)
        depends = "its iterations depend on each other, so it is not a complete block"
        what = clash.text if clash.doubt else f"{depends}: {clash.text}"
        text = f'block "{block.name}" has {f"the ordered iter {names}" if ordered else "spatial iters"}; {what}'
        refuse(block, text, not clash.doubt, clash.example, KEEP_NEST)


def is_only_declared(block: Block) -> bool:
    """Whether the verifier believes that spatial iters are independent: an index of a store is not affine."""
    stores = [a for a in accesses(block.op) if a.is_write and isa(a.op, MemrefStoreOp)]
    return any(not a.exact and not a.parts for a in stores)


def refuse_ordered(block: Block, it: Iter, why: str) -> None:
    """Refuse an ordered iter of a block with an init."""
    fix = INIT_BLOCK if _conflict(block) is not None else DECLARE_SPATIAL
    refuse(block, f'block "{block.name}" has the ordered iter {it.name}; {why}', fix=fix)


def _conflict(block: Block) -> IterConflict | None:
    """A conflict of iterations that differ in an iter other than a reduce iter."""
    numbers = [n for n, i in enumerate(block.iters) if i.kind != "R" and i.extent.as_constant() != 1]
    return iter_conflict(block, numbers)


def full_iters(block: Block) -> list[Iter]:
    """The iters whose whole range runs wherever a block is moved: reduce iters, and dependent ordered iters."""
    depends = any(i.kind == "O" for i in block.iters) and (_reads_own(block) or _conflict(block) is not None)
    return [i for i in block.iters if i.kind == "R" or (depends and i.kind == "O")]


def _reads_own(block: Block) -> bool:
    """Whether a block reads a buffer that it writes."""
    block_accesses = accesses(block.op)
    return bool({a.buffer for a in block_accesses if a.is_write} & {a.buffer for a in block_accesses if not a.is_write})
