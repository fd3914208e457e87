"""Schedule: Python steps that rewrite a module, proved or refused."""

from .handles import BlockHandle, BlockInfo, LoopHandle, LoopInfo
from .schedule import Schedule
from .trace import Trace

__all__ = ["BlockHandle", "BlockInfo", "LoopHandle", "LoopInfo", "Schedule", "Trace"]
