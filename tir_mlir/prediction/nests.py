"""The loops of a scheduled program beside those of its code: their names, and how often they run where LLVM lost count.

LLVM divides loops and threads jumps through them, so that some have no count. A loop of code whose trip count is that
of a loop of the program, or a part of it as LLVM unrolled it, is taken to be that loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, prod

from mlir import ir

from tir_mlir.dialect.ir import Loop, defining_op, enter_context, is_loop, loops_above, ops
from tir_mlir.dialect.ir.op_views import CallOp, ConstantOp, IfOp, LoadOp, StoreOp, isa
from tir_mlir.prediction.executions import CodePiece

_UNROLLED = 8
"""The most iterations of a loop of the program in one of its code."""
_FACTOR = 2.0
"""How much the runs of a loop of code may differ from those of the loop of the program that it is taken to be."""
_FEW = 0.001
"""The part of the runs of a loop of the program that its partial tiles add, or leave, at most."""


@dataclass(frozen=True, eq=False)
class LoopNest:
    """A loop and those around it that are loops in code, innermost first; the extent of a symbolic one is 0. fills:
    whether it only stores a constant, which LLVM makes a call of `memset`."""

    names: tuple[str, ...]
    extents: tuple[int, ...]
    fills: bool = False

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
                names, extents = tuple(x.name for x in around), tuple(x.const_extent or 0 for x in around)
                found.append(LoopNest(names, extents, _fills(loop)))
        return found


def _fills(loop: Loop) -> bool:
    """Whether a loop does nothing but store constants."""
    stored = [StoreOp(op).value for op in ops(loop.op) if isa(op, StoreOp)]
    only = not any(isa(op, LoadOp, IfOp, CallOp) for op in ops(loop.op))
    return only and bool(stored) and all(defining_op(value, ConstantOp) is not None for value in stored)


def _remains(loop: Loop) -> bool:
    return loop.kind not in ("vectorized", "unrolled")


def with_runs_of_nests(pieces: Sequence[CodePiece], nests: Sequence[LoopNest]) -> list[CodePiece]:
    """Pieces whose outer loops LLVM did not count run as often, together with other code of the same loops of the
    program, as these: LLVM makes loops for full and partial tiles of one. So do those that a branch may skip. What has
    no trip count itself is taken to be the innermost loops of the program that no other code is."""
    own = [(piece, _nests_of(piece, nests)) for piece in pieces]
    left = [nest for nest in _innermost(nests) if not nest.fills and not any(nest in found for _, found in own)]
    own = [(piece, found if piece.counted or not piece.loops else left) for piece, found in own]
    result = []
    for piece, found in own:
        factor = _executed_part(piece, found, own) if piece.known else sum(_scale(nest, own) for nest in found) or 1.0
        result.append(replace(piece, executions=piece.executions * factor))
    return sorted((piece for piece in result if piece.weight), key=lambda piece: -piece.weight)


_Owned = Sequence[tuple[CodePiece, Sequence[LoopNest]]]
"""Pieces, and the nests of the program whose code each may be."""


def _nests_of(piece: CodePiece, nests: Sequence[LoopNest]) -> list[LoopNest]:
    """The nests whose code a loop may be; if it is counted, those of which it is the most similar: by its trip count,
    or, if a branch may skip it, by how often they run."""
    found = [nest for nest in nests if piece.loops and piece.counted and _runs(nest, piece)]
    if not piece.known:
        return found
    far = {nest: _unroll_factor(nest, piece) if piece.certain else _distance(piece, nest) for nest in found}
    return [nest for nest in found if far[nest] == min(far.values())]


def _scale(nest: LoopNest, own: _Owned) -> float:
    """The iterations of a nest that no exact count has, by those that were counted of the rest of its code."""
    counts = {True: 0.0, False: 0.0}
    for piece, nests in own:
        if nest in nests:
            counts[piece.certain and piece.known] += piece.executions * _unroll_factor(nest, piece)
    return max(0.0, nest.runs - counts[True]) / counts[False]


def _executed_part(piece: CodePiece, mine: Sequence[LoopNest], own: _Owned) -> float:
    """The part of its iterations that a piece under a branch has, where it and all code that may be of the same nests
    would run more often than these: none, if code that surely runs does all of them; else 1."""
    if piece.certain or not mine:
        return 1.0
    near = [(other, nests) for other, nests in own if any(nest in mine for nest in nests)]
    runs = sum(nest.runs for nest in dict.fromkeys(nest for _, nests in near for nest in nests))
    sums = {True: 0.0, False: 0.0}
    for other, nests in near:
        sums[other.certain and other.known] += other.executions * max(_unroll_factor(nest, other) for nest in nests)
    left = runs - sums[True]
    if abs(left) < _FEW * runs:
        return 0.0
    return left / sums[False] if 0 < left < sums[False] else 1.0


def _innermost(nests: Sequence[LoopNest]) -> list[LoopNest]:
    """The nests in whose innermost loop is no other."""
    around = {(nest.names[1:], nest.extents[1:]) for nest in nests}
    return [nest for nest in nests if (nest.names, nest.extents) not in around]


def _unroll_factor(nest: LoopNest, piece: CodePiece) -> float:
    """The iterations of a nest in one of its code; 0 if that is of another loop."""
    if not piece.counted:
        return 1.0
    unrolled, rest = divmod(nest.extents[0], piece.trips)
    return unrolled if not rest and 1 <= unrolled <= _UNROLLED else 0.0


def _runs(nest: LoopNest, code: CodePiece) -> float:
    """The iterations of a nest in code; 0 if that is of another loop."""
    unrolled = _unroll_factor(nest, code)
    return nest.runs / unrolled if unrolled else 0.0


def name_of(code: CodePiece, nests: Sequence[LoopNest]) -> str:
    """The loop of a program with the trip count of a loop of its code, that runs about as often; else its block in LLVM
    IR."""
    if not code.depth:
        return "outside of loops"
    near = [nest for nest in nests if _runs(nest, code)]
    best = min(near, key=lambda nest: _distance(code, nest), default=None)
    if best is None or _distance(code, best) > log(_FACTOR):
        return f"%{code.block} ({code.trips:.0f} times)"
    return " in ".join([f"{best.names[0]} ({best.extents[0]} times)", *best.names[1:2]])


def _distance(code: CodePiece, nest: LoopNest) -> float:
    return abs(log(max(code.executions, 1) / _runs(nest, code)))
