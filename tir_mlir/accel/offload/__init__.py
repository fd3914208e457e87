"""Let a machine compute what it can of a graph: `graph.offload(machine)`."""

from tir_mlir.accel.offload.offload import OffloadedGraph as OffloadedGraph
from tir_mlir.accel.offload.offload import offload as offload
from tir_mlir.accel.offload.report import CpuNode as CpuNode
from tir_mlir.accel.offload.report import OffloadedNode as OffloadedNode
from tir_mlir.accel.offload.report import OffloadReport as OffloadReport
