"""A program in plain Python, element by element: what it means, without LLVM.

`writer.py` turns a function into Python text; `loops.py`, `blocks.py`, `elements.py`, `buffers.py`, `values.py`,
`vectors.py`, `calls.py` say how each op is written. `floats.py`, `integers.py` are the numbers, `memory.py` what holds
them, `poison.py` what nobody wrote, `watch.py` the races, `stops.py` the words of an error, `tally.py` the counts.
"""

from .memory import Pointer, View
from .poison import Poison, is_poison
from .running import exactly, interpret
from .tally import Counts, Report

__all__ = ["Counts", "Pointer", "Poison", "Report", "View", "exactly", "interpret", "is_poison"]
