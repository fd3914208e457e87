"""Text to IR and back: `from tir_mlir.script import ir as I, tir as T`."""

from tir_mlir.script import ir, tir
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import parse

ir_module = ir.ir_module

__all__ = ["IRModule", "PrimFunc", "ir", "ir_module", "parse", "tir"]
