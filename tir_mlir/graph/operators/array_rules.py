"""How NumPy computes operators on the weights of a graph: to the bit what their TensorIR functions compute.

Only what NumPy does at the speed of memory: elements that move, casts, arithmetic of single elements. Weights are
computed once, so that a function for them takes longer to compile than NumPy takes to compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tir_mlir.runtime.aligned_arrays import copy_into
from tir_mlir.schedules.products.packing import WeightPanels, panels_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from tir_mlir.dialect.graph import TensorType
    from tir_mlir.graph.operators.attributes import PlainAttribute

FLOATS = frozenset({"float32", "float64"})
NUMBERS = FLOATS | {f"int{bits}" for bits in (8, 16, 32, 64)}
WHOLE = frozenset({"int32", "int64"})
BOOLS = frozenset({"bool"})
PIECE = 1 << 15
"""Elements of a piece that is rounded at a time: what is computed in between remains in the caches."""

ROW = 32
"""Elements of a row from which NumPy copies rows that are not adjacent at the speed of memory."""

Attributes: TypeAlias = "Mapping[str, PlainAttribute]"
Types: TypeAlias = "Sequence[TensorType]"


@dataclass(frozen=True)
class ArrayRule:
    """`compute(*arrays, out=array or None, **attributes)` is the result, or a list of them: views, new arrays, or `out`
    itself, which has the shape of the result. bfloat16 is its bits, as uint16.

    operands, results: the element types that it is right for, None: all, as bits are only moved.
    is_view: it does not copy, whatever the sizes.
    fits: whether it is right for these attributes and types.
    """

    compute: Callable[..., np.ndarray | list[np.ndarray]]
    operands: frozenset[str] | None = None
    results: frozenset[str] | None = None
    is_view: bool = False
    fits: Callable[[Attributes, Types, Types], bool] | None = None

    def applies(self, attributes: Attributes, operands: Types, results: Types) -> bool:
        """Whether it is right for a node of a graph; not where a size is symbolic."""
        if any(t.is_symbolic for t in (*operands, *results)) or any(map(_is_symbolic, attributes.values())):
            return False
        allowed = ((self.operands, operands), (self.results, results))
        if not all(dtypes is None or t.dtype in dtypes for dtypes, types in allowed for t in types):
            return False
        if self.is_view and self._shapes(attributes, operands) != [t.shape for t in results]:
            return False
        return self.fits is None or self.fits(attributes, operands, results)

    def _shapes(self, attributes: Attributes, operands: Types) -> list[tuple[int, ...]] | None:
        """The shapes of views of such operands; None if NumPy does not take the attributes."""
        element = np.zeros((), np.int8)
        arrays = [np.broadcast_to(element, [int(size) for size in t.shape]) for t in operands]
        try:
            views = self.compute(*arrays, out=None, **attributes)
        except (TypeError, ValueError, IndexError):
            return None
        return [v.shape for v in (views if isinstance(views, list) else [views])]


def _is_symbolic(value: PlainAttribute) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, str) for v in value))


# --- elements that move -----------------------------------------------------------------------------------------------


def _target(out: np.ndarray | None, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    return np.empty(shape, dtype) if out is None else out


def _permute(x: np.ndarray, axes: Sequence[int] | None = None, *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return x.transpose(axes)


def _broadcast(x: np.ndarray, shape: Sequence[int], *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.broadcast_to(x, shape)


def _flip(x: np.ndarray, axis: int | list[int], *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.flip(x, tuple(axis) if isinstance(axis, list) else axis)


def _slice(
    x: np.ndarray,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None = None,
    *,
    out: np.ndarray | None = None,
    **_: bool,
) -> np.ndarray:
    del out
    steps = [1] * len(axes) if strides is None else strides
    slices = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        slices[axis] = slice(first, last, step)
    return x[tuple(slices)]


def _split(
    x: np.ndarray, indices_or_sections: int | list[int], axis: int = 0, *, out: np.ndarray | None = None
) -> list[np.ndarray]:
    del out
    return np.split(x, indices_or_sections, axis)


def _concatenate(*arrays: np.ndarray, axis: int = 0, out: np.ndarray | None = None) -> np.ndarray:
    shape, axis = list(arrays[0].shape), axis % arrays[0].ndim
    shape[axis] = sum(a.shape[axis] for a in arrays)
    joined, start = _target(out, shape, arrays[0].dtype), 0
    for array in arrays:
        copy_into(joined[(slice(None),) * axis + (slice(start, start + array.shape[axis]),)], array)
        start += array.shape[axis]
    return joined


def _stack(*arrays: np.ndarray, axis: int = 0, out: np.ndarray | None = None) -> np.ndarray:
    return _concatenate(*(np.expand_dims(a, axis) for a in arrays), axis=axis, out=out)


def _tile(x: np.ndarray, repeats: int | Sequence[int], *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.tile(x, repeats)


def _repeat(x: np.ndarray, repeats: int, axis: int | None = None, *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.repeat(x, repeats, axis)


def _pad(
    x: np.ndarray,
    pad_width: Sequence[int | Sequence[int]],
    pad_value: float = 0,
    pad_mode: str = "constant",
    *,
    out: np.ndarray | None = None,
) -> np.ndarray:
    del pad_mode
    sides = np.array(pad_width).reshape(-1, 2).tolist()
    padded = _target(out, [before + n + after for n, (before, after) in zip(x.shape, sides, strict=True)], x.dtype)
    for axis, (before, after) in enumerate(sides):
        for edge in (slice(0, before), slice(padded.shape[axis] - after, None)):
            padded[(slice(None),) * axis + (edge,)] = pad_value
    copy_into(padded[tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, sides, strict=True))], x)
    return padded


def _pads_constant(attributes: Attributes, operands: Types, _: Types) -> bool:
    """Whether numbers, of a type that NumPy has, are put around long rows, or few, and nothing is cut off."""
    sides = np.array(attributes["pad_width"]).reshape(-1).tolist()
    constant = attributes.get("pad_mode", "constant") == "constant" and all(side >= 0 for side in sides)
    rows = operands[0].shape[-1:] >= (ROW,) or prod(map(int, operands[0].shape)) <= PIECE
    return constant and rows and len(sides) == 2 * len(operands[0].shape) and operands[0].dtype in NUMBERS


def _take(
    x: np.ndarray, indices: np.ndarray, axis: int | None = None, mode: str = "fast", *, out: np.ndarray | None = None
) -> np.ndarray:
    del out
    return np.take(x, indices.astype(np.int32), axis, mode="wrap" if mode == "wrap" else "clip")


def _gather(x: np.ndarray, *indices: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    del out
    positions = []
    for size, index in zip(x.shape, indices, strict=False):
        whole = index.astype(np.int32)
        positions.append(np.clip(np.where(whole < 0, whole + size, whole), 0, size - 1))
    return x[tuple(positions)]


def _where(condition: np.ndarray, x: np.ndarray, y: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.where(condition, x, y)


def _chooses_by_bool(_: Attributes, operands: Types, results: Types) -> bool:
    return operands[0].dtype == "bool" and all(t.dtype == results[0].dtype for t in operands[1:])


def _lower_triangle(x: np.ndarray, k: int = 0, *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.tril(x, k)


def _upper_triangle(x: np.ndarray, k: int = 0, *, out: np.ndarray | None = None) -> np.ndarray:
    del out
    return np.triu(x, k)


# --- arithmetic of single elements ------------------------------------------------------------------------------------


def _of_elements(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A NumPy function of single elements. The result has the order of axes of the operands, in which they are read."""

    def compute(*arrays: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        in_order = out is not None and all(a.flags.c_contiguous for a in arrays if a.shape == out.shape)
        return np.asarray(function(*arrays, out=out) if in_order else function(*arrays))

    return compute


def _rsqrt(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    return np.divide(1, np.sqrt(x), out=out)


def _reciprocal(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    return np.divide(1, x, out=out)


def _same_types(_: Attributes, operands: Types, results: Types) -> bool:
    return len({t.dtype for t in (*operands, *results)}) == 1


def _divides_each(attributes: Attributes, operands: Types, results: Types) -> bool:
    """Not where a divisor serves several elements: schedules then multiply with its reciprocal."""
    return _same_types(attributes, operands, results) and operands[1].shape == results[0].shape


def _same_operands(_: Attributes, operands: Types, __: Types) -> bool:
    return len({t.dtype for t in operands}) == 1


def _arithmetic(function: Callable[..., np.ndarray], dtypes: frozenset[str]) -> ArrayRule:
    return ArrayRule(_of_elements(function), dtypes, dtypes, fits=_same_types)


def _comparison(function: Callable[..., np.ndarray], dtypes: frozenset[str]) -> ArrayRule:
    return ArrayRule(_of_elements(function), dtypes, BOOLS, fits=_same_operands)


def _cast(x: np.ndarray, dtype: str, *, out: np.ndarray | None = None) -> np.ndarray:
    source = "bfloat16" if x.dtype == np.uint16 else x.dtype.name
    if source == dtype:
        return x
    if dtype == "bfloat16":
        return _round_to_bfloat16(x, _target(out, x.shape, np.uint16))
    if source == "bfloat16":
        wide = _target(out, x.shape, np.float32)
        np.left_shift(x, 16, out=wide.view(np.uint32), dtype=np.uint32)
        return wide
    if out is None:
        return x.astype(dtype, order="K")
    np.copyto(out, x, casting="unsafe")
    return out


def _round_to_bfloat16(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The bits of the nearest bfloat16, ties to even; a NaN becomes quiet and keeps its leading bits."""
    rows = (x, out) if x.ndim else (x.reshape(1), out.reshape(1))
    source, target = (rows[0].reshape(-1), rows[1].reshape(-1)) if x.flags.c_contiguous else rows
    step = max(1, PIECE * len(source) // max(1, source.size))
    for start in range(0, len(source), step):
        piece = np.ascontiguousarray(source[start : start + step])
        bits = piece.view(np.uint32)
        rounded = (bits >> 16) & 1
        rounded += 0x7FFF
        rounded += bits
        if (nans := np.isnan(piece)).any():
            np.copyto(rounded, bits | 0x400000, where=nans)
        rounded >>= 16
        target[start : start + step] = rounded
    return out


def _casts(_: Attributes, operands: Types, results: Types) -> bool:
    """Not from floats to integers: what is out of their range is as the machine has it."""
    source, dtype = operands[0].dtype, results[0].dtype
    if "bfloat16" in (source, dtype):
        return {source, dtype} <= {"bfloat16", "float32"}
    return source in NUMBERS and dtype in (FLOATS if source in FLOATS else NUMBERS)


# --- integers: their sums, and the numbers that they stand for --------------------------------------------------------


def _sum(
    x: np.ndarray, axis: int | list[int] | None = None, keepdims: bool = False, *, out: np.ndarray | None = None
) -> np.ndarray:
    del out
    over = tuple(axis) if isinstance(axis, list) else axis
    return np.asarray(x.sum(over, x.dtype, keepdims=keepdims))


def _dequantize(
    x: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray | int = 0,
    axis: int = -1,
    out_dtype: str = "float32",
    *,
    out: np.ndarray | None = None,
) -> np.ndarray:
    along = [-1 if n == axis % max(1, x.ndim) else 1 for n in range(x.ndim)]
    by, zero = (np.asarray(value).reshape(along) for value in (scale, zero_point))
    wide = x.astype(np.int32) if np.all(zero == 0) else x.astype(np.int32) - zero.astype(np.int32)
    numbers = _target(out, x.shape, out_dtype)
    return np.multiply(wide.astype(out_dtype), by, out=numbers)


def _stands_for_floats(_: Attributes, operands: Types, results: Types) -> bool:
    """Not of integers that int32 does not have, nor of other floats: those of 16 bits are rounded from wider ones."""
    number, scale, *zero = (t.dtype for t in operands)
    whole = all(dtype in ("int8", "int16", "int32") for dtype in (number, *zero))
    return whole and scale == results[0].dtype == "float32"


# --- arrays of given numbers ------------------------------------------------------------------------------------------


def _fill_function(number: int | None) -> Callable[..., np.ndarray]:
    """Of operands, whose shape and type the result has, or of attributes: the `fill_value`, or `number` without one."""

    def compute(
        *like: np.ndarray,
        shape: Sequence[int] = (),
        dtype: str = "float32",
        fill_value: float = 0,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        array = _target(out, like[0].shape, like[0].dtype) if like else _target(out, shape, dtype)
        array[...] = fill_value if number is None else number
        return array

    return compute


def _fills(attributes: Attributes, operands: Types, results: Types) -> bool:
    """Not with an operand, and not with a fraction where integers are wanted."""
    number = attributes.get("fill_value", 0)
    integral = isinstance(number, (int, float)) and float(number).is_integer() and results[0].dtype in NUMBERS
    return len(operands) <= ("shape" not in attributes) and (integral or results[0].dtype in FLOATS)


def _arange(
    start: int = 0, end: int | None = None, step: int = 1, dtype: str = "float32", *, out: np.ndarray | None = None
) -> np.ndarray:
    del out
    first, last = (0, start) if end is None else (start, end)
    return np.arange(first, last, step).astype(dtype)


def _counts_whole(attributes: Attributes, _: Types, __: Types) -> bool:
    return all(isinstance(attributes.get(name, 0), int) for name in ("start", "end", "step"))


# --- panels -----------------------------------------------------------------------------------------------------------


def _pack_panels(
    x: np.ndarray, along: int, inner: Sequence[int], width: int, group: int = 1, *, out: np.ndarray | None = None
) -> np.ndarray:
    return panels_of(x, WeightPanels("", x.shape, str(x.dtype), along, tuple(inner), width, group), out)


# --- the rules, for the table of operators ----------------------------------------------------------------------------

PERMUTE = ArrayRule(_permute, is_view=True)
BROADCAST = ArrayRule(_broadcast, is_view=True)
FLIP = ArrayRule(_flip, is_view=True)
SLICE = ArrayRule(_slice, is_view=True)
SPLIT = ArrayRule(_split, is_view=True)
CONCATENATE, STACK, TILE, REPEAT = map(ArrayRule, (_concatenate, _stack, _tile, _repeat))
PAD = ArrayRule(_pad, fits=_pads_constant)
TAKE, GATHER = map(ArrayRule, (_take, _gather))
WHERE = ArrayRule(_where, fits=_chooses_by_bool)
LOWER_TRIANGLE, UPPER_TRIANGLE = map(ArrayRule, (_lower_triangle, _upper_triangle))
CAST = ArrayRule(_cast, fits=_casts)
FULL, ZEROS, ONES = (ArrayRule(_fill_function(number), fits=_fills) for number in (None, 0, 1))
ARANGE = ArrayRule(_arange, fits=_counts_whole)
PANELS = ArrayRule(_pack_panels)

ADD, SUBTRACT, MULTIPLY = (_arithmetic(f, NUMBERS) for f in (np.add, np.subtract, np.multiply))
SQUARE_ROOT, RSQRT, RECIPROCAL = (_arithmetic(f, FLOATS) for f in (np.sqrt, _rsqrt, _reciprocal))
SUM = ArrayRule(_sum, WHOLE, WHOLE, fits=_same_types)
DEQUANTIZE = ArrayRule(_dequantize, fits=_stands_for_floats)
DIVIDE = ArrayRule(_of_elements(np.divide), FLOATS, FLOATS, fits=_divides_each)
NEGATIVE, ABSOLUTE, SQUARE = (_arithmetic(f, FLOATS) for f in (np.negative, np.abs, np.square))
EQUAL, NOT_EQUAL = (_comparison(f, NUMBERS | BOOLS) for f in (np.equal, np.not_equal))
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = (
    _comparison(f, NUMBERS) for f in (np.less, np.less_equal, np.greater, np.greater_equal)
)
AND, OR, XOR, NOT = (_comparison(f, BOOLS) for f in (np.logical_and, np.logical_or, np.logical_xor, np.logical_not))
