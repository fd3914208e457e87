"""Conditions of a guard that are false alone at some iteration: found by trying some, so that isl need not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.ir import Constraint, Loop, is_block, is_loop, symbols_by_name
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.dialect.presburger.evaluated_indices import Values, index_values
from tir_mlir.dialect.presburger.intervals import constant_bounds
from tir_mlir.dialect.presburger.sets import enclosing

TRIED = 1 << 12
"""Iterations that are tried."""


def false_alone(op: ir.Operation, guard: Sequence[Constraint]) -> set[int]:
    """The positions of conditions that are false at an iteration of the loops around `op` at which all others are true.

    Others of which none is found may be so as well. Only for loops of constant ranges below which nothing is
    conditional, in functions without sizes.
    """
    points = _sample_iterations(op)
    if points is None:
        return set()
    values = [index_values(c.index, points) for c in guard]
    decided = [v for v in values if v is not None]
    if len(decided) != len(guard):
        return set()
    false = [v != 0 if c.is_eq else v < 0 for c, v in zip(guard, decided, strict=True)]
    count = np.sum(np.broadcast_arrays(*false), axis=0) if false else 0
    return {n for n, column in enumerate(false) if np.any(column & (count == 1))}


def _sample_iterations(op: ir.Operation) -> dict[ir.Value, Values] | None:
    """Values of the loops around an op at some iterations, the same in each run; None if these are not plain."""
    chain = enclosing(op.block, None)
    if symbols_by_name(op) or not all(is_loop(p) or is_block(p) or isa(p, FuncOp) for p in chain):
        return None
    draw = np.random.default_rng(0)
    points: dict[ir.Value, Values] = {}
    for parent in chain:
        if is_loop(parent):
            ends = constant_bounds(parent)
            if ends is None or ends[1] < ends[0]:
                return None
            points[Loop(parent).var] = draw.integers(ends[0], ends[1] + 1, TRIED)
    return points
