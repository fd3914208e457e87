"""Free parameters of schedules: decisions of a search, whose defaults are what the schedule would choose itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_handle, block_info

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike


class Free:
    """The free parameters of the schedule of one block: sampled under the name of the block, "C.tile_rows".

    `free` unset: every parameter has its default, and the trace has no sampling step.
    """

    def __init__(self, sch: Schedule, block: BlockLike, free: bool):
        self.sch, self.free = sch, free
        self.prefix = block_info(sch, block_handle(sch, block)).name if free else ""

    def __bool__(self) -> bool:
        return self.free

    def choice(self, name: str, candidates: Iterable[int], default: int) -> int:
        """One of the candidates or the default: as likely as all others together, and twice as likely as one."""
        ordered = sorted({default, *candidates})
        if not self.free or len(ordered) == 1:
            return default
        most = max(2.0, len(ordered) - 1.0)  # more than any other, also if there is only one
        weights = [most if c == default else 1.0 for c in ordered]
        value = self.sch.sample_categorical(ordered, [w / sum(weights) for w in weights], name=f"{self.prefix}.{name}")
        return self.sch.get(value)

    def threads(self, default: int) -> int:
        """The number of threads: that of the schedule, half of it, or one."""
        return self.choice("threads", {1, max(1, default // 2)}, default)

    def flag(self, name: str, default: bool) -> bool:
        """A parameter that is on or off."""
        return bool(self.choice(name, (0, 1), int(default)))
