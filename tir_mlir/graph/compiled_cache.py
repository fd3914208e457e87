"""Compiled graphs in the cache, by their content: the text of the module, not the arrays of weights."""

from __future__ import annotations

import functools
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.compile import Options, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.scheduled_programs import FINDER
from tir_mlir.script.module import IRModule
from tir_mlir.target import Target, host

AFTER = "lift"
"""The stage after which no stage reads or changes the arrays of weights."""


def compiled_by_content(graph: Graph, options: Options) -> Graph:
    """The graph after all stages behind `AFTER`, from the cache if the same graph was compiled before.

    Not cached while a `tune.Database` is in force: its records may change.
    """
    if FINDER.get() is not None or not store.limit():
        return compile_graph(graph, options=options, after=AFTER)
    with entered():
        text = str(graph.module.mlir)
    name = store.digest(fingerprint.installation(), package(), text, graph.name, _described(options))
    kept = store.load("graphs", name)
    if kept is None:
        made = compile_graph(graph, options=options, after=AFTER)
        with entered():
            kept = str(made.module.mlir).encode()
        if package() == _stamps():
            store.save("graphs", name, kept)
    with entered():  # of a graph just made too: both builds then have the same text, and find the same code
        return Graph(IRModule(ir.Module.parse(kept.decode())), graph.weights, graph.name)


def _described(options: Options) -> str:
    target = options.target if isinstance(options.target, Target) else host()
    return f"{options.target!r} {target!r} {options.threads} {options.extra}"


@functools.cache
def package() -> str:
    """Size and time of the sources of this package, when first asked."""
    return _stamps()


def _stamps() -> str:
    root = Path(__file__).parents[1]
    try:
        return fingerprint.package_stamps(str(root))
    except OSError as error:
        raise BuildError(f"the sources of tir_mlir cannot be read: {error}") from error
