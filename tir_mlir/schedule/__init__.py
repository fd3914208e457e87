"""Schedule: Python steps that rewrite a module, proved or refused."""

from tir_mlir.schedule.handles import BlockHandle, ExprHandle, LoopHandle
from tir_mlir.schedule.infos import BlockInfo, LoopInfo
from tir_mlir.schedule.instruction import Instruction
from tir_mlir.schedule.schedule import Schedule
from tir_mlir.schedule.trace import Trace

__all__ = ["BlockHandle", "BlockInfo", "ExprHandle", "Instruction", "LoopHandle", "LoopInfo", "Schedule", "Trace"]
