"""TVMScript: the `T` and `I` namespaces, the parser, the printer, and `IRModule`, the module that programs live in."""

from tir_mlir.script import ir, tir
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import parse, python_scope

ir_module = ir.ir_module
python_scope.set_namespaces(tir, ir)

__all__ = ["IRModule", "PrimFunc", "ir", "ir_module", "parse", "tir"]
