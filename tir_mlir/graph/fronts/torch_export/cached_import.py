"""Imported modules in the cache, by the calls of torch that their forward makes.

torch.export takes a second and more; to record the calls takes a few hundredths of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import torch
from mlir import ir

from tir_mlir.dialect.ir import entered
from tir_mlir.graph.compiled_cache import package, sources_unchanged
from tir_mlir.graph.fronts.torch_export.export_model import evaluating
from tir_mlir.graph.fronts.torch_export.recorded_calls import named_tensors, recorded_calls
from tir_mlir.graph.fronts.torch_export.torch_weights import array
from tir_mlir.graph.graph import Graph
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.script.module import IRModule

KIND = "imports"


def cached(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None, options: tuple[str, ...], make: Callable[[], Graph]
) -> Graph:
    """The graph of an earlier import, or the one of `make()`, which is then kept. options: what else it depends on."""
    if not isinstance(model, torch.nn.Module) or not store.limit():
        return make()
    key = _key(model, args, kwargs, options)
    graph = None if key is None else _known(key, model)
    if graph is None:
        graph = make()
        if key is not None:
            _keep(key, graph, model)
    return graph


def _key(model: torch.nn.Module, args: Any, kwargs: Mapping[str, Any] | None, options: tuple[str, ...]) -> str | None:
    """The name of an import in the cache; None where the calls do not tell all that forward computes."""
    given = (args,) if isinstance(args, torch.Tensor) else tuple(args or ())
    try:
        with evaluating(model):
            calls = recorded_calls(model, given, dict(kwargs or {}))
    except Exception:  # noqa: BLE001  # NotRecorded, or the export fails as well and tells why
        return None
    version = f"{torch.__version__} {torch.version.git_version} {fingerprint.stamp(torch.__file__)}"
    return store.digest(fingerprint.installation(), package(), version, calls, *options)


def _known(key: str, model: torch.nn.Module) -> Graph | None:
    """The graph of an earlier import, with the weights of this module."""
    kept = store.load(KIND, key)
    if kept is None:
        return None
    head, _, text = kept.partition(b"\n")
    facts, tensors = json.loads(head), named_tensors(model)
    with entered():
        module = ir.Module.parse(text.decode())
        return Graph(IRModule(module), {name: array(tensors[name]) for name in facts["weights"]}, facts["name"])


def _keep(key: str, graph: Graph, model: torch.nn.Module) -> None:
    """Keep a graph whose weights are all parameters and buffers of the module."""
    if not graph.weights.keys() <= named_tensors(model).keys() or not sources_unchanged():
        return
    with entered():
        text = str(graph.module.mlir)
    head = json.dumps({"name": graph.name, "weights": list(graph.weights)})
    store.save(KIND, key, f"{head}\n{text}".encode())
