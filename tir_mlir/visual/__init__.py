"""Pictures of programs and schedules: loop nests, tiles in their buffers, rooflines, and a page to learn from.

Most are reached from a schedule: `sch.plot()`, `sch.plot_access("C", "A", loop)`, `sch.history.html("steps.html")`.
Each picture is SVG text that notebooks show and `.save(path)` writes; nothing else needs to be installed.
"""

from tir_mlir.visual.rooflines import Point, roofline
from tir_mlir.visual.svg import Picture

__all__ = ["Picture", "Point", "roofline"]
