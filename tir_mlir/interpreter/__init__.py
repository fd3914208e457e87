"""A reference interpreter: translates a program at any stage to checked Python, and counts its accesses and operations.

`writer.py` turns a function into Python text; `loops.py`, `blocks.py`, `elements.py`, `buffers.py`, `values.py`,
`vectors.py`, `calls.py` say how each op is written. `floats.py`, `integers.py` are the numbers, `memory.py` what holds
them, `poison.py` what nobody wrote, `watch.py` the races, `stops.py` the words of an error, `tally.py` the counts.
"""

from tir_mlir.interpreter.counters import Counts, Report
from tir_mlir.interpreter.interpret import exactly, interpret
from tir_mlir.interpreter.memory import Pointer, View
from tir_mlir.interpreter.poison import Poison, is_poison

__all__ = ["Counts", "Pointer", "Poison", "Report", "View", "exactly", "interpret", "is_poison"]
