"""Formats of rounded weights: bfloat16; integers of 8 or 4 bits with a scale for each channel or group."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, short_repr

BFLOAT16, INT8, INT4 = "bfloat16", "int8", "int4"
NAMES = {"bf16": BFLOAT16, BFLOAT16: BFLOAT16, INT8: INT8, INT4: INT4}
"""The formats, and other names of theirs."""
GROUP = 32
"""The weights that share a scale, unless told otherwise, in 4 bits."""


@dataclass(frozen=True)
class Format:
    """How weights are stored.

    group: the adjacent weights of a row that share a scale; None: all of a channel.
    activations: the type that the other operand of products is rounded to, None: not.
    """

    name: str
    group: int | None = None
    activations: str | None = None

    def __str__(self) -> str:
        scales = "a scale per channel" if self.group is None else f"groups of {self.group}"
        text = self.name if self.name == BFLOAT16 else f"{self.name}, {scales}"
        return text if self.activations is None else f"{text}; activations {self.activations}"


@dataclass(frozen=True)
class Rounded:
    """A weight in a format.

    stored: its numbers, as they lie in memory (bfloat16 as its bits, two numbers of 4 bits in a byte of uint8, numbers
        of 8 bits by group, for activations of int8, plus 128).
    scale: None of bfloat16.
    values: what they stand for, in float32.
    """

    stored: np.ndarray
    scale: np.ndarray | None
    values: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.stored.nbytes + (0 if self.scale is None else self.scale.nbytes)


def format_of(name: object, group: int | None = None, activations: str | None = None) -> Format:
    """A format by its name. Errors: GraphError for a name, a group or activations that there are not."""
    if not isinstance(name, str) or name not in NAMES:
        raise GraphError(f"weights are stored in no format {short_repr(name)}; fix: one of {', '.join(NAMES)}")
    weight_dtype = NAMES[name]
    if group is not None and (isinstance(group, bool) or not isinstance(group, int) or group < 2 or group % 2):
        raise GraphError(f"a group is an even number of weights, not {short_repr(group)}")
    if weight_dtype == BFLOAT16 and group is not None:
        raise GraphError("bfloat16 has no scales; fix: no group=, or weights of int8 or int4")
    if activations is None:
        return Format(weight_dtype, GROUP if weight_dtype == INT4 and group is None else group)
    activation_dtype = BFLOAT16 if weight_dtype == BFLOAT16 else INT8
    if NAMES.get(activations) != activation_dtype:
        raise GraphError(
            f"weights of {weight_dtype} are multiplied by activations of {activation_dtype}, not "
            f"{short_repr(activations)}"
        )
    if group is not None and group % 8:
        raise GraphError(f"sums of integers are by groups of a multiple of 8 weights, not {group}")
    return Format(weight_dtype, group, activation_dtype)


def hindrance(weight: np.ndarray, how: Format, axis: int) -> str | None:
    """Why a weight cannot be stored in a format, in words; None if it can. axis: that of its channels."""
    if weight.dtype != np.float32:
        return f"it is {weight.dtype}, not float32"
    if not np.isfinite(weight).all():
        return "it has numbers that are not finite"
    if how.name == INT4 and how.group is None and weight.ndim == 2 and weight.shape[1] % 2:
        return f"its rows of {weight.shape[1]} fill no whole bytes"
    if how.name != INT4 and how.group is None:
        return None
    if weight.ndim != 2 or axis != 0:
        return "only the weights of a dense layer are stored in 4 bits or in groups"
    if how.group is None:
        return None
    columns = weight.shape[1]
    return f"its rows of {columns} are no whole groups of {how.group}" if columns % how.group else None


def round_weight(weight: np.ndarray, how: Format, axis: int) -> Rounded:
    """A weight in a format: each number the nearest there is. axis: that of its channels, 0 for groups."""
    if how.name == BFLOAT16:
        bits = to_bfloat16(weight)
        return Rounded(bits, None, from_bfloat16(bits))
    if how.name == INT4 and how.group is None:
        steps, scale = _closest_steps(weight)
        stored = _pack_int4(steps.astype(np.int8), packed_group(weight.shape[1]))
        return Rounded(stored, scale[:, 0], steps * scale)
    if how.group is None:
        return _by_channel(weight, axis)
    grouped = weight.reshape(len(weight), -1, how.group)
    steps, scale = _steps(grouped, 127 if how.name == INT8 else 7, (2,))
    values = (steps * scale).reshape(weight.shape)
    stored = steps.astype(np.int8).reshape(weight.shape)
    if how.name == INT4:
        stored = _pack_int4(stored, how.group)
    elif how.activations is not None:
        stored = stored.view(np.uint8) ^ np.uint8(128)  # plus 128
    return Rounded(stored, scale[:, :, 0], values)


def placeholder_weight(shape: tuple[int, ...], how: Format) -> Rounded:
    """What `rounded` makes of a matrix of this shape, in a format of groups or in bfloat16; all numbers are one."""
    rows, columns = shape
    if how.name == BFLOAT16:
        return Rounded(_ones(shape, np.uint16), None, _ones(shape, np.float32))
    assert how.group is not None
    width = columns // 2 if how.name == INT4 else columns
    stored = _ones((rows, width), np.int8 if how.name == INT8 and how.activations is None else np.uint8)
    return Rounded(stored, _ones((rows, columns // how.group), np.float32), _ones(shape, np.float32))


def _ones(shape: tuple[int, ...], dtype: type[np.generic]) -> np.ndarray:
    return np.broadcast_to(np.ones((), dtype), shape)


def to_bfloat16(array: np.ndarray) -> np.ndarray:
    """The bits of the nearest bfloat16, ties to even; the numbers are finite or infinite."""
    bits = np.ascontiguousarray(array).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """bfloat16 as float32, exactly."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _by_channel(weight: np.ndarray, axis: int) -> Rounded:
    others = tuple(a for a in range(weight.ndim) if a != axis)
    steps, scale = _steps(weight, 127, others)
    return Rounded(steps.astype(np.int8), scale.reshape(-1), steps * scale)


def round_per_tensor(weight: np.ndarray) -> Rounded:
    """A weight in int8, all of it with one scale."""
    steps, scale = _steps(weight, 127, tuple(range(weight.ndim)))
    return Rounded(steps.astype(np.int8), scale.reshape(()), steps * scale)


def _steps(weight: np.ndarray, most: int, over: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The nearest whole numbers of steps, at most `most`, and the length of a step: one for all elements along the axes
    `over`."""
    scale = scale_of_largest(weight, most, over)
    return np.clip(np.rint(weight / scale), -most, most).astype(np.float32), scale


def scale_of_largest(weight: np.ndarray, most: int, over: tuple[int, ...]) -> np.ndarray:
    """The step by which the largest weight is `most` steps; 1 for zeros."""
    largest = np.abs(weight).max(axis=over, keepdims=True, initial=0)
    scale = (largest / np.float32(most)).astype(np.float32)
    scale[scale < np.finfo(np.float32).tiny] = 1
    return scale


def _closest_steps(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Steps of 4 bits for each row: of some lengths, those that are closest to the weights. The largest weights of a
    row are limited then, and the others get shorter steps."""
    steps, scale = _steps(weight, 7, (1,))
    least = ((steps * scale - weight) ** 2).sum(axis=1, keepdims=True)
    for share in SHARES:
        shorter = scale_of_largest(weight, 7, (1,)) * np.float32(share)
        tried = np.clip(np.rint(weight / shorter), -8, 7).astype(np.float32)
        error = ((tried * shorter - weight) ** 2).sum(axis=1, keepdims=True)
        better = error < least
        steps, scale = np.where(better, tried, steps), np.where(better, shorter, scale)
        least = np.minimum(error, least)
    return steps, scale


SHARES = (0.9, 0.8, 0.7, 0.6, 0.5)
"""Of the step that reaches the largest weight of a row: lengths that are tried."""


def packed_group(columns: int) -> int:
    """The numbers of 4 bits in a row that are packed together, where no scale tells: as many as dot products of 64
    bytes take, or the most that divide the row."""
    return gcd(columns, 128)


def _pack_int4(stored: np.ndarray, group: int) -> np.ndarray:
    """Two numbers of -8 to 7 in a byte, plus 8: the elements j and j + group / 2 of a group, the first in its low
    half."""
    halves = (stored + np.int8(8)).astype(np.uint8).reshape(len(stored), -1, 2, group // 2)
    return (halves[:, :, 0] | halves[:, :, 1] << 4).reshape(len(stored), -1)
