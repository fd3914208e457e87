"""Accelerators: machines with memories, instructions, state and time, described once and used for everything."""

from tir_mlir.accel.back_end import MachineFunction as MachineFunction
from tir_mlir.accel.back_end import show_memory as show_memory
from tir_mlir.accel.instruction import MachineInstruction as MachineInstruction
from tir_mlir.accel.machine import Machine as Machine
from tir_mlir.accel.mapping import Mapping as Mapping
from tir_mlir.accel.mapping import map_program as map_program
from tir_mlir.accel.operands import between as between
from tir_mlir.accel.operands import upto as upto

map = map_program
