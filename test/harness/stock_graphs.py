"""Run the text of a graph with upstream mlir passes only."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from harness.stock_linalg import STOCK
from mlir import ir
from mlir.dialects import linalg
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager
from mlir.runtime import get_ranked_memref_descriptor

from tir_mlir.dialect.ir import enter_context, walk

TO_BUFFERS = (
    "inline,symbol-dce,one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions=1},func.func(math-expand-ops{ops=rsqrt}),convert-math-to-llvm,"
    "convert-math-to-libm"
)


def stock_graph(text: str, inputs: list[np.ndarray], outputs: list[np.ndarray], name: str = "main") -> None:
    """Bufferize the module and lower it to loops with upstream passes only, and call a function of the graph."""
    with enter_context():
        module = ir.Module.parse(text)
        for op in module.body.operations:
            kind = ir.StringAttr.get("public" if ir.StringAttr(op.attributes["sym_name"]).value == name else "private")
            op.attributes["sym_visibility"] = kind
        PassManager.parse(f"builtin.module({TO_BUFFERS})").run(module.operation)
        for op in [op for op in walk.ops(module.operation) if op.name == "memref.copy"]:
            with ir.InsertionPoint(op), op.location:  # else one of a view calls a library
                linalg.copy(op.operands[0], outs=[op.operands[1]])
            op.erase()
        own = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == name)
        own.operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        PassManager.parse(f"builtin.module({STOCK})").run(module.operation)
        engine = ExecutionEngine(module, opt_level=0)
        pointers = [ctypes.pointer(ctypes.pointer(_descriptor(a))) for a in (*inputs, *outputs)]
        engine.invoke(name, *pointers)


def _descriptor(array: np.ndarray) -> Any:
    return get_ranked_memref_descriptor(array)
