"""Map programs to machines: instructions are matched with blocks, tiles are chosen, and the steps are a schedule."""

from tir_mlir.accel.mapping.mapping import Mapping as Mapping
from tir_mlir.accel.mapping.mapping import cheapest_program as cheapest_program
from tir_mlir.accel.mapping.mapping import map_program as map_program
