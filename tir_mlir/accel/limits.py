"""Numbers that fit the fields of instructions and registers."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tir_mlir.accel.operands import Between
from tir_mlir.accel.program import Clipped, Issue, MachineProgram, Value
from tir_mlir.accel.timing.stream import Executions, read_stream
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.ir import dtypes
from tir_mlir.dialect.symbolic import Constant


def check_limits(program: MachineProgram) -> MachineProgram:
    """The program, whose instructions have numbers that fit their fields: constants, else the values in all iterations.

    Errors: MachineError with the instruction, the number, the first loops at which it does not fit, and the line.
    """
    varying: set[Issue] = set()
    for issue in [n for n in program.nodes() if isinstance(n, Issue)]:
        limits = _limits(issue)
        for number in issue.instruction.numbers:
            value = _constant(issue.numbers[number.name])
            if value is None:
                varying |= {issue} if number.name in limits else set()
                continue
            allowed = limits.get(number.name) or _limits_of_type(number.dtype)
            if allowed is not None and not allowed.holds(value):
                raise MachineError(_refusal(issue, number.name, value, allowed))
    if varying and program.sizes:
        _check_clipped(varying)
    elif varying:
        for executions in read_stream(program).tables:
            if executions.issue in varying:
                _check_iterations(executions)
    return program


def _limits(issue: Issue) -> dict[str, Between]:
    """What the numbers of an instruction may be, by its own fields and by those of the registers that it sets."""
    fields = {f.name: f for f in issue.instruction.sets}
    found = {
        n.name: n.limits or (fields[n.name].limits if n.name in fields else None) for n in issue.instruction.numbers
    }
    return {name: limits for name, limits in found.items() if limits is not None}


def _limits_of_type(dtype: str) -> Between | None:
    return None if dtype == "bool" or dtypes.is_float(dtype) else Between(*dtypes.limits(dtype))


def _constant(value: Value) -> float | None:
    if isinstance(value, Constant):
        return int(value.value)
    return value if isinstance(value, float) else None


def _check_clipped(issues: Iterable[Issue]) -> None:
    """Check numbers that vary with sizes: a minimum and a maximum keep them in their fields."""
    for issue in issues:
        for name, allowed in _limits(issue).items():
            value = issue.numbers[name]
            if _constant(value) is not None:
                continue
            ends = (value.low, value.high) if isinstance(value, Clipped) else (None, None)
            if None in ends or allowed.step not in (0, 1) or not all(allowed.holds(n) for n in ends if n is not None):
                raise MachineError(
                    f"{issue.instruction}: {name} depends on a size that a call decides, and is not shown to be one of "
                    f"the numbers {allowed} of its field; fix: a program for each size\n  {issue.line}"
                )


def _check_iterations(executions: Executions) -> None:
    for name, limits in _limits(executions.issue).items():
        fits = np.array([limits.holds(v) for v in executions.numbers[name].tolist()], bool)
        if not fits.all():
            time = int(np.argmin(fits))
            at = executions.iteration(time)
            raise MachineError(
                _refusal(
                    executions.issue, name, executions.numbers[name][time].item(), limits, f" at {at}" if at else ""
                )
            )


def _refusal(issue: Issue, name: str, value: float, limits: Between, at: str = "") -> str:
    near = "" if math.isnan(value) else f"; the nearest is {_nearest(value, limits)}"
    return f"{issue.instruction}{at}: {name} is {value}, and its field takes numbers {limits}{near}\n  {issue.line}"


def _nearest(value: float, limits: Between) -> float:
    """The number that fits and is next to one that does not."""
    inside = min(max(value, limits.low), limits.high)
    if not limits.step:
        return inside
    last = math.floor((limits.high - limits.low) / limits.step)
    return limits.low + min(last, round((inside - limits.low) / limits.step)) * limits.step
