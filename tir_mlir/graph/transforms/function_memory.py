"""What the plan of memory has to know of functions: buffers of their own, and inputs that results may overwrite."""

from __future__ import annotations

from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import attrs, enter_context, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import SCRATCH
from tir_mlir.graph.memory.calls_in_place import candidate_pairs, mark
from tir_mlir.graph.units.memory_unit import allocates, safe_pairs, scratch_of_each
from tir_mlir.targets.stages import BuildOptions


def find_scratch(graph: Graph, cache: bool = False) -> Graph:
    """Note at each TensorIR function that a node calls how many bytes it needs for buffers of its own, such as a padded
    image: they become part of the arena, so that a call allocates nothing.

        func.func @conv2d(%X, %W, %Y) { %P = memref.alloc ... }
    ->  func.func @conv2d(%X, %W, %Y) attributes {graph.scratch = 861184} { %P = memref.alloc ... }

    Buffers of symbolic sizes, and those of one iteration of a parallel loop, remain on the heap.
    """
    annotated = graph.clone()
    with enter_context(), symbols_kept(annotated.module.mlir):
        callees = [f.callee for f in tensor_funcs(annotated.module.mlir) if f.kind == encoding.CALL_TIR]
        functions = [annotated.module[name] for name in dict.fromkeys(callees)]
        functions = [function for function in functions if allocates(function.func.op)]
        for function, size in zip(functions, scratch_of_each(functions, BuildOptions(cache=cache)), strict=True):
            if size:
                attrs.put(function.func.op, SCRATCH, size)
    return annotated


def mark_in_place(graph: Graph, cache: bool = False) -> Graph:
    """Note at each TensorIR function that a node calls which results may take the memory of which inputs, where that
    makes the arena of the graph smaller.

        func.func @add(%A, %B, %C) { for i: C[i] = A[i] + B[i] }
    ->  func.func @add(%A, %B, %C) attributes {graph.in_place = [[0, 2]]} { ... }

    Each pair is proved: every element of the result is written after the last read of that element.
    """
    annotated = graph.clone()
    with enter_context(), symbols_kept(annotated.module.mlir):
        wanted = candidate_pairs(annotated.func, annotated.module.mlir)
        pairs = {annotated.module[name]: list(of_name) for name, of_name in wanted.items()}
        safe = dict(zip(wanted, safe_pairs(pairs, BuildOptions(cache=cache)), strict=True))
        mark(annotated.func, annotated.module.mlir, safe)
    return annotated
