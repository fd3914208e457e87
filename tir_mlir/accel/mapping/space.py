"""The space of a mapping: the sizes of its parts, the order of its loops, and where its copies are, to be searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

from tir_mlir.accel.mapping.axes import all_sizes
from tir_mlir.accel.mapping.nest import Nest
from tir_mlir.accel.mapping.tiling import Tiling, copy_levels, fits, loop_order
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.free_choice import Free

Choose = Callable[[Nest, Sequence[Tiling]], Sequence[Tiling]]
"""The tilings to try for a nest, of those that are ranked by their cost."""


@dataclass(frozen=True)
class FreeTilings:
    """Decisions of a schedule: each has the value of the cheapest tiling as its default."""

    sch: Schedule

    def __call__(self, nest: Nest, ranked: Sequence[Tiling]) -> list[Tiling]:
        """The tiling that is decided. Errors: MachineError for one that does not fit the memories."""
        best, free = ranked[0], Free(self.sch, nest.block, True)
        parts = tuple(free.choice(axis.name, all_sizes(axis), best.parts[a]) for a, axis in enumerate(nest.axes))
        spatial = [a for a, axis in enumerate(nest.axes) if axis.kind == "S"]
        orders = [loop_order(nest, order) for order in permutations(spatial)]
        default = next((n for n, order in enumerate(orders) if order == loop_order(nest, _spatial(nest, best))), 0)
        order = orders[free.choice("order", range(len(orders)), default)]
        levels = tuple(
            free.choice(copy.buffer.name, range(-1, len(nest.axes)), best.levels[n])
            for n, copy in enumerate(nest.copies)
        )
        ahead = nest.copies_ahead and free.flag("ahead", best.ahead)
        outer = Tiling(parts, order, ()).outer(nest)
        places = (max(n for n in copy_levels(c, outer) if n <= at) for c, at in zip(nest.copies, levels, strict=True))
        starts = nest.fill is not None and free.flag("starts", best.starts) and ahead
        tiling = Tiling(parts, order, tuple(places), ahead, starts)
        if not fits(nest, tiling):
            raise MachineError(f"block {nest.block}: these tiles do not fit the memories")
        return [tiling]


def _spatial(nest: Nest, tiling: Tiling) -> list[int]:
    return [a for a in tiling.order if nest.axes[a].kind == "S"]
