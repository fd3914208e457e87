"""Run linalg programs: ours through `build`, the original through upstream mlir-opt passes only."""

from __future__ import annotations

import ctypes

import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager
from mlir.runtime import get_ranked_memref_descriptor

from tir_mlir.dialect.ir import enter_context

STOCK = (
    "convert-linalg-to-loops,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,"
    "convert-math-to-llvm,finalize-memref-to-llvm,convert-to-llvm,reconcile-unrealized-casts"
)


def stock(text: str, *arrays: np.ndarray, name: str = "main") -> None:
    """Lower linalg to loops with upstream passes only, and call a function; results are written to the arrays."""
    with enter_context():
        module = ir.Module.parse(text)
        for op in module.body.operations:
            op.operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        PassManager.parse(f"builtin.module({STOCK})").run(module.operation)
        engine = ExecutionEngine(module, opt_level=0)
        pointers = [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays]
        engine.invoke(name, *pointers)


def generics(text: str) -> list[str]:
    """Return maps, iterator kinds and body of every generic after upstream generalization, in order."""
    with enter_context():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(linalg-generalize-named-ops)").run(module.operation)
        found = []
        for func in module.body.operations:
            for op in func.regions[0].blocks[0].operations:
                if op.operation.name == "linalg.generic":
                    shown = op.operation.get_asm(use_local_scope=True)
                    head, _, body = shown.partition("{\n")
                    found.append(head.partition(" ins(")[0].partition(" outs(")[0] + body)
        return found


def ints(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Small integers, whose sums are exact in any order."""
    return np.random.default_rng([seed, *shape]).integers(-4, 5, shape).astype(dtype)
