"""What a plan has that a list of launches cannot do."""

from __future__ import annotations

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.control_calls import SizeCount


def refuse_plan(plan: ExecutionPlan, chip: str) -> None:
    """Raise GraphError for branches, loops, sizes that data decide on and calls of packed functions: what is started
    would depend on what kernels compute, or on the CPU."""
    for call in plan.calls:
        if isinstance(call.control, SizeCount):
            why = f"data decide on the size {call.control.size}, and a GPU is started with sizes that are known"
        elif call.control is not None:
            why = f"{call.name} is a branch or a loop that data decide on, and a GPU is started with a list of kernels"
        elif call.packed:
            why = f"{call.name} calls the packed function {call.callee}, which runs on a CPU"
        else:
            continue
        raise GraphError(
            f"{why}; fix: leave target out, for this CPU, or build the parts before and after it for {chip}"
        )
