"""Finds what a language model computes, with torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import nn

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.importers.torch_export.from_torch import from_torch
from tir_mlir.llm.architecture import (
    Architecture,
    LayerModule,
    architecture_of,
    cache_arrays,
    cache_shape,
    facts_of,
    scores_of,
    start_of,
)
from tir_mlir.llm.description import CacheFact, Description, LayerForm
from tir_mlir.processes.forked import side_by_side
from tir_mlir.target.host import cores

SCORES = 1 << 23
"""Weights of the scores that are rounded and packed at a time."""
LANES = 256
"""A multiple of the columns of panels."""


def describe(folder: Path, chunk: int, context: int, batch: int, cache: str) -> Description:
    """The description of the model of a folder. cache: the type of keys and values. Raises ArgumentError."""
    architecture = architecture_of(folder)
    model = architecture.model
    parameters = architecture.parameters
    names = parameters.shapes
    first, head = model.get_input_embeddings(), model.get_output_embeddings()
    rotary = architecture.rotary((-(-context // chunk) + 1) * chunk, context)
    columns = rotary.columns
    layers, drafts = _layers(architecture, columns, (batch, chunk), cache)
    tokens, width = first.weight.shape
    scored = min(tokens, max(LANES, SCORES // width // LANES * LANES))
    tensors = {f"norm.{name}": architecture.last_name(each) for name, each in architecture.norm.named_parameters()}
    tensors |= {f"head.{name}": architecture.last_name(each) for name, each in head.named_parameters()}
    module = scores_of(architecture, scored)
    before = _start(architecture, names, width, (batch, chunk))
    if before is not None:
        drafts.append(before[0])
        layers.insert(0, (len(drafts) - 1, before[1]))
    # the small one first: it imports what all of them need
    scores = _text(module, (torch.zeros(batch, 1, width),), "scores", tensors)
    texts = side_by_side([work for draft in drafts for work in draft.texts], cores())
    forms = [
        LayerForm(one, many, draft.caches) for one, many, draft in zip(texts[::2], texts[1::2], drafts, strict=True)
    ]
    embedding = architecture.name(first.weight)
    return Description(
        parameters, embedding, layers, forms, scores, tensors, scored, rotary, architecture.positions
    )  # fmt: skip


@dataclass(frozen=True)
class _Draft:
    """A form whose texts, for one token and for a chunk, are still to be made."""

    texts: tuple[Callable[[], str], Callable[[], str]]
    caches: list[CacheFact]


def _start(
    architecture: Architecture, names: Mapping[str, object], width: int, sizes: tuple[int, int]
) -> tuple[_Draft, dict[str, str]] | None:
    """What comes before the layers, as a layer without keys and values, and its tensors; None: nothing does."""
    start = start_of(architecture)
    if start is None:
        return None
    prefix = architecture.layer_prefix.rpartition(".")[0].rpartition(".")[0]
    prefix = prefix + "." if prefix else ""
    tensors = {f"base.{name}": prefix + name for name, _ in start.base.named_parameters()}
    if unknown := [name for name in tensors.values() if name not in names]:
        raise ArgumentError(f"{unknown[0]} comes before the layers, and is not a tensor of the model")

    def text(name: str, sequences: int, rows: int) -> str:
        inputs = torch.zeros(sequences, rows, width), torch.arange(sequences * rows)
        return _text(start, inputs, name, tensors)

    return _Draft((partial(text, "one", sizes[0], 1), partial(text, "chunk", 1, sizes[1])), []), tensors


def _layers(
    architecture: Architecture, angles: int, sizes: tuple[int, int], cache: str
) -> tuple[list[tuple[int, Mapping[str, str]]], list[_Draft]]:
    """The form of each layer, with its tensors, and the forms."""
    known: dict[Hashable, int] = {}
    layers: list[tuple[int, Mapping[str, str]]] = []
    drafts: list[_Draft] = []
    for number, layer in enumerate(architecture.layers):
        prefix = f"{architecture.layer_prefix}{number}."
        shapes = tuple((name, tuple(p.shape)) for name, p in layer.named_parameters())
        key = type(layer), architecture.window(number), architecture.columns(number, angles), shapes
        tensors = {f"layer.{name}": prefix + name for name, _ in shapes}
        if key not in known:
            known[key] = len(drafts)
            drafts.append(_draft(architecture, layer, key[1:3], angles, sizes, cache, tensors))
        layers.append((known[key], tensors))
    return layers, drafts


def _draft(
    architecture: Architecture,
    layer: nn.Module,
    reads: tuple[int | None, tuple[int, int] | None],
    angles: int,
    sizes: tuple[int, int],
    cache: str,
    tensors: Mapping[str, str],
) -> _Draft:
    """reads: the window of tokens, the columns of cosines and sines; sizes: the sequences, the tokens of a chunk;
    cache: the type of keys and values."""
    width = architecture.model.get_input_embeddings().weight.shape[1]
    own = angles if reads[1] is None else reads[1][1] - reads[1][0]
    x, angle = torch.zeros(1, 1, width, device="meta"), torch.zeros(1, 1, own, device="meta")
    heads, columns = cache_shape(layer, x, angle, angle)
    caches = facts_of(cache_arrays(cache, 1, heads, columns))
    dynamic: dict[str, dict[int, str] | None] = dict.fromkeys(("x", "cos", "sin", "positions"))
    dynamic |= {name: {2: "capacity"} for name, *_ in caches}

    def text(name: str, sequences: int, rows: int) -> str:
        module = LayerModule(layer.to_empty(device="cpu"), *reads).eval()
        arrays = cache_arrays(cache, sequences, heads, columns)
        shapes = (width, angles, angles)  # of different tensors: torch.export makes one input of the same
        positions = torch.arange(sequences * rows)
        inputs = (*(torch.zeros(sequences, rows, n) for n in shapes), positions, *arrays.values())
        found = _text(module, inputs, name, tensors, dynamic=dynamic, mutated="in_place")
        layer.to_empty(device="meta")
        return found

    return _Draft((partial(text, "one", sizes[0], 1), partial(text, "chunk", 1, sizes[1])), caches)


def _text(
    module: nn.Module,
    inputs: tuple[torch.Tensor, ...],
    name: str,
    tensors: Mapping[str, str],
    dynamic: Mapping[str, Mapping[int, str] | None] | None = None,
    mutated: str = "refuse",
) -> str:
    """The text of the graph of a module, whose weights are all in the files. dynamic, mutated: of `from_torch`. Raises
    ArgumentError."""
    graph = from_torch(
        module, inputs, name=name, dynamic=dynamic, mutated=mutated, cache=False
    )  # the whole description is cached
    extra = [weight for weight in graph.weights if weight not in tensors]
    if extra:
        raise ArgumentError(f"{name}: {', '.join(extra)} is computed when the model is made, and in no file")
    with enter_context():
        return str(graph.module.mlir)
