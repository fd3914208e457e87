"""`build(graph, optimize="fast", then="full")`."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.build_model import build_model, library_of
from tir_mlir.graph.compile import Options, are_own_stages
from tir_mlir.graph.compiled_cache import compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.replacing.replaced_model import ReplacedModel
from tir_mlir.graph.units.unit_queries import FAST, FULL
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.scheduled_programs import FINDER
from tir_mlir.runtime.timing import Timing
from tir_mlir.runtime.workers import Task
from tir_mlir.script.module import IRModule
from tir_mlir.target import Target

_NICE = 5
"""By how much the process of the full build steps back behind those that call models."""


def build_replaced(
    graph: Graph,
    target: Target | str = "llvm",
    *,
    then: Any,
    threads: int | None = None,
    optimize: str = FULL,
    cache: bool = True,
    libs: Sequence[str | Path] = (),
    dump: str | Path | None = None,
) -> ReplacedModel:
    """A model of optimize="fast" that its full build replaces. Errors: GraphError for other values, and for a dump,
    which is of one build.

    Another process builds it into the cache, and this one reads it; where there is no cache, and where schedules or
    stages are not those of the package, a thread of this process builds it.
    """
    if then != FULL or optimize != FAST:
        raise GraphError(
            f'then="{FULL}" replaces a model of optimize="{FAST}"; there is no then={short_repr(then)} for '
            f"optimize={short_repr(optimize)}"
        )
    if dump is not None:
        raise GraphError("dump is for one build, not for two; fix: leave out then")
    original, options = graph.clone(), {"threads": threads, "cache": cache, "libs": libs}
    first = build_model(graph, target, optimize=FAST, **options)
    by_cache = cache and store.limit() and are_own_stages() and FINDER.get() is None
    task = _full_build_task(original, Options(target, threads, cache=cache), libs) if by_cache else None
    return ReplacedModel(first, partial(build_model, original, target, **options), task)


def _full_build_task(graph: Graph, options: Options, libs: Sequence[str | Path]) -> Task:
    """The task of a worker that compiles a graph; of the weights it gets shapes and types only."""
    with enter_context():
        text = str(graph.module.mlir)
    weights = {name: (array.shape, array.dtype.str) for name, array in graph.weights.items()}
    payload = pickle.dumps((text, graph.name, weights, options, [str(lib) for lib in libs]))
    return Task(f"{__name__}:build_into_cache", payload, "", "", graph.name)


def build_into_cache(payload: bytes) -> bytes:
    """Compile a graph with the cache. The result is empty."""
    os.nice(_NICE)
    text, name, weights, options, libs = pickle.loads(payload)
    with enter_context():
        module = IRModule(ir.Module.parse(text))
    arrays = {weight: np.broadcast_to(np.zeros((), dtype), shape) for weight, (shape, dtype) in weights.items()}
    library_of(compiled_by_content(Graph(module, arrays, name), options), options.target, Timing(), libs=libs)
    return b""
