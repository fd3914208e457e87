"""A limit of the trips of loops whose bounds or conditions are data: random data would make them run for hours.

Both programs of a comparison get the same limit, so each still computes the same function of the data.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import func_of
from tir_mlir.equivalence.edits import OpBuilder
from tir_mlir.equivalence.instrument import ARENA

MOST = 1 << 12


def limit_loops(everything: Sequence[ir.Operation], build: OpBuilder) -> None:
    """Stop every `scf.for` and `scf.while` after `MOST` iterations, but for the loops of the check over an arena."""
    for op in everything:
        if op.name == "scf.for" and ARENA not in op.attributes:
            _limit_for(op, build)
        elif op.name == "scf.while":
            _limit_while(op, build)


def _limit_for(op: ir.Operation, build: OpBuilder) -> None:
    """`scf.for %i = %a to %b` -> `scf.for %i = %a to min(%b, %a + MOST)`."""
    low, high = op.operands[0], op.operands[1]
    with ir.InsertionPoint(op), op.location:
        op.operands[1] = build.binary("arith.minsi", high, build.plus(low, build.index(MOST)))


def _limit_while(op: ir.Operation, build: OpBuilder) -> None:
    """A counter in memory, set to 0 before the loop; its condition also asks that it is below MOST."""
    type_ = ir.MemRefType.get([], build.word())
    with ir.InsertionPoint.at_block_begin(func_of(op).body), op.location:
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
        count = ir.Operation.create("memref.alloca", [type_], [], segments).results[0]
    with ir.InsertionPoint(op), op.location:
        ir.Operation.create("memref.store", [], [build.number(0), count])
    end = list(op.regions[0].blocks[0].operations)[-1].operation
    with ir.InsertionPoint(end), op.location:
        trips = ir.Operation.create("memref.load", [build.word()], [count]).results[0]
        ir.Operation.create("memref.store", [], [build.plus(trips, build.number(1)), count])
        is_below = build.cmpi("slt", trips, build.number(MOST))
        end.operands[0] = build.binary("arith.andi", end.operands[0], is_below)
