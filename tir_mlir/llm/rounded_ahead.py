"""Weights that are rounded before the model is described, by a core that else would wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.precision.formats import Format
from tir_mlir.llm.rounding import rounded_rows
from tir_mlir.llm.safetensors_files import Rows, StoredTensor

MOST = 1 << 29
"""Bytes of the rounded weights that wait for the model, about."""
_BYTE = 8
"""The bits of an element beyond which it may be rounded."""


@dataclass(frozen=True)
class RoundedRows:
    """Rows of a weight as a format stores them. read: the rows as the file has them."""

    how: Format
    parts: list[np.ndarray]
    read: Callable[[], np.ndarray]


@dataclass(frozen=True)
class RoundedAhead:
    """A tensor of a file, and all its rows as a format stores them."""

    tensor: StoredTensor
    how: Format
    parts: list[np.ndarray]

    @property
    def path(self) -> Path:
        return self.tensor.path

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def bits(self) -> int:
        return self.tensor.bits

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        return self.tensor.read(start, stop)

    def read_encoded(self, start: int = 0, stop: int | None = None) -> RoundedRows:
        return RoundedRows(
            self.how, [part[start:stop] for part in self.parts], lambda: self.tensor.read_encoded(start, stop)
        )

    def check(self, name: str) -> None:
        self.tensor.check(name)

    def rows(self) -> Rows:
        return self.tensor.rows()


def round_ahead(
    files: Mapping[str, object], how: Format | None, waiting: Callable[[], bool]
) -> dict[str, RoundedAhead]:
    """The matrices of files that could be rounded while `waiting()`, by one thread, small ones first: most weights are
    in layers, and of large ones a model may read the rows of a few tokens only. how: a format of groups; else none.
    What cannot be rounded is left to who binds it, who tells why."""
    found, size = dict[str, RoundedAhead](), 0
    group = None if how is None else how.group
    if how is None or group is None:
        return found
    wide = [(name, each) for name, each in files.items() if isinstance(each, StoredTensor) and _is_matrix(each, group)]
    for name, tensor in sorted(wide, key=lambda pair: pair[1].shape[0] * pair[1].shape[1]):
        if size > MOST or not waiting():
            break
        try:
            parts = rounded_rows(name, tensor.read_encoded(), how, threads=1)
        except GraphError:
            continue
        found[name] = RoundedAhead(tensor, how, parts)
        size += sum(part.nbytes for part in parts)
    return found


def _is_matrix(tensor: StoredTensor, group: int) -> bool:
    return len(tensor.shape) == 2 and tensor.bits > _BYTE and tensor.shape[1] % group == 0
