"""Map programs to machines: instructions are matched with blocks, tiles are chosen, and the steps are a schedule."""

from tir_mlir.accel.mapping.mapping import Mapping as Mapping
from tir_mlir.accel.mapping.mapping import estimate_cycles as estimate_cycles
from tir_mlir.accel.mapping.mapping import map_program as map_program
