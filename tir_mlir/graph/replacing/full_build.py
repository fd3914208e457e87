"""The full build of a graph in another process, which leaves all that it makes in the cache."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from mlir import ir

from tir_mlir.dialect.ir import entered
from tir_mlir.graph.build_model import library_of
from tir_mlir.graph.compile import Options
from tir_mlir.graph.compiled_cache import compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.runtime.timing import Timing
from tir_mlir.runtime.workers import Task
from tir_mlir.script.module import IRModule

_NICE = 5
"""By how much the process steps back behind those that call models."""


def full_build_task(graph: Graph, options: Options, libs: Sequence[str | Path]) -> Task:
    """The task of a worker that compiles a graph; of the weights it gets shapes and types only."""
    with entered():
        text = str(graph.module.mlir)
    weights = {name: (array.shape, array.dtype.str) for name, array in graph.weights.items()}
    payload = pickle.dumps((text, graph.name, weights, options, [str(lib) for lib in libs]))
    return Task(f"{__name__}:build_into_cache", payload, "", "", graph.name)


def build_into_cache(payload: bytes) -> bytes:
    """Compile a graph with the cache. The result is empty."""
    os.nice(_NICE)
    text, name, weights, options, libs = pickle.loads(payload)
    with entered():
        module = IRModule(ir.Module.parse(text))
    arrays = {weight: np.broadcast_to(np.zeros((), dtype), shape) for weight, (shape, dtype) in weights.items()}
    library_of(compiled_by_content(Graph(module, arrays, name), options), options.target, Timing(), libs=libs)
    return b""
