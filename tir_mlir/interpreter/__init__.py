"""A reference interpreter: translates a program at any stage to checked Python, and counts its accesses and operations.

`codegen.py` translates a function, op by op, with the handlers in `ops/`. Run time: numbers in `floats.py` and
`integers.py`, `memory.py`, uninitialized values in `poison.py`, race detection and locations of errors
in `diagnose.py`, counts in `counters.py`.
"""

from tir_mlir.interpreter.counters import Counts, Report
from tir_mlir.interpreter.interpret import exactly, interpret
from tir_mlir.interpreter.memory import Pointer, View
from tir_mlir.interpreter.poison import Poison, is_poison

__all__ = ["Counts", "Pointer", "Poison", "Report", "View", "exactly", "interpret", "is_poison"]
