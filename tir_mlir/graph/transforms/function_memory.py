"""What the plan of memory has to know of functions: buffers of their own, and inputs that results may overwrite."""

from __future__ import annotations

import warnings

from mlir import ir

from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import attrs, clone_module, entered, walk
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.calls_in_place import mark
from tir_mlir.graph.memory.places import SCRATCH
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


def find_scratch(graph: Graph) -> Graph:
    """Note at each TensorIR function that a node calls how many bytes it needs for buffers of its own, such as a padded
    image: they become part of the arena, so that a call allocates nothing.

        func.func @conv2d(%X, %W, %Y) { %P = memref.alloc ... }
    ->  func.func @conv2d(%X, %W, %Y) attributes {graph.scratch = 861184} { %P = memref.alloc ... }

    Buffers of symbolic sizes, and those of one iteration of a parallel loop, stay on the heap.
    """
    annotated = graph.clone()
    with entered():
        callees = [f.callee for f in tensor_funcs(annotated.module.mlir) if f.kind == encoding.CALL_TIR]
    for name in dict.fromkeys(callees):
        scratch_bytes = scratch_of(annotated.module[name].alone.mlir).get(name, 0)
        if scratch_bytes:
            with entered():
                attrs.put(annotated.module[name].func.op, SCRATCH, scratch_bytes)
    return annotated


def mark_in_place(graph: Graph) -> Graph:
    """Note at each TensorIR function that a node calls which results may take the memory of which inputs, where that
    makes the arena of the graph smaller.

        func.func @add(%A, %B, %C) { for i: C[i] = A[i] + B[i] }
    ->  func.func @add(%A, %B, %C) attributes {graph.in_place = [[0, 2]]} { ... }

    Each pair is proved: every element of the result is written after the last read of that place.
    """
    annotated = graph.clone()
    with entered():
        mark(annotated.func, annotated.module.mlir)
    return annotated
