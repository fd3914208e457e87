"""A PTX machine: runs the text of a kernel as a GPU would, on NumPy arrays, and finds races, missing barriers, bad
accesses.

`launch` runs one kernel and returns a `Report` of what it did; `parse` reads a text.
"""

from tir_mlir.errors import PtxError
from tir_mlir.ptx.launching import launch
from tir_mlir.ptx.parser import Kernel, Module, parse
from tir_mlir.ptx.report import Report
from tir_mlir.ptx.tensors import TensorMap

__all__ = ["Kernel", "Module", "PtxError", "Report", "TensorMap", "launch", "parse"]
