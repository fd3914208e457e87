"""A PTX machine: runs the text of a kernel as a GPU would, on NumPy arrays, and finds races, missing barriers, bad
accesses.

`launch` runs one kernel and returns a `Report` of what it did; `parse` reads a text; `stand_in` lets calls of programs
and models run on it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tir_mlir.errors import PtxError
from tir_mlir.ptx.launching import launch
from tir_mlir.ptx.parser import Kernel, Module, parse
from tir_mlir.ptx.report import Report
from tir_mlir.ptx.tensors import TensorMap

__all__ = ["Kernel", "Module", "PtxError", "Report", "TensorMap", "launch", "parse", "stand_in"]

if TYPE_CHECKING:
    from tir_mlir.ptx.stand_in_device import stand_in as stand_in


def __getattr__(name: str) -> Any:
    if name == "stand_in":  # it loads what calls programs
        return importlib.import_module("tir_mlir.ptx.stand_in_device").stand_in
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
