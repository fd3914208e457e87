"""Worker processes for a build that is to come: they load what they will be asked for while this process goes on."""

from __future__ import annotations

from tir_mlir.runtime import workers

_EACH = 0.05
"""CPU seconds of worker processes for an operator, about: to know whether they pay."""
WORK = (
    "tir_mlir.graph.units.operator_unit:make",
    "tir_mlir.graph.units.fusion_unit:facts",
    "tir_mlir.graph.units.panels_unit:pack",
    "tir_mlir.graph.units.schedule_unit:schedule",
    "tir_mlir.graph.units.memory_unit:scratch",
    "tir_mlir.targets.cpu.units.unit_code:compile_unit",
)
"""What workers are asked for in a build."""


def start_workers(operators: int) -> None:
    """Start workers if they pay for a graph of about so many operators that is not in the cache."""
    workers.start(_EACH * operators, WORK)
