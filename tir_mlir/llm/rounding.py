"""Rows of weights in few bits, with a scale for each group: computed by compiled code from how the files have them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tir_mlir import te
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.precision.formats import BFLOAT16, INT4, Format, from_bfloat16, to_bfloat16
from tir_mlir.llm.safetensors_files import Rows, StoredTensor
from tir_mlir.runtime.library import Library
from tir_mlir.schedule import Schedule
from tir_mlir.schedules import auto
from tir_mlir.target.host import cores

PART = 1 << 20
"""Bytes that a thread rounds, at least."""
_TINY = float(np.finfo(np.float32).tiny)


def rounded_rows(name: str, rows: np.ndarray, how: Format, threads: int | None = None) -> list[np.ndarray]:
    """The stored numbers and scales of rows, float32 or the bits of bfloat16 [rows, columns], as
    `formats.rounded` has them; of bfloat16 only the numbers. name: for errors; threads: default one a core. Raises
    GraphError for numbers that are not finite."""
    if how.name == BFLOAT16:
        return [_to_bfloat16(name, rows)]
    assert how.group is not None
    bits = 4 if how.name == INT4 else 8
    given = np.ascontiguousarray(rows).reshape(-1, how.group)
    stored = np.empty((len(given), how.group * bits // 8), np.uint8)
    scale = np.empty(len(given), np.float32)
    dtype = "bfloat16" if rows.dtype == np.uint16 else "float32"
    program, arrays = _program(dtype, how.group, bits), (given, scale, stored)
    count = max(1, min(cores() if threads is None else threads, given.nbytes // PART))
    ends = [len(given) * n // count for n in range(count + 1)]
    parts = [[array[start:stop] for array in arrays] for start, stop in itertools.pairwise(ends)]
    with ThreadPoolExecutor(count) as pool:
        for _ in pool.map(lambda part: program(*part), parts):
            pass
    if not np.isfinite(scale).all():
        raise GraphError(f"the weight {name} has numbers that are not finite; fix: other files")
    return [stored.reshape(len(rows), -1), scale.reshape(len(rows), -1)]


def prepare(dtype: str, how: Format) -> None:
    """Compile what `rounded_rows` runs on rows of a type, "float32" or "bfloat16" for its bits."""
    if how.group is not None:
        _program(dtype, how.group, 4 if how.name == INT4 else 8)


def widen_rows(rows: np.ndarray) -> np.ndarray:
    """Rows as float32."""
    return from_bfloat16(rows) if rows.dtype == np.uint16 else rows


def _to_bfloat16(name: str, rows: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(rows) if rows.dtype == np.uint16 else to_bfloat16(rows)
    if ((bits & 0x7F80) == 0x7F80).any():
        raise GraphError(f"the weight {name} has numbers that are not finite; fix: other files")
    return bits


@cache
def _program(dtype: str, group: int, bits: int) -> Library:
    """(weights [n, group], scale [n], stored [n, group * bits / 8]): a group has the step by which its largest weight
    is the largest number; 8 or 128 is added, and of 4 bits the elements j and j + group / 2 share a byte."""
    most, zero, half = (1 << (bits - 1)) - 1, 1 << (bits - 1), group // 2
    n, k, all_ = te.var("n"), te.reduce_axis((0, group), name="k"), te.reduce_axis((0, group), name="all")
    given: te.Tensor = te.placeholder((n, group), dtype, name="given")
    w: te.Tensor = te.compute((n, group), lambda i, j: given[i, j].astype("float32"), name="w")
    largest = te.compute((n,), lambda i: te.max(te.abs(w[i, k]), axis=k), name="largest")
    zeros = te.compute((n,), lambda i: te.sum(w[i, all_] * 0.0, axis=all_), name="zeros")
    step = te.compute((n,), lambda i: largest[i] / float(most), name="step")
    scale = te.compute(  # numbers that are not finite make it NaN
        (n,), lambda i: te.if_then_else(step[i] < _TINY, 1.0, step[i]) + zeros[i], name="scale"
    )
    q = te.compute((n, group), lambda i, j: (te.round(w[i, j] / scale[i]) + float(zero)).astype("int32"), name="q")
    if bits == 4:
        stored = te.compute((n, half), lambda i, j: (q[i, j] | (q[i, j + half] << 4)).astype("uint8"), name="stored")
    else:
        stored = te.compute((n, group), lambda i, j: q[i, j].astype("uint8"), name="stored")
    schedule = Schedule(te.create_prim_func([given, scale, stored]))
    auto(schedule, threads=1, reciprocal=False)  # the callers have threads
    return build(schedule.mod)


# Weights that are rounded before the model is described, by a core that else would wait.


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
