"""Faults planted into kernels: a barrier left out, a guard weakened. The PTX machine has to see each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir

from fuzzing.kernels.machine import function_of, on_machine
from tir_mlir.dialect.ir import Constraint, constraints, edit, walk
from tir_mlir.errors import LoweringError, PtxError

BARRIERS, AXES = "tir-lower-gpu-barriers", "tir-lower-gpu-axes"


def survivors(program: Any, arrays: Callable[[], Sequence[np.ndarray]], expected: np.ndarray) -> list[str]:
    """The faults, one at a time, with which a kernel still runs without a report and gives the expected last array."""
    missed = []
    for sort, (after, of_module, plant) in FAULTS.items():
        for number in range(_count(program, after, of_module)):
            arguments = arrays()
            try:
                on_machine(program, arguments, follow=_planted(after, of_module, plant, number))
            except (PtxError, LoweringError):  # a later pass may see it, too
                continue
            if np.array_equal(arguments[-1], expected):
                missed.append(f"{sort} {number}")
    return missed


def _barriers(module: ir.Module) -> list[ir.Operation]:
    return [op for op in walk.ops(module.operation) if op.name == "gpu.barrier"]


def _guards(module: ir.Module) -> list[tuple[ir.Operation, int]]:
    """Guards, and the numbers of their inequalities."""
    ifs = [op for op in walk.ops(module.operation) if op.name == "affine.if" and not len(op.results)]
    return [(op, n) for op in ifs for n, c in enumerate(constraints(op)) if not c.is_eq]


def _weaken(inequality: tuple[ir.Operation, int]) -> None:
    """Let one more in: `i < n` becomes `i <= n`."""
    guard, number = inequality
    conditions = constraints(guard)
    conditions[number] = Constraint(conditions[number].index + 1)
    edit.rebuild_guard(guard, conditions)


def _drop(op: ir.Operation) -> None:
    op.erase()


FAULTS: dict[str, tuple[str, Callable[[ir.Module], list[Any]], Callable[[Any], None]]] = {
    "without barrier": (BARRIERS, _barriers, _drop),
    "weaker guard": (AXES, _guards, _weaken),
}


def _count(program: Any, after: str, of_module: Callable[[ir.Module], list[Any]]) -> int:
    counts: list[int] = []

    def follow(name: str, module: ir.Module) -> None:
        if name == after:
            counts.append(len(of_module(module)))

    function_of(program, follow=follow)
    return counts[0]


def _planted(
    after: str, of_module: Callable[[ir.Module], list[Any]], plant: Callable[[Any], None], number: int
) -> Callable[[str, ir.Module], None]:
    def follow(name: str, module: ir.Module) -> None:
        if name == after:
            plant(of_module(module)[number])

    return follow
