"""Checkpoints of GPTQ, AWQ and torchao: the tensors of each weight as one tensor in few bits, by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.graph.precision import stored_formats
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.llm.native.parts import Rows
from tir_mlir.llm.safetensors_files import StoredTensor, are_counts, metadata_of
from tir_mlir.runtime.tools import given_files

if TYPE_CHECKING:
    from tir_mlir.runtime.tools.given_files import Json

_METHODS = {"gptq": stored_formats.gptq, "awq": stored_formats.awq}
TORCHAO = "torchao"
_TORCHAO = ("Int8Tensor", "IntxUnpackedToInt8Tensor", "Int4Tensor")
_TORCHAO_BITS = {"int4": 4, "int8": 8}
_PARTS = ("qweight", "qzeros", "scales")
_ORDER = "g_idx"
"""Of GPTQ, the group of each column."""
_BITS, _WORD = 4, 8
"""The bits of a number that are known, and the numbers of a word of 32."""


@dataclass(frozen=True)
class RoundedTensor:
    """A weight (outputs, inputs) of several tensors of a file, `parts`, the scales among them.

    method: who wrote it.
    made: the weight from the elements of the parts.
    bits: of a number.
    """

    method: str
    parts: tuple[StoredTensor, ...]
    scales: StoredTensor
    shape: tuple[int, ...]
    made: Callable[..., Grouped]
    bits: int

    @property
    def path(self) -> Path:
        return self.parts[0].path

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows `start` to `stop` as float32."""
        return self._all_rows().values()[start:stop]

    def read_encoded(self, start: int = 0, stop: int | None = None) -> np.ndarray | Grouped:
        """The same, all rows in few bits."""
        return self._all_rows() if (start, stop) == (0, None) else self.read(start, stop)

    def _all_rows(self) -> Grouped:
        """All rows; without offsets where all zeros are in the middle."""
        found = self.made(*(part.numbers() for part in self.parts))
        middle = np.float32(1 << (found.bits - 1))
        plain = found.offset is not None and np.array_equal(found.offset, found.scale * middle)
        return Grouped(found.weight, found.scale, None, found.group, found.bits) if plain else found

    def check(self, name: str) -> None:
        """Raises ArgumentError for scales that are not finite. name: of the weight."""
        if not np.isfinite(self.scales.read()).all():
            raise ArgumentError(f"{self.path}: a scale of {name} is not finite; fix: write the file again")

    def rows(self) -> Rows:
        raise ArgumentError(f"{self.path}: rows of tokens in {self.method} are not supported; fix: keep them as floats")


Stored = StoredTensor | RoundedTensor


def join_rounded_tensors(
    path: Path, files: Mapping[str, StoredTensor], config: Mapping[str, Json]
) -> tuple[Mapping[str, Stored], str, int | None]:
    """The tensors of a checkpoint, weights in few bits as one tensor each; its configuration without what was done to
    weights; their group, None: no weight is in few bits, or a scale is for a row. No elements are read. Raises
    ArgumentError for a method that is not known, other bits, groups in another order, and parts that do not fit."""
    facts = dict(config)
    how = facts.pop("quantization_config", None)
    if how is None:
        return files, json.dumps(facts), None
    if not isinstance(how, dict):
        raise ArgumentError(f"{path}: quantization_config is {short_repr(how)}; fix: the config.json as it was written")
    if how.get("quant_method") == TORCHAO:
        found, group = _torchao_tensors(path, files)
    else:
        found, group = _gptq_or_awq_tensors(path, files, how)
    return found, json.dumps(facts), group


def _gptq_or_awq_tensors(
    path: Path, files: Mapping[str, StoredTensor], how: Mapping[str, Json]
) -> tuple[dict[str, Stored], int | None]:
    """The tensors of a checkpoint of GPTQ or AWQ, and their group."""
    method, bits = how.get("quant_method"), how.get("bits", how.get("w_bit"))
    if not isinstance(method, str) or method not in _METHODS or bits != _BITS:
        raise ArgumentError(
            f"{path}: weights by {method} in {bits} bits are not known; fix: {' or '.join(_METHODS)} in {_BITS} bits, "
            f"{TORCHAO}, or the original files"
        )
    if how.get("desc_act"):
        raise ArgumentError(f"{path}: groups in another order (desc_act) are not supported; fix: desc_act=False")
    group = how.get("group_size", how.get("q_group_size"))
    parts = (*_PARTS, _ORDER)
    found: dict[str, Stored] = {name: each for name, each in files.items() if name.rpartition(".")[2] not in parts}
    for name in files:
        stem, _, part = name.rpartition(".")
        if part == _PARTS[0]:
            found[f"{stem}.weight"] = _join_tensor(path, stem, files, method, group)
    return found, group if isinstance(group, int) else None


def _join_tensor(path: Path, stem: str, files: Mapping[str, StoredTensor], method: str, group: Json) -> RoundedTensor:
    missing = next((part for part in _PARTS if f"{stem}.{part}" not in files), None)
    if missing is not None:
        raise ArgumentError(f"{path}: no tensor {stem}.{missing}; fix: the files that belong to config.json")
    q, zeros, scales = (files[f"{stem}.{part}"] for part in _PARTS)
    if len(q.shape) != 2 or {q.dtype, zeros.dtype} != {"I32"} or scales.dtype not in ("F16", "BF16", "F32"):
        raise ArgumentError(
            f"{path}: {stem}: {q.dtype} of shape {q.shape} is not weights of {method}; fix: other files"
        )
    rows, columns = q.shape
    k, n = (rows * _WORD, columns) if method == "gptq" else (rows, columns * _WORD)
    if not isinstance(group, int) or group < 1 or k % group:
        raise ArgumentError(f"{path}: {stem}: rows of {k} are no whole groups of {group}; fix: write the files again")
    if (zeros.shape, scales.shape) != ((k // group, n // _WORD), (k // group, n)):
        raise ArgumentError(
            f"{path}: {stem}: zeros {zeros.shape} and scales {scales.shape} do not fit {n} x {k} weights"
        )
    order = files.get(f"{stem}.{_ORDER}")
    if order is not None and not np.array_equal(order.numbers(), np.arange(k) // group):
        raise ArgumentError(
            f"{path}: {stem}: groups in another order ({_ORDER}) are not supported; fix: desc_act=False"
        )
    made = partial(_METHODS[method], group=group)
    return RoundedTensor(method, (q, zeros, scales), scales, (n, k), made, _BITS)


def _torchao_tensors(path: Path, files: Mapping[str, StoredTensor]) -> tuple[dict[str, Stored], int | None]:
    """The tensors of a checkpoint of torchao, and their group."""
    rest, found, groups = dict(files), dict[str, Stored](), set[int]()
    for name, text in metadata_of(path).items():
        facts = given_files.object_of(text.encode(), path) if text.startswith("{") else {}
        kind = facts.get("_type", "Tensor")
        if kind in ("Tensor", "torch.Tensor"):
            continue
        if kind not in _TORCHAO:
            known = ", ".join(_TORCHAO)
            raise ArgumentError(f"{path}: {name} is a {kind} of torchao; fix: one of {known}, or the original files")
        data = facts.get("_data")
        data = data if isinstance(data, dict) else {}
        sizes = data.get("block_size")
        if not are_counts(sizes) or len(sizes) != 2 or 0 in sizes:
            raise ArgumentError(f"{path}: {name} does not tell the block_size of its weights; fix: write it again")
        found[name] = _part_of_torchao(path, name, kind, data, sizes, rest)
        groups.add(sizes[-1])
    return rest | found, groups.pop() if len(groups) == 1 else None


def _part_of_torchao(
    path: Path, name: str, kind: str, facts: Mapping[str, Json], sizes: Sequence[int], files: dict[str, StoredTensor]
) -> RoundedTensor:
    """A weight of torchao; its parts are taken out of the files."""
    stem, _, last = name.rpartition(".")
    names = [f"{stem}._{last}_{part}".removeprefix(".") for part in ("qdata", "scale", "zero_point")]
    if missing := [part for part in names if part not in files]:
        raise ArgumentError(f"{path}: no tensor {missing[0]}; fix: the files that belong to config.json")
    q, scale, zero = parts = (files.pop(names[0]), files.pop(names[1]), files.pop(names[2]))
    target = facts.get("target_dtype", {"_data": "int8"})
    stated = target.get("_data") if isinstance(target, dict) else target
    bits = 4 if kind == "Int4Tensor" else _TORCHAO_BITS.get(str(stated))
    if bits is None:
        raise ArgumentError(f"{path}: {name} is of {stated}; fix: {' or '.join(_TORCHAO_BITS)}")
    if len(q.shape) != 2 or q.dtype not in ("I8", "U8"):
        raise ArgumentError(f"{path}: {name}: {q.dtype} of shape {q.shape} is not weights of {kind}; fix: other files")
    n, k = q.shape if kind != "Int4Tensor" else (q.shape[0], 2 * q.shape[1])
    group = sizes[-1]
    expected = (n, k // group) if kind != "Int4Tensor" else (k // group, n)
    if sizes[0] != 1 or k % group or not scale.shape == zero.shape == expected:
        raise ArgumentError(
            f"{path}: {name}: scales {scale.shape} and zeros {zero.shape} of blocks {sizes} do not fit "
            f"{n} x {k} weights; fix: groups along the rows"
        )
    made = stored_formats.torchao_int4 if kind == "Int4Tensor" else partial(stored_formats.torchao, bits=bits)
    return RoundedTensor(TORCHAO, parts, scale, (n, k), made, bits)
