"""The loops that contain one block alone, and what its iters are in one iteration of the loops shared with others.

Also, which threads share one copy of a buffer there.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    Loop,
    is_data_loop,
    is_inside,
    is_loop,
    loops_above,
    outermost_with_searches,
    parents,
)
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.presburger import intervals, sets, summands
from tir_mlir.passes.schedule.legality.scope import scope_of


@dataclass(frozen=True)
class PrivateNest:
    """`top`: the outermost op of the scope that contains `block` and nothing else. `own`, `shared`: the loops from it
    inward, and around it in the scope.
    """

    block: Block
    top: ir.Operation
    own: list[Loop]
    shared: list[Loop]

    @staticmethod
    def from_block(block: Block) -> PrivateNest:
        top, end = outermost_with_searches(block), scope_of(block).op
        for parent in parents(top):
            if parent == end or not _holds_only(parent, top, block):
                break
            top = parent
        loops = loops_above(block.op)
        private = [lp for lp in loops if is_inside(lp.op, top)]
        return PrivateNest(block, top, private, [lp for lp in loops if lp not in private])

    def span(self, it: Iter) -> tuple[Index, Index] | None:
        """First value and number of values of an iter in one iteration of the shared loops, inside its domain.

        (min, extent) if its binding uses none of these; None if the values are not an interval that lies in the domain.
        """
        interval = self.interval(it)
        return interval if interval is not None and self.is_inside_domain(it, *interval) else None

    def interval(self, it: Iter) -> tuple[Index, Index] | None:
        """First value and number of values of an iter in one iteration of the shared loops, also outside its domain."""
        shared = {lp.var for lp in self.shared}
        if not shared & set(it.binding.values):
            return it.min, it.extent
        inner_part, outer_part = Index.constant(0), Index.constant(0)
        for term in summands(it.binding.simplify()):
            uses = [v in shared for v in term.values]
            if all(uses):
                outer_part = outer_part + term
            elif not any(uses):
                inner_part = inner_part + term
            else:
                return None
        low, high = intervals.interval(inner_part, intervals.enclosing_ranges(self.block.op))
        if low is None or high is None:
            return None
        return (outer_part + low).simplify(), Index.constant(high - low + 1)

    def is_inside_domain(self, it: Iter, start: Index, extent: Index) -> bool:
        """Whether an interval of values lies in the domain of an iter in every iteration of the shared loops."""
        if start.is_equal_to(it.min) and extent.is_equal_to(it.extent):
            return True
        by_ranges = intervals.is_in_range(start, extent, it.min, it.extent, intervals.enclosing_ranges(self.top))
        return by_ranges or self._holds(start - it.min, it.min + it.extent - start - extent)

    def _holds(self, *conditions: Index) -> bool:
        with sets.question(f'which iterations of block "{self.block.name}" run together'):
            dom = sets.domain(self.top, extra=conditions)
            return all(sets.holds(dom, c) for c in conditions)


def _holds_only(parent: ir.Operation, top: ir.Operation, block: Block) -> bool:
    """Whether an op contains `top` and, besides, only what computes values for it from memory that `block` keeps."""
    bodies = [b for r in parent.regions for b in r.blocks]
    if len(bodies) != 1 or is_data_loop(parent):
        return False
    others = [
        op.operation for op in bodies[0].operations if op.operation not in (top, bodies[0].operations[-1].operation)
    ]
    written = {t.buffer for t in touches(block.op) if t.is_write} if others else set()
    return all(is_pure(op) and written.isdisjoint(t.buffer for t in touches(op)) for op in others)


def sharing_threads(buffer: Buffer | str, loop: Loop) -> list[ir.Value]:
    """The thread-bound variables of `loop` and its parents whose threads share a buffer or storage scope.

    `shared` memory is shared by the threads of a block, `warp` memory by those of a warp. `global` and `local` memory
    give an empty list: each thread produces what it needs.
    """
    scope = (buffer if isinstance(buffer, str) else buffer.scope).split(".")[0]
    if scope not in ("shared", "warp"):
        return []
    loops = [Loop(op) for op in (loop.op, *parents(loop.op)) if is_loop(op)]
    if scope == "warp":
        return [lp.var for lp in loops if lp.kind == "threadIdx.x"]
    return [lp.var for lp in loops if lp.kind.startswith(("threadIdx.", "vthread"))]
