"""The memory that functions need for buffers of their own, known before they are lowered."""

from __future__ import annotations

import warnings

from mlir import ir

from tir_mlir.dialect.ir import clone_module, entered, walk
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.memory.allocs import scratch_bytes
from tir_mlir.passes.lower.registry import LOWERINGS, programs, text_of

_BEFORE = pipeline.MODULE_PASSES[: pipeline.MODULE_PASSES.index("tir-lower-allocs")]


def scratch_of(module: ir.Module) -> dict[str, int]:
    """By function, the bytes of buffers that lowering would put on the heap in each call.

    Lowers a copy of the module up to where buffers are placed. Errors: those of the lowering.
    """
    with entered(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are told when the module is built
        if not any(op.name == "memref.alloc" for op in walk.ops(module.operation)):
            return {}
        copy, text = clone_module(module), text_of(module)
        for name in _BEFORE:
            LOWERINGS[name].run_if_needed(copy, text)
        return {func.name: scratch_bytes(func) for func in programs(copy)}
