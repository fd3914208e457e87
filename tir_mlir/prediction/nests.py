"""The loops of a scheduled program beside those of its code: their names, and how often they run where LLVM lost count.

LLVM divides loops and threads jumps through them, so that some have no count. A loop of code whose trip count is that
of a loop of the program, or a part of it as LLVM unrolled it, is taken to be that loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, prod

from mlir import ir

from tir_mlir.dialect.ir import Loop, enter_context, is_loop, loops_above, ops
from tir_mlir.prediction.executions import CodePiece

_UNROLLED = 8
"""The most iterations of a loop of the program in one of its code."""
_FACTOR = 2.0
"""How much the runs of a loop of code may differ from those of the loop of the program that it is taken to be."""


@dataclass(frozen=True)
class LoopNest:
    """A loop and those around it that are loops in code, innermost first; the extent of a symbolic one is 0."""

    names: tuple[str, ...]
    extents: tuple[int, ...]

    @property
    def runs(self) -> int:
        return prod(self.extents)


def loop_nests(program: ir.Module) -> list[LoopNest]:
    """The nests of the loops of a program that are neither vectorized nor unrolled."""
    with enter_context():
        found = []
        for loop in (Loop(op) for op in ops(program.operation) if is_loop(op)):
            if _remains(loop):
                around = [loop, *filter(_remains, loops_above(loop.op))]
                found.append(LoopNest(tuple(x.name for x in around), tuple(x.const_extent or 0 for x in around)))
        return found


def _remains(loop: Loop) -> bool:
    return loop.kind not in ("vectorized", "unrolled")


def with_runs_of_nests(pieces: Sequence[CodePiece], nests: Sequence[LoopNest]) -> list[CodePiece]:
    """Pieces whose outer loops LLVM did not count run as often, together, as the loops of the program with their trip
    count."""
    counted: dict[float, float] = defaultdict(float)
    for piece in pieces:
        if piece.loops:
            counted[piece.trips] += piece.executions
    result = []
    for piece in pieces:
        known = not piece.loops or piece.known
        factor = 0.0 if known else sum(_runs(nest, piece.trips) for nest in nests) / counted[piece.trips]
        result.append(replace(piece, executions=piece.executions * factor) if factor else piece)
    return sorted(result, key=lambda piece: -piece.weight)


def _runs(nest: LoopNest, trips: float) -> float:
    """The iterations of a nest in code whose innermost loop has a trip count; 0 if it is another loop."""
    unrolled, rest = divmod(nest.extents[0], trips)
    return nest.runs / unrolled if not rest and 1 <= unrolled <= _UNROLLED else 0.0


def name_of(code: CodePiece, nests: Sequence[LoopNest]) -> str:
    """The loop of a program with the trip count of a loop of its code, that runs about as often; else its block in LLVM
    IR."""
    if not code.depth:
        return "outside of loops"
    near = [nest for nest in nests if _runs(nest, code.trips)]
    best = min(near, key=lambda nest: _distance(code, nest), default=None)
    if best is None or _distance(code, best) > log(_FACTOR):
        return f"%{code.block} ({code.trips:.0f} times)"
    return " in ".join([f"{best.names[0]} ({best.extents[0]} times)", *best.names[1:2]])


def _distance(code: CodePiece, nest: LoopNest) -> float:
    return abs(log(max(code.executions, 1) / _runs(nest, code.trips)))
