"""Checkpoints of GPTQ and AWQ: the tensors of each weight as one tensor in few bits, by the name of the weight."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.precision import stored_formats
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.llm.native.parts import Rows
from tir_mlir.llm.safetensors_files import StoredTensor

_METHODS = {"gptq": stored_formats.gptq, "awq": stored_formats.awq}
_PARTS = ("qweight", "qzeros", "scales")
_BITS, _WORD = 4, 8
"""The bits of a number that are known, and the numbers of a word of 32."""


@dataclass(frozen=True)
class RoundedTensor:
    """A weight (outputs, inputs) of the parts `qweight`, `qzeros` and `scales`. method: "gptq" or "awq"."""

    method: str
    parts: tuple[StoredTensor, StoredTensor, StoredTensor]
    group: int
    shape: tuple[int, ...]

    @property
    def path(self) -> Path:
        return self.parts[0].path

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows `start` to `stop` as float32."""
        return self._whole().values()[start:stop]

    def stored(self, start: int = 0, stop: int | None = None) -> np.ndarray | Grouped:
        """The same, all rows in few bits."""
        return self._whole() if (start, stop) == (0, None) else self.read(start, stop)

    def _whole(self) -> Grouped:
        """All rows; without offsets where all zeros are 8."""
        words, zeros, scales = (part.numbers() for part in self.parts)
        found = _METHODS[self.method](words, zeros, scales, self.group)
        plain = found.offset is not None and np.array_equal(found.offset, found.scale * np.float32(8))
        return Grouped(found.weight, found.scale, None, found.group, found.bits) if plain else found

    def rows(self) -> Rows:
        raise ArgumentError(f"{self.path}: rows of tokens in {self.method} are not supported; fix: keep them as floats")


Stored = StoredTensor | RoundedTensor


def joined(path: Path, files: Mapping[str, StoredTensor], config: str) -> tuple[Mapping[str, Stored], str, int | None]:
    """The tensors of a checkpoint, weights in few bits as one tensor each; its configuration without what was done to
    weights; their group, None: no weight is in few bits. No elements are read. Raises ArgumentError for a method that
    is not known, other than 4 bits, groups in another order, and parts that do not fit."""
    facts: dict[str, Any] = json.loads(config)
    how = facts.pop("quantization_config", None)
    if how is None:
        return files, config, None
    method, bits = how.get("quant_method"), how.get("bits", how.get("w_bit"))
    if method not in _METHODS or bits != _BITS:
        raise ArgumentError(
            f"{path}: weights by {method} in {bits} bits are not known; fix: {' or '.join(_METHODS)} in {_BITS} bits, "
            "or the original files"
        )
    if how.get("desc_act"):
        raise ArgumentError(f"{path}: groups in another order (desc_act) are not supported; fix: desc_act=False")
    group = how.get("group_size", how.get("q_group_size"))
    found: dict[str, Stored] = {name: each for name, each in files.items() if name.rpartition(".")[2] not in _PARTS}
    for name in files:
        stem, _, part = name.rpartition(".")
        if part == _PARTS[0]:
            found[f"{stem}.weight"] = _joined(path, stem, files, method, group)
    return found, json.dumps(facts), group


def _joined(path: Path, stem: str, files: Mapping[str, StoredTensor], method: str, group: Any) -> RoundedTensor:
    missing = next((part for part in _PARTS if f"{stem}.{part}" not in files), None)
    if missing is not None:
        raise ArgumentError(f"{path}: no tensor {stem}.{missing}; fix: the files that belong to config.json")
    q, zeros, scales = (files[f"{stem}.{part}"] for part in _PARTS)
    rows, columns = q.shape
    k, n = (rows * _WORD, columns) if method == "gptq" else (rows, columns * _WORD)
    if not isinstance(group, int) or group < 1 or k % group:
        raise ArgumentError(f"{path}: {stem}: rows of {k} are no whole groups of {group}; fix: write the files again")
    if (zeros.shape, scales.shape) != ((k // group, n // _WORD), (k // group, n)):
        raise ArgumentError(
            f"{path}: {stem}: zeros {zeros.shape} and scales {scales.shape} do not fit {n} x {k} weights"
        )
    return RoundedTensor(method, (q, zeros, scales), group, (n, k))
