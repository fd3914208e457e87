"""`load`: a language model from the files that transformers writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.precision.formats import BFLOAT16, INT4, INT8, NAMES, format_of
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.graph.units.unit_queries import start_workers
from tir_mlir.llm.checks.matching import StatedTensor, check_layers
from tir_mlir.llm.description import Description, describe_model
from tir_mlir.llm.gguf_files import GgufTensor, gguf_model
from tir_mlir.llm.language_model import LanguageModel
from tir_mlir.llm.native.parts import CacheArray, CompiledLayer, CompiledProgram, ModelLimits, Parts
from tir_mlir.llm.repeated_part import OPERATORS, Precision, RepeatedPart, UncompiledGraph, Weight, compile_side_by_side
from tir_mlir.llm.rounded_files import RoundedTensor, join_rounded_tensors
from tir_mlir.llm.rounding import RoundedAhead, RoundedRows, prepare, round_ahead
from tir_mlir.llm.safetensors_files import StoredTensor, tensors_of
from tir_mlir.runtime.cache import fingerprint, mapped_arrays, store
from tir_mlir.runtime.tools import given_files

Stored = StoredTensor | RoundedTensor | GgufTensor | RoundedAhead
CONFIG = "config.json"
CACHES = ("float32", "int8")
"""The types of keys and values in the cache."""
GROUP = 32
"""The weights that share a scale, by default."""
_FEW, _BYTE = 4, 8
"""The bits of a number in files that say which weights may be in few bits, and which are."""


def load(
    folder: str | Path,
    weights: str = "int4",
    *,
    group: int | None = None,
    context: int = 4096,
    chunk: int = 128,
    batch: int = 1,
    cache: str = "float32",
    threads: int | None = None,
) -> LanguageModel:
    """A language model of transformers from a folder with config.json and safetensors files, or from a GGUF file.

        model = tir_mlir.llm.load("qwen2-0.5b", "int4")
        model.generate([9707, 11, 1879], 64)

    weights: "float32", "bfloat16", "int8" or "int4"; what weights of bfloat16 multiply is rounded to bfloat16, as
    PyTorch does; integers have a scale for each `group` weights (default 32, or what a checkpoint has), and activations
    are rounded to int8 for them; those of a GGUF file in q4_0, or in q8_0, q5_0, iq4_nl or iq4_xs, are taken as they
    are for "int4" or "int8" and groups of 32, those of GPTQ, AWQ and torchao without zeros for a group that divides
    theirs. Where a file has layers in 4 bits and the scores (`lm_head`, or the rows of tokens) in more, "int4" rounds
    scores to 8.
    Tensors are read, rounded and packed one layer at a time, up to 512 MB of them while torch describes the model.
    context: the most tokens of a prompt and what follows; chunk: the tokens of a prompt that are computed at a time;
    batch: the sequences that `generate_batch` computes at a time; cache: how keys and values are kept, "float32", or
    "int8" with a scale for each token of a head, which is 1 / 3.8 of the bytes for heads of 64 columns; threads:
    default one a core.
    torch and transformers tell what the model computes, once, in a process of their own. Raises ArgumentError, before
    weights are packed, for files cut short, an architecture that is not known, tensors that are missing or of another
    shape, rows that are no whole groups, scales that are not finite; GraphError for weights that are not finite.
    """
    folder = Path(folder)
    _precision(weights, group or GROUP)
    _check_sizes(context=context, chunk=chunk, batch=batch)
    if cache not in CACHES:
        raise ArgumentError(f"cache={cache!r}; fix: one of {', '.join(CACHES)}")
    files, config, own = _open_files(folder)
    precision = _precision(weights, group or own or GROUP)
    ahead = dict[str, Stored]()
    stated = {name: StatedTensor(each.shape, getattr(each, "dtype", None)) for name, each in files.items()}
    prepare = partial(_prepare, files, precision, ahead)
    description = describe_model(folder, config, (chunk, context, batch, cache), stated, prepare)
    tensors = description.parameters.match_tensors(folder, {**files, **ahead})
    _check_groups(description, tensors, precision)
    limits = ModelLimits(
        _tokens(description), min(context, description.positions or context), chunk, batch, description.positions
    )
    return _load_model(description, tensors, precision, threads, limits, (config, cache))


def _load_model(
    description: Description,
    tensors: Mapping[str, Stored],
    precision: Precision,
    threads: int | None,
    limits: ModelLimits,
    facts: tuple[str, ...],
) -> LanguageModel:
    """The model, its weights from the cache or put there. facts: what else they depend on."""
    stated = *facts, str(limits), str(precision), str(threads), fingerprint.package()
    name = entry_name([tensor.path for tensor in tensors.values()], *stated)
    known = mapped_arrays.load(name)
    if known is None:
        for parameter, tensor in tensors.items():
            tensor.check(parameter)
    with mapped_arrays.writing(name if known is None else None) as writer:
        return _Loading(description, tensors, precision, threads, PackedWeights(known, writer)).model(limits)


def _open_files(path: Path) -> tuple[Mapping[str, Stored], str, int | None]:
    """The tensors of the files, the text of the configuration, the group of weights in few bits."""
    if path.suffix == ".gguf":
        model = gguf_model(path)
        check_layers(path, model.config, len(model.tensors))
        return model.tensors, json.dumps(model.config), None
    if not path.is_dir():
        raise ArgumentError(f"{path}: it is not a folder; fix: a folder of safetensors files, or a file NAME.gguf")
    files = tensors_of(path)
    if not (path / CONFIG).exists():
        raise ArgumentError(f"{path}: no {CONFIG}; fix: the folder that save_pretrained writes")
    facts = given_files.object_of(given_files.read_text(given_files.file_inside(path, CONFIG)), path / CONFIG)
    check_layers(path, facts, len(files))
    return join_rounded_tensors(path, files, facts)


def _prepare(
    files: Mapping[str, Stored], precision: Precision, ahead: dict[str, Stored], waiting: Callable[[], bool]
) -> None:
    """What loading needs of any model whose matrices are of these types, while torch describes this one. ahead: gets
    what there is time to round."""
    start_workers(OPERATORS)
    if precision.format is None or precision.group is None:
        return
    ahead |= round_ahead(files, precision.format, waiting)
    wide = [tensor for tensor in files.values() if len(tensor.shape) == 2 and tensor.bits > _BYTE]
    for as_bits in {isinstance(tensor, StoredTensor) and tensor.dtype == "BF16" for tensor in wide}:
        prepare("bfloat16" if as_bits else "float32", precision.format)


def _precision(weights: str, group: int) -> Precision:
    if weights in ("float32", "f32"):
        return Precision(None)
    name = NAMES.get(weights)
    how = Precision(name, group, INT8) if name in (INT8, INT4) else Precision(name, None, BFLOAT16)
    format_of(weights, how.group, how.activations)  # raises for what there is not
    return how


def precision_of_scores(precision: Precision, layers: Iterable[Stored], scores: Stored) -> Precision:
    """That of the layers; 8 bits for 4 where the files have weights of layers in 4, and the scores in more: whoever
    wrote them meant to keep these."""
    kept = scores.bits > _FEW and any(each.bits <= _FEW for each in layers)
    return replace(precision, dtype=INT8) if kept and precision.dtype == INT4 else precision


def _check_groups(description: Description, tensors: Mapping[str, Stored], precision: Precision) -> None:
    group = precision.group
    for name in (name for _, names in description.layers for name in names.values()):
        shape = tensors[name].shape
        if group is not None and len(shape) == 2 and shape[1] % group:
            raise ArgumentError(f"{name}: rows of {shape[1]} are no whole groups of {group}; fix: group=...")


def _check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if not isinstance(value, int) or value < 1:
            raise ArgumentError(f"{name}={value!r}; fix: a number of 1 or more")


def _tokens(description: Description) -> int:
    return description.parameters.shapes[description.embedding][0]


class _Loading:
    """The state of loading one model."""

    def __init__(
        self,
        description: Description,
        tensors: Mapping[str, Stored],
        precision: Precision,
        threads: int | None,
        packed: PackedWeights,
    ):
        self.description, self.tensors, self.precision, self.threads = description, tensors, precision, threads
        self.packed = packed

    def model(self, limits: ModelLimits) -> LanguageModel:
        description = self.description
        rows = self.tensors[description.embedding].rows()
        forms = {number: self._form_graphs(number, names) for number, names in description.layers}
        scored = self._uncompiled_scores()
        compile_side_by_side([*(part for parts in forms.values() for part in parts), scored])
        layers, scores = self._layers(forms), self._scores(scored)
        return LanguageModel(Parts(limits, rows, description.rotary, layers, scores, description.scored, self.threads))

    def _form_graphs(self, number: int, names: Mapping[str, str]) -> list[UncompiledGraph]:
        """The graphs of a form, for one token and for a chunk. names: of the tensors of one of its layers."""
        form = self.description.forms[number]
        shapes = {name: self.tensors[tensor].shape for name, tensor in names.items()}
        texts = (form.one, "one"), (form.chunk, "chunk")
        return [UncompiledGraph(text, name, shapes, self.precision, self.threads) for text, name in texts]

    def _layers(self, forms: Mapping[int, Sequence[UncompiledGraph]]) -> list[CompiledLayer]:
        """The layers: those of one form are compiled once."""
        known: dict[int, RepeatedPart] = {}
        layers = []
        for position, (number, names) in enumerate(self.description.layers):
            form = self.description.forms[number]
            if number not in known:
                known[number] = RepeatedPart([part.graph for part in forms[number]], self.precision, self.threads)
            one, chunk = known[number].programs
            make = partial(
                self._bind_weights, known[number], {name: self.tensors[tensor] for name, tensor in names.items()}
            )
            caches = tuple(CacheArray(*fact) for fact in form.caches)
            weights = self.packed.buffers(f"layer{position}", known[number].programs, make)
            layers.append(CompiledLayer(one, chunk, (weights[0], weights[1]), caches))
        return layers

    def _bind_weights(self, repeated: RepeatedPart, tensors: Mapping[str, Stored]) -> list[np.ndarray]:
        return repeated.bind_weights({name: tensor.read_encoded() for name, tensor in tensors.items()})

    @property
    def _score_tensors(self) -> dict[str, Stored]:
        return {name: self.tensors[tensor] for name, tensor in self.description.score_tensors.items()}

    def _uncompiled_scores(self) -> UncompiledGraph:
        """The graph of the scores of some tokens."""
        description, tensors = self.description, self._score_tensors
        shapes = {
            name: (description.scored, *tensor.shape[1:]) if name.startswith("head.") else tensor.shape
            for name, tensor in tensors.items()
        }
        stored = [self.tensors[name] for _, names in description.layers for name in names.values()]
        precision = precision_of_scores(self.precision, stored, tensors["head.weight"])
        return UncompiledGraph(description.scores, "scores", shapes, precision, self.threads)

    def _scores(self, part: UncompiledGraph) -> list[CompiledLayer]:
        """The scores, some tokens at a time: the last ones are filled up with zeros."""
        description, count, tensors = self.description, self.description.scored, self._score_tensors
        repeated = RepeatedPart([part.graph], part.precision, self.threads)
        (program,), layers = repeated.programs, []
        for start in range(0, _tokens(description), count):
            make = partial(self._part_of_scores, repeated, tensors, start)
            (weights,) = self.packed.buffers(f"scores{start}", repeated.programs, make)
            layers.append(CompiledLayer(program, program, (weights, weights)))
        return layers

    def _part_of_scores(self, repeated: RepeatedPart, tensors: Mapping[str, Stored], start: int) -> list[np.ndarray]:
        count = self.description.scored
        return repeated.bind_weights(
            {
                name: _zero_padded_rows(tensor, start, count) if name.startswith("head.") else tensor.read_encoded()
                for name, tensor in tensors.items()
            }
        )


def entry_name(files: Sequence[Path], *facts: str) -> str:
    """The name of the entry of a model: of its files, by path, size and time, and what else its weights depend on."""
    stamps = []
    for path in sorted(set(files)):
        stat = os.stat(path)
        stamps.append(f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}")
    return store.digest(fingerprint.maker("graphs"), *stamps, *facts)


class PackedWeights:
    """Buffers of weights, from the cache, or made and put there. known: those of an entry."""

    def __init__(self, known: Mapping[str, np.ndarray] | None, writer: mapped_arrays.MappedEntryWriter):
        self._known, self._writer = known or {}, writer

    def buffers(
        self, key: str, programs: Sequence[CompiledProgram], make: Callable[[], list[np.ndarray]]
    ) -> list[np.ndarray]:
        """The buffer of each program at a position; one for those that share it."""
        found = self._cached_buffers(key, programs)
        if found is not None:
            return found
        made, kept = make(), dict[int, np.ndarray]()
        for number, buffer in enumerate(made):
            if id(buffer) not in kept:
                kept[id(buffer)] = self._writer.add(f"{key}.{number}", buffer)
        return [kept[id(buffer)] for buffer in made]

    def _cached_buffers(self, key: str, programs: Sequence[CompiledProgram]) -> list[np.ndarray] | None:
        found: list[np.ndarray] = []
        for number, program in enumerate(programs):
            buffer = self._known.get(f"{key}.{number}", found[-1] if found else None)
            if buffer is None or buffer.nbytes != program.plan.weight_bytes:
                return None
            found.append(buffer)
        return found


def _zero_padded_rows(tensor: Stored, start: int, count: int) -> Weight:
    """Rows of a tensor, and zeros after the last one."""
    stop = min(start + count, tensor.shape[0])
    if stop == start + count:
        return tensor.read_encoded(start, stop)
    stored = tensor.read_encoded(start, stop)
    rows = stored.read() if isinstance(stored, RoundedRows) else stored
    rows = rows.values() if isinstance(rows, Grouped) else rows
    return np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]), rows.dtype)])
