"""Pictures of programs and schedules: loop nests, tiles in their buffers, rooflines, bars, counts of the
elements that a step loads and stores, and an HTML page of all steps.

Most are methods of a schedule: `sch.plot()`, `sch.plot_access("C", "A", loop)`, `sch.history.html("steps.html")`. Each
picture is SVG text that notebooks display and `.save(path)` writes. No further packages are needed.
"""

from tir_mlir.visual.bars import bars
from tir_mlir.visual.rooflines import Point, roofline
from tir_mlir.visual.svg import Picture

__all__ = ["Picture", "Point", "bars", "roofline"]
