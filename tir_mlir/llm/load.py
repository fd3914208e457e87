"""`load`: a language model from the files that transformers writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.fronts.torch_export.from_torch import from_torch
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.precision.formats import INT4, INT8, NAMES, format_of
from tir_mlir.llm.language_model import Block, LanguageModel, Limits
from tir_mlir.llm.repeated import Precision, Repeated
from tir_mlir.llm.safetensors_files import StoredTensor, tensors_of

if TYPE_CHECKING:
    from tir_mlir.graph.model import Model
    from tir_mlir.llm.architecture import Architecture

SCORES = 1 << 23
"""Weights of the scores that are rounded and packed at a time."""


def load(
    folder: str | Path,
    weights: str = "int4",
    *,
    group: int = 32,
    context: int = 4096,
    chunk: int = 128,
    threads: int | None = None,
) -> LanguageModel:
    """A language model of transformers from a folder with config.json and safetensors files.

        model = tir_mlir.llm.load("qwen2-0.5b", "int4")
        model.generate([9707, 11, 1879], 64)

    weights: "float32", "bfloat16", "int8" or "int4"; integers have a scale for each `group` weights, and activations
    are rounded to int8 for them. Tensors are read, rounded and packed one layer at a time. context: the most tokens of
    a prompt and what follows; chunk: the tokens of a prompt that are computed at a time; threads: default one a core.
    Needs torch and transformers, whose modules are imported. Raises ArgumentError, before weights are read, for files
    cut short, an architecture that is not known, tensors that are missing or of another shape, rows that are no whole
    groups; GraphError for weights that are not finite.
    """
    from tir_mlir.llm.architecture import architecture_of

    folder, precision = Path(folder), _precision(weights, group)
    architecture, tensors = architecture_of(folder), tensors_of(folder)
    return _Loading(architecture, _matched(folder, architecture, tensors), precision, context, chunk, threads).model()


def _precision(weights: str, group: int) -> Precision:
    if weights in ("float32", "f32"):
        return Precision(None)
    name = NAMES.get(weights)
    integers = name in (INT8, INT4)
    format_of(weights, group if integers else None, INT8 if integers else None)  # raises for what there is not
    return Precision(name, group, INT8) if integers else Precision(name)


def _matched(folder: Path, architecture: Architecture, tensors: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
    """The tensor in the files of each parameter, by all of its names. Raises ArgumentError."""
    found: dict[int, StoredTensor] = {}
    names = list(architecture.model.named_parameters(remove_duplicate=False))
    tied = bool(getattr(architecture.config, "tie_word_embeddings", False))
    first, last = architecture.model.get_input_embeddings().weight, architecture.model.get_output_embeddings().weight
    for name, parameter in names:
        if name in tensors:
            found[id(parameter)] = tensors[name]
    if tied and id(first) in found:
        found.setdefault(id(last), found[id(first)])
    for name, parameter in names:
        if id(parameter) not in found:
            raise ArgumentError(f"{folder}: no tensor {name}; fix: the files that belong to config.json")
        if (shape := found[id(parameter)].shape) != tuple(parameter.shape):
            wanted = tuple(parameter.shape)
            raise ArgumentError(f"{folder}: {name} is {shape} in the file, and {wanted} by config.json")
    return {name: found[id(parameter)] for name, parameter in names}


class _Loading:
    """The state of loading one model."""

    def __init__(
        self, architecture: Architecture, tensors: Mapping[str, StoredTensor], precision: Precision, context: int,
        chunk: int, threads: int | None,
    ):  # fmt: skip
        self.architecture, self.tensors, self.precision = architecture, tensors, precision
        self.limits = Limits(architecture.model.get_input_embeddings().weight.shape[0], context, chunk)
        self.width, self.threads = architecture.model.get_input_embeddings().weight.shape[1], threads
        self._check_groups()

    def model(self) -> LanguageModel:
        rotary = self.architecture.rotary(-(-self.limits.context // self.limits.chunk + 1) * self.limits.chunk)
        layers = self._layers(rotary)
        embedding = self.architecture.model.get_input_embeddings()
        return LanguageModel(self.limits, self._embedding(embedding), rotary, layers, self._scores())

    def _check_groups(self) -> None:
        group = self.precision.group
        for name, tensor in self.tensors.items():
            if group is not None and ".layers." in name and len(tensor.shape) == 2 and tensor.shape[1] % group:
                raise ArgumentError(f"{name}: rows of {tensor.shape[1]} are no whole groups of {group}; fix: group=...")

    def _embedding(self, module: Any) -> Callable[[Sequence[int]], np.ndarray]:
        """The rows of tokens, which stay in the file, as the module of the model makes them."""
        import torch

        tensor = self.tensors[self.architecture.name(module.weight)]
        if type(module) is not torch.nn.Embedding:
            raise ArgumentError(f"{type(module).__name__}: only torch.nn.Embedding is supported for tokens")

        def rows(tokens: Sequence[int]) -> np.ndarray:
            return np.concatenate([tensor.read(token, token + 1) for token in tokens])

        return rows

    def _layers(self, rotary: tuple[np.ndarray, np.ndarray]) -> list[Block]:
        """The layers: those of one form are compiled once."""
        forms: dict[Any, tuple[Repeated, int, int]] = {}
        blocks = []
        for number, layer in enumerate(self.architecture.layers):
            prefix = f"{self.architecture.layer_prefix}{number}."
            shapes = tuple((name, tuple(p.shape)) for name, p in layer.named_parameters())
            form = type(layer), self.architecture.window(number), shapes
            arrays = {f"layer.{name}": self.tensors[prefix + name].read() for name, _ in shapes}
            if form not in forms:
                forms[form] = self._form(layer, form[1], arrays, rotary[0].shape[1])
            repeated, heads, columns = forms[form]
            one, several = repeated.models(arrays)
            blocks.append(Block(one, several, heads, columns))
        for repeated, *_ in forms.values():
            repeated.forget()
        return blocks

    def _form(
        self, layer: Any, window: int | None, arrays: Mapping[str, np.ndarray], angles: int
    ) -> tuple[Repeated, int, int]:
        """Layers of one form, and the heads and columns of their caches."""
        import torch

        from tir_mlir.llm.architecture import Layer, cache_shape

        x, angle = torch.zeros(1, 1, self.width, device="meta"), torch.zeros(1, 1, angles, device="meta")
        heads, columns = cache_shape(layer, x, angle, angle)
        module = Layer(layer.to_empty(device="cpu"), window).eval()
        cache = torch.zeros(1, heads, 2, columns)
        dynamic = dict.fromkeys(("x", "cos", "sin", "positions")) | dict.fromkeys(("keys", "values"), {2: "capacity"})
        graphs = []
        for rows in (1, self.limits.chunk):
            shapes = (self.width, angles, angles)  # of different tensors: torch.export makes one input of the same
            inputs = (*(torch.zeros(1, rows, n) for n in shapes), torch.arange(rows), cache, cache.clone())
            name = "one" if rows == 1 else "chunk"
            graphs.append(from_torch(module, inputs, dynamic=dynamic, mutated="in_place", name=name))
        layer.to_empty(device="meta")
        return Repeated([_with(graph, arrays) for graph in graphs], self.precision, self.threads), heads, columns

    def _scores(self) -> list[Model]:
        """The scores, some tokens at a time: the last ones are filled up with zeros."""
        import torch

        from tir_mlir.llm.architecture import Scores

        head, norm = self.architecture.model.get_output_embeddings(), self.architecture.base.norm
        tensor, norms = self.tensors[self.architecture.name(head.weight)], {}
        for name, parameter in norm.named_parameters():
            norms[f"norm.{name}"] = self.tensors[self.architecture.name(parameter)].read()
        tokens = min(self.limits.tokens, max(256, SCORES // self.width // 256 * 256))
        module = Scores(norm.to_empty(device="cpu"), self.width, tokens, head.bias is not None).eval()
        graph = from_torch(module, (torch.zeros(1, 1, self.width),), name="scores")
        models, repeated = [], None
        for start in range(0, self.limits.tokens, tokens):
            arrays = {**norms, "head.weight": _filled(tensor, start, tokens)}
            if head.bias is not None:
                arrays["head.bias"] = _filled(self.tensors[self.architecture.name(head.bias)], start, tokens)
            repeated = repeated or Repeated([_with(graph, arrays)], self.precision, self.threads)
            models += repeated.models(arrays)
        if repeated is not None:
            repeated.forget()
        return models


def _with(graph: Graph, arrays: Mapping[str, np.ndarray]) -> Graph:
    """A graph with other arrays for its weights."""
    graph.weights = {name: arrays.get(name, array) for name, array in graph.weights.items()}
    return graph


def _filled(tensor: StoredTensor, start: int, count: int) -> np.ndarray:
    """Rows of a tensor, and zeros after the last one."""
    rows = tensor.read(start, min(start + count, tensor.shape[0]))
    if len(rows) == count:
        return rows
    return np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]), np.float32)])
