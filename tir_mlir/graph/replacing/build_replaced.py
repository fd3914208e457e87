"""`build(graph, optimize="fast", then="full")`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.build_model import build_model
from tir_mlir.graph.compile import Options, are_own_stages
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.replacing.full_build import full_build_task
from tir_mlir.graph.replacing.replaced_model import ReplacedModel
from tir_mlir.graph.units.asking import FAST, FULL
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.scheduled_programs import FINDER
from tir_mlir.target import Target


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
    task = full_build_task(original, Options(target, threads, cache=cache), libs) if by_cache else None
    return ReplacedModel(first, partial(build_model, original, target, **options), task)
