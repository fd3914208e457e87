"""Schedules: rewrite a module with primitives, each proven legal or refused."""

from tir_mlir.extensions import implemented_in
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, LoopHandle
from tir_mlir.schedule.info import BlockInfo, LoopInfo
from tir_mlir.schedule.schedule import Schedule
from tir_mlir.schedule.trace import Trace
from tir_mlir.schedule.trace.instruction import Instruction

__all__ = ["BlockHandle", "BlockInfo", "ExprHandle", "Instruction", "LoopHandle", "LoopInfo", "Schedule", "Trace"]

implemented_in(
    {
        "tir_mlir.schedule.schedule": {
            "Schedule.plot": "tir_mlir.schedule.plot",
            "Schedule.plot_access": "tir_mlir.schedule.plot",
            "Schedule.show_layout": "tir_mlir.schedule.layouts",
            "Schedule.verify": "tir_mlir.schedule.verify",
        },
    }
)
