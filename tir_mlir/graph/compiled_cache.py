"""Compiled graphs in the cache, by their content: the text of the module, not the arrays of weights."""

from __future__ import annotations

import io
import json

import numpy as np
from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.ir.budget import given_operations
from tir_mlir.graph.compile import Options, are_own_stages, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import foreign_operators
from tir_mlir.graph.units.unit_queries import goal_key
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.scheduled_programs import FINDER
from tir_mlir.script.module import IRModule

BEFORE_SCHEDULES = "pack_weights"
"""The last stage that no record of a search changes."""


def compiled_by_content(graph: Graph, options: Options, until: str | None = None) -> Graph:
    """The graph after all stages, or those until one of them, from the cache if the same graph was compiled before,
    with whatever weights.

    Schedules are not cached while a `tune.Database` is in force, whose records may change; nothing is with stages or
    operators of others.
    """
    if not store.limit() or not are_own_stages():
        return compile_graph(graph, until, options)
    if FINDER.get() is not None and until is None:
        return compile_graph(
            _load_or_compile(graph, options, BEFORE_SCHEDULES), options=options, resume_after=BEFORE_SCHEDULES
        )
    return _load_or_compile(graph, options, until)


def _load_or_compile(graph: Graph, options: Options, until: str | None) -> Graph:
    with enter_context():
        text = str(graph.module.mlir)
    if any(name in text for name in foreign_operators()):
        return compile_graph(graph, until, options)
    goal = goal_key(options.target, options.threads), str(options.extra), options.optimize, str(given_operations())
    name = store.digest(fingerprint.installation(), fingerprint.package(), text, graph.name, *goal, str(until))
    serialized = store.load("graphs", name)
    if serialized is None:
        compiled = compile_graph(graph, until, options)
        if not _is_of_text(compiled, graph):
            return compiled
        serialized = _to_bytes(compiled)
        if fingerprint.package_unchanged():
            store.save("graphs", name, serialized)
    return _from_bytes(
        serialized, graph
    )  # of a graph just made too: both builds then have the same text, and the same code


def _is_of_text(compiled: Graph, graph: Graph) -> bool:
    """Whether a compiled graph has the arrays of the original, and else only constants of its text."""
    return all(
        name in compiled.from_text if name not in graph.weights else array is graph.weights[name]
        for name, array in compiled.weights.items()
    )


def _to_bytes(compiled: Graph) -> bytes:
    """The module as text, and the arrays of constants, with their lengths before them."""
    with enter_context():
        text = str(compiled.module.mlir).encode()
    names = sorted(compiled.from_text & set(compiled.weights))
    arrays = io.BytesIO()
    np.savez(arrays, *(compiled.weights[name] for name in names), allow_pickle=False)
    head = json.dumps({"text": len(text), "names": names}).encode()
    return b"\n".join((head, text + arrays.getvalue()))


def _from_bytes(serialized: bytes, graph: Graph) -> Graph:
    line, _, body = serialized.partition(b"\n")
    head = json.loads(line)
    with np.load(io.BytesIO(body[head["text"] :]), allow_pickle=False) as arrays:
        constants = {name: arrays[f"arr_{number}"] for number, name in enumerate(head["names"])}
    with enter_context():
        module = ir.Module.parse(body[: head["text"]].decode())
        compiled = Graph(IRModule(module), {**graph.weights, **constants}, graph.name)
    compiled.from_text, compiled.rounding = frozenset(constants), graph.rounding
    return compiled
