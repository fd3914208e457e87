"""Recognize the epilogue of a reduction, and which epilogues can move into the reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import defining_op, ops
from tir_mlir.dialect.ir.op_traits import DIFFERENCES, MAXIMA, MINIMA, SUMS
from tir_mlir.passes.schedule.inlining.block_expression import BlockExpression
from tir_mlir.passes.schedule.legality import MOVE_UNDER_ONE_LOOP
from tir_mlir.passes.schedule.reduction.reducers import identities
from tir_mlir.passes.schedule.reduction.reduction_form import Updates
from tir_mlir.passes.schedule.registry import refuse

Copied = Callable[[ir.Value], ir.Value]


_WRONG = {
    "sum": "for the terms -3 and 5, T.max(-3 + 5, 0) is 2, but clipping at each step gives 5",
    "max": "for 1 and 2, max(1, 2) + 10 is 12, but adding at each step gives 22, and adding to the start has no effect",
    "min": "for 1 and 2, min(1, 2) + 10 is 11, but adding at each step gives 12, and adding to the start has no effect",
    "product": "for 2 and 3, 2 * 3 + 1 is 7, but adding at each step gives 10, and adding to the start gives 12",
}
_SCALED = "for the terms 1 and 2, (1 + 2) * 3 is 9, but scaling at each step gives (1 * 3 + 2) * 3 = 15"


@dataclass(frozen=True)
class EpilogueStep:
    """`op(x, other)`, or `op(other, x)` if `turned`."""

    op: str
    other: ir.Value
    turned: bool


@dataclass(frozen=True)
class Epilogue:
    """The steps from the final value of a reduction to what is stored, innermost first."""

    reducer: str
    steps: tuple[EpilogueStep, ...]
    unsigned: bool = False

    def started(self, start: ir.Attribute, copied: Copied) -> ir.Value:
        """Emit the start of the merged reduction: the epilogue applied to the old start, simplified for 0 and
        identities.
        """
        type_ = start.type  # type: ignore[attr-defined]
        plain = start.value in identities(self.reducer, type_, self.unsigned)  # type: ignore[attr-defined]
        value: ir.Value | None = None
        for step in self.steps:
            drops = (
                step.op in SUMS if self.reducer == "sum" else step.op in (MAXIMA if self.reducer == "max" else MINIMA)
            )
            if value is None and plain and drops:
                value = copied(step.other)
            else:
                value = _made(step, arith.constant(type_, start) if value is None else value, copied)
        return arith.constant(type_, start) if value is None else value

    def updated(self, value: ir.Value, copied: Copied) -> ir.Value:
        """Emit the update of the merged reduction: added terms are in the start already, clipping applies at each
        step.
        """
        if self.reducer == "sum":
            return value
        for step in self.steps:
            value = _made(step, value, copied)
        return value


def _made(step: EpilogueStep, value: ir.Value, copied: Copied) -> ir.Value:
    other = copied(step.other)
    operands = [other, value] if step.turned else [value, other]
    return ir.Operation.create(step.op, results=[value.type], operands=operands).results[0]


def epilogue_of(updates: Updates, payload: BlockExpression, load: ir.Operation) -> Epilogue:
    """The steps of an epilogue. Refuses those that do not distribute over partial results."""
    reducer, unsigned = updates.reducers[0][0].name, updates.reducers[0][0].unsigned
    clips = [
        op for op in (*MAXIMA, *MINIMA) if op.endswith("ui") == unsigned
    ]  # one order for the terms and the clipping
    known = {"sum": (*SUMS, *DIFFERENCES), "max": clips, "min": clips}.get(reducer, ())
    steps: list[EpilogueStep] = []
    value = payload.value
    while value != load.results[0]:
        op = defining_op(value)
        sides = [] if op is None else [n for n, v in enumerate(op.operands) if _depends(v, load)]
        if op is None or op.name not in known or len(sides) != 1 or (op.name in DIFFERENCES and sides != [0]):
            _refuse_step(payload, reducer, op)
        steps.append(EpilogueStep(op.name, op.operands[1 - sides[0]], sides == [1]))
        value = op.operands[sides[0]]
    return Epilogue(reducer, tuple(reversed(steps)), unsigned)


def _depends(value: ir.Value, load: ir.Operation) -> bool:
    """Whether a value depends on a load."""
    op = defining_op(value)
    if op is None:
        return False
    if op == load or any(inner == load for inner in ops(op)):
        return True
    return any(_depends(v, load) for v in op.operands if not isinstance(v.type, ir.MemRefType))


def _refuse_step(payload: BlockExpression, reducer: str, op: ir.Operation | None) -> NoReturn:
    what = op.name.partition(".")[2] if op is not None else "nothing known"
    may = {
        "sum": "a sum allows addition and subtraction",
        "max": "a maximum allows clipping by T.max and T.min",
        "min": "a minimum allows clipping by T.max and T.min",
    }.get(reducer, f"a {reducer} allows no epilogue")
    example = _SCALED if reducer == "sum" and "mul" in what else _WRONG.get(reducer, "")
    if reducer == "sum" and op is not None and op.name not in (*MAXIMA, *MINIMA) and "mul" not in what:
        example = "it does not commute with adding the next term"
    refuse(
        payload.block,
        f'block "{payload.block.name}" does {what} to an unfinished {reducer}: {may}'
        + (f" ({example})" if example else ""),
        fix=MOVE_UNDER_ONE_LOOP,
    )
