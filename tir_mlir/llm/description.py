"""What a language model computes, without weights: found by torch and transformers in a process of their own, whose
memory is free afterwards, and kept in the cache."""

from __future__ import annotations

import importlib.metadata
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path

import numpy as np
from mlir import ir

from tir_mlir import processes
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.llm.checks.matching import Parameters, StatedTensor
from tir_mlir.llm.native.rotary import Rotary, rotary_of
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.workers.pool import environment
from tir_mlir.script.module import IRModule

KIND = "languages"
_CODE = "from tir_mlir.llm.describe_process import run; run()"
_OF_WRITER = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
"""What a config.json tells of the files alone: nothing that is computed depends on it."""
_MEMORY, _SECONDS = 6 << 30, 300
"""Bytes and seconds of a processor for the description of a small model, of which it takes a fraction."""
_WALL = 10
"""Seconds that may pass for one of a processor."""
Meanwhile = Callable[[Callable[[], bool]], None]
CacheFact = tuple[str, int, int]
"""Of an array of a layer's cache: its name, the heads of a sequence, the bytes of a position of one."""


@dataclass(frozen=True)
class LayerForm:
    """Layers of one form: the text of a graph for one token and of one for a chunk; the arrays of the cache, none of
    what comes before the layers."""

    one: str
    chunk: str
    caches: list[CacheFact]


@dataclass(frozen=True)
class Description:
    """parameters: as the files have them. embedding: the tensor of the rows of tokens; layers: of each, the number of
    its form, and its tensors by their names in the graph; scores: the text of the graph of so many scores, and its
    tensors; positions: the most tokens of a sequence, None: any number."""

    parameters: Parameters
    embedding: str
    layers: list[tuple[int, Mapping[str, str]]]
    forms: list[LayerForm]
    scores: str
    score_tensors: Mapping[str, str]
    scored: int
    rotary: Rotary
    positions: int | None = None

    def text(self) -> str:
        facts = {name: value for name, value in vars(self).items() if name not in ("parameters", "forms", "rotary")}
        facts |= {"parameters": asdict(self.parameters), "forms": [asdict(form) for form in self.forms]}
        return json.dumps(facts | {"rotary": self.rotary.facts()})


def describe_model(
    path: Path, config: str, sizes: Sequence[int | str], tensors: Mapping[str, StatedTensor], meanwhile: Meanwhile
) -> Description:
    """The description of the model that the text of a config.json names. sizes: the tokens of a chunk, the positions,
    the sequences, the type of the cache. path: of the files, for errors; tensors: of the files. meanwhile: is called
    while torch describes, if it has to, with what tells whether it still does. Raises ArgumentError
    for one that is not supported, or without transformers."""
    counted = json.dumps({name: fact for name, fact in json.loads(config).items() if name not in _OF_WRITER})
    key = store.digest(fingerprint.installation(), fingerprint.package(), counted, str(tuple(sizes)), _version())
    found = store.load(KIND, key)
    if found is None:
        found = _describe_in_process(path, config, sizes, tensors, meanwhile)
        if fingerprint.package_unchanged():
            store.save(KIND, key, found)
    facts = json.loads(found)
    shapes = {name: tuple(shape) for name, shape in facts["parameters"]["shapes"].items()}
    facts["parameters"] = Parameters(**{**facts["parameters"], "shapes": shapes})
    facts["rotary"] = rotary_of(facts["rotary"])
    facts["forms"] = [LayerForm(**form) for form in facts["forms"]]
    return Description(**facts)


def graph_of(text: str, name: str, arrays: Mapping[str, np.ndarray]) -> Graph:
    """The graph of a text, with these weights."""
    with enter_context():
        return Graph(IRModule(ir.Module.parse(text)), arrays, name)


def _version() -> str:
    try:
        return " ".join(importlib.metadata.version(name) for name in ("torch", "transformers"))
    except importlib.metadata.PackageNotFoundError as error:
        raise ArgumentError(f"language models need {error.name}; fix: pip install torch transformers") from error


def _limits(tensors: Mapping[str, StatedTensor]) -> tuple[int, int]:
    """The bytes and the seconds of a processor that a description may take: what torch and transformers need, twice all
    weights in float32, and some time for each tensor."""
    elements = sum(prod(each.shape) for each in tensors.values())
    return _MEMORY + 2 * 4 * elements, _SECONDS + len(tensors)


def _describe_in_process(
    path: Path, config: str, sizes: Sequence[int | str], tensors: Mapping[str, StatedTensor], meanwhile: Meanwhile
) -> bytes:
    """What `describe` finds, in a process of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary, "answer")
        Path(temporary, "config.json").write_text(config)
        stated = {name: (each.shape, each.dtype) for name, each in tensors.items()}
        Path(temporary, "tensors.json").write_text(json.dumps(stated))
        memory, seconds = _limits(tensors)
        limits = map(str, (os.getpid(), memory, seconds))
        child = processes.Python(_CODE, [temporary, *map(str, sizes), str(out), *limits])
        with Path(temporary, "errors").open("w+") as errors:
            with processes.start(child, stdout=errors, stderr=errors, env=environment()) as describing:
                try:
                    meanwhile(lambda: describing.poll() is None)
                    describing.wait(_WALL * seconds)
                except processes.TimeoutExpired:
                    describing.kill()
                except BaseException:
                    describing.kill()
                    raise
            if not out.exists():
                errors.seek(0)
                spent = f"its process ended with {describing.returncode}; it may take {seconds} s, {memory >> 20} MiB"
                lines = errors.read().strip().splitlines() or [spent]
                raise ArgumentError(
                    f"{path}: torch and transformers cannot describe the model of config.json: {lines[-1]}"
                ) from RuntimeError("\n".join(lines[-30:]))
        answer = out.read_bytes()
    if answer.startswith(b"error: "):
        raise ArgumentError(f"{path}: {answer.decode().removeprefix('error: ').replace(temporary, 'config.json')}")
    return answer
