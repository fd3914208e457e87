"""Schedule: Python steps that rewrite a module, proved or refused."""

from .handles import BlockHandle, ExprHandle, LoopHandle
from .infos import BlockInfo, LoopInfo
from .instruction import Instruction
from .schedule import Schedule
from .trace import Trace

__all__ = ["BlockHandle", "BlockInfo", "ExprHandle", "Instruction", "LoopHandle", "LoopInfo", "Schedule", "Trace"]
