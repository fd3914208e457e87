"""When the instructions of a machine's program are executed, and what they wait for."""

from tir_mlir.accel.timing.timeline import Timeline as Timeline
from tir_mlir.accel.timing.timeline import measure as measure
