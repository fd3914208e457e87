"""What an epilogue does to the result of a reduction, where doing it inside the reduction is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import defining_op, ops
from tir_mlir.passes.schedule.inlining.block_expression import Payload
from tir_mlir.passes.schedule.legality import UNDER_ONE
from tir_mlir.passes.schedule.reduction.reducers import identities
from tir_mlir.passes.schedule.reduction.reduction_form import Updates
from tir_mlir.passes.schedule.registry import refuse

Copied = Callable[[ir.Value], ir.Value]

_ADD = ("arith.addf", "arith.addi")
_SUBTRACT = ("arith.subf", "arith.subi")
_MAX = ("arith.maximumf", "arith.maxnumf", "arith.maxsi")
_MIN = ("arith.minimumf", "arith.minnumf", "arith.minsi")
_WRONG = {
    "sum": "of the terms -3 and 5, T.max(-3 + 5, 0) is 2, but clipped at each step it is 5",
    "max": "of 1 and 2, max(1, 2) + 10 is 12, but added at each step it is 22, and added to the start it is lost",
    "min": "of 1 and 2, min(1, 2) + 10 is 11, but added at each step it is 12, and added to the start it is lost",
    "product": "of 2 and 3, 2 * 3 + 1 is 7, but added at each step it is 10, and added to the start it is 12",
}
_SCALED = "of the terms 1 and 2, (1 + 2) * 3 is 9, but scaled at each step it is (1 * 3 + 2) * 3 = 15"


@dataclass(frozen=True)
class Step:
    """`op(x, other)`, or `op(other, x)` where `turned`."""

    op: str
    other: ir.Value
    turned: bool


@dataclass(frozen=True)
class Epilogue:
    """The steps from the finished value of a reduction to what is stored, inner first."""

    reducer: str
    steps: tuple[Step, ...]

    def started(self, start: ir.Attribute, copied: Copied) -> ir.Value:
        """The start of the merged reduction: the epilogue of the old one, without adding to 0 or clipping the least."""
        type_ = start.type  # type: ignore[attr-defined]
        plain = start.value in identities(self.reducer, type_)  # type: ignore[attr-defined]
        value: ir.Value | None = None
        for step in self.steps:
            drops = step.op in _ADD if self.reducer == "sum" else step.op in (_MAX if self.reducer == "max" else _MIN)
            if value is None and plain and drops:
                value = copied(step.other)
            else:
                value = _made(step, arith.constant(type_, start) if value is None else value, copied)
        return arith.constant(type_, start) if value is None else value

    def updated(self, value: ir.Value, copied: Copied) -> ir.Value:
        """The update of the merged reduction: what is added is in the start already, a clip is made at each step."""
        if self.reducer == "sum":
            return value
        for step in self.steps:
            value = _made(step, value, copied)
        return value


def _made(step: Step, value: ir.Value, copied: Copied) -> ir.Value:
    other = copied(step.other)
    operands = [other, value] if step.turned else [value, other]
    return ir.Operation.create(step.op, results=[value.type], operands=operands).results[0]


def epilogue_of(updates: Updates, payload: Payload, load: ir.Operation) -> Epilogue:
    """The steps of an epilogue. Refuses those that partial results would get a different value from."""
    reducer = updates.reducers[0][0].name
    known = {"sum": (*_ADD, *_SUBTRACT), "max": (*_MAX, *_MIN), "min": (*_MAX, *_MIN)}.get(reducer, ())
    steps: list[Step] = []
    value = payload.value
    while value != load.results[0]:
        op = defining_op(value)
        sides = [] if op is None else [n for n, v in enumerate(op.operands) if _depends(v, load)]
        if op is None or op.name not in known or len(sides) != 1 or (op.name in _SUBTRACT and sides != [0]):
            _refuse_step(payload, reducer, op)
        steps.append(Step(op.name, op.operands[1 - sides[0]], sides == [1]))
        value = op.operands[sides[0]]
    return Epilogue(reducer, tuple(reversed(steps)))


def _depends(value: ir.Value, load: ir.Operation) -> bool:
    """Whether a value is computed from a load."""
    op = defining_op(value)
    if op is None:
        return False
    if op == load or any(inner == load for inner in ops(op)):
        return True
    return any(_depends(v, load) for v in op.operands if not isinstance(v.type, ir.MemRefType))


def _refuse_step(payload: Payload, reducer: str, op: ir.Operation | None) -> NoReturn:
    what = op.name.partition(".")[2] if op is not None else "nothing known"
    may = {
        "sum": "something may be added to a sum, or subtracted from it",
        "max": "a maximum may be clipped by T.max and T.min",
        "min": "a minimum may be clipped by T.max and T.min",
    }.get(reducer, f"nothing may follow the {reducer} of a reduction")
    example = _SCALED if reducer == "sum" and "mul" in what else _WRONG.get(reducer, "")
    if reducer == "sum" and op is not None and op.name not in (*_MAX, *_MIN) and "mul" not in what:
        example = "it does not commute with adding the next term"
    refuse(
        payload.block,
        f'block "{payload.block.name}" does {what} to a {reducer} that would not be finished: {may}'
        + (f" ({example})" if example else ""),
        fix=UNDER_ONE,
    )
