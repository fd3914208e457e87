"""Lower and run a module on NumPy arrays without the runtime of the package."""

from __future__ import annotations

import ctypes

import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.runtime import get_ranked_memref_descriptor

from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower import LOWERINGS, lower_to_llvm
from tir_mlir.runtime.drivers.shared_libraries import openmp

OPENMP = openmp()


def passed(source: str, *names: str) -> str:
    """Return the text of a module after some of the lowering passes."""
    with enter_context():
        module = ir.Module.parse(source)
        for name in names:
            LOWERINGS[name].run(module)
        assert module.operation.verify()
        return module.operation.get_asm(use_local_scope=True)


def run(source: str, *arrays: np.ndarray, name: str = "main", libs: tuple[str, ...] = (), kernel: str = "") -> None:
    """Parse, lower, compile and call; results are written to the arrays."""
    with enter_context():
        module = ir.Module.parse(source)
        if kernel:
            _define(module, kernel)
        lower_to_llvm(module)
        engine = ExecutionEngine(module, opt_level=2, shared_libs=list(libs))
        pointers = [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays]
        engine.invoke(name, *pointers)


def _define(module: ir.Module, kernel: str) -> None:
    """Replace the declaration of a kernel by its definition."""
    made = ir.Module.parse(kernel)
    name = ir.StringAttr(made.body.operations[0].attributes["sym_name"]).value
    for op in list(module.body.operations):
        if ir.StringAttr(op.attributes["sym_name"]).value == name:
            op.operation.erase()
    made.body.operations[0].operation.move_before(module.body.operations[0])
