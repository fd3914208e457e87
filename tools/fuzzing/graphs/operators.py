"""The operators of random graphs: how a call of each is drawn, and what it computes, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from fuzzing.graphs.rounding import DTYPES, FLOATS

Meaning = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Call:
    """A call of an operator: the numbers of its operands, its attributes, and its meaning, arrays -> an array of
    float64, integers or bools that is then rounded to the type of the result.

    inexact: the result may differ in its last bits; adds: so may a sum of terms, by the last bits of its terms.
    """

    operator: str
    operands: Sequence[int]
    meaning: Meaning
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inexact: bool = False
    adds: bool = False


@dataclass(frozen=True)
class Operand:
    """What a draw knows of a value: its number, type, and sizes, numbers or text."""

    number: int
    dtype: str
    shape: tuple[int | str, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


def erf(x: np.ndarray) -> np.ndarray:
    from math import erf as scalar

    return np.vectorize(scalar, otypes=["float64"])(x) if x.size else x


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    if not x.shape[axis]:
        return x
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


_EXACT = {
    "abs": np.abs,
    "negative": np.negative,
    "sign": lambda x: (x > 0) * 1 - (x < 0) * 1,
    "square": lambda x: x * x,
}
_OF_FLOATS: dict[str, Meaning] = {
    "exp": np.exp, "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": erf, "cos": np.cos,
    "sqrt": np.sqrt, "floor": np.floor, "round": np.round, "nn.relu": lambda x: np.maximum(x, 0),
    "nn.gelu": lambda x: x * 0.5 * (1 + erf(x * 0.5**0.5)), "nn.silu": lambda x: x / (1 + np.exp(-x)),
}  # fmt: skip
_TESTS: dict[str, Meaning] = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
_BINARY: dict[str, Meaning] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip
_COMPARISONS: dict[str, Meaning] = {
    "less": np.less, "equal": np.equal, "greater_equal": np.greater_equal, "not_equal": np.not_equal,
}  # fmt: skip
_LOGIC: dict[str, Meaning] = {
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip


def unary(random: Random, x: Operand) -> Call:
    if x.dtype == "bool":
        return Call("logical_not", [x.number], np.logical_not)
    table = (_EXACT | _OF_FLOATS | _TESTS) if x.is_float else _EXACT
    name = random.choice(list(table))
    return Call(name, [x.number], table[name], inexact=name not in _TESTS)


def binary(random: Random, x: Operand, y: Operand) -> Call:
    table = _LOGIC if x.dtype == "bool" else _BINARY | _COMPARISONS
    name = random.choice(list(table))
    return Call(name, [x.number, y.number], table[name], inexact=name in _BINARY)


def quotient(random: Random, x: Operand, y: Operand) -> Call | None:
    if not x.is_float:
        return None
    name = random.choice(["divide", "mod", "floor_mod", "atan2"])
    meanings: dict[str, Meaning] = {"divide": np.divide, "mod": np.fmod, "floor_mod": np.mod, "atan2": np.arctan2}
    return Call(name, [x.number, y.number], meanings[name], inexact=True)


def reduction(random: Random, x: Operand) -> Call | None:
    if not x.rank:
        return None
    keepdims = random.random() < 0.5
    axis = random.randrange(x.rank)
    if x.dtype == "bool":
        name = random.choice(["all", "any"])
        reduced: dict[str, Meaning] = {"all": np.all, "any": np.any}
        return Call(name, [x.number], lambda v: reduced[name](v, axis=axis, keepdims=keepdims), _over(axis, keepdims))
    names = ["sum", "prod", "max", "min", "argmax", "argmin", "mean"]
    name = random.choice(names if x.is_float else names[:-1])
    if name in ("max", "min") and x.is_float:
        start, function = (-np.inf, np.max) if name == "max" else (np.inf, np.min)
        meaning: Meaning = lambda v: function(v, axis=axis, keepdims=keepdims, initial=start)  # noqa: E731
    elif name in ("max", "min", "argmax", "argmin"):
        if not isinstance(x.shape[axis], int) or not x.shape[axis]:
            return None  # of integers, or a place: not defined where there is none
        meaning = lambda v: getattr(np, name)(v, axis=axis, keepdims=keepdims)  # noqa: E731
    elif name == "mean":
        meaning = lambda v: v.sum(axis, keepdims=keepdims) / v.shape[axis]  # noqa: E731
    else:
        wrapped = None if x.is_float else x.dtype
        meaning = lambda v: getattr(np, name)(v, axis=axis, keepdims=keepdims, dtype=wrapped)  # noqa: E731
    adds = name in ("sum", "prod", "mean")
    return Call(name, [x.number], meaning, _over(axis, keepdims), inexact=adds, adds=adds)


def _over(axis: int, keepdims: bool) -> dict[str, Any]:
    return {"axis": axis, "keepdims": keepdims}


def product(random: Random, x: Operand, y: Operand) -> Call | None:
    if x.dtype == "bool" or not x.rank or not y.rank:
        return None
    if random.random() < 0.5:
        return Call("matmul", [x.number, y.number], np.matmul, inexact=True, adds=True)
    dense: Meaning = lambda a, b: np.matmul(a, np.swapaxes(b, -1, -2))  # noqa: E731
    return Call("nn.dense", [x.number, y.number], dense, inexact=True, adds=True)


def rows(random: Random, x: Operand) -> Call | None:
    if not x.is_float or not x.rank:
        return None
    axis = random.randrange(x.rank)
    if random.random() < 0.5:
        return Call("nn.softmax", [x.number], lambda v: softmax(v, axis), {"axis": axis}, inexact=True, adds=True)
    return Call("cumsum", [x.number], lambda v: np.cumsum(v, axis), {"axis": axis}, inexact=True, adds=True)


def shaped(random: Random, x: Operand) -> Call | None:
    name = random.choice(["permute_dims", "flatten", "expand_dims", "flip", "broadcast_to", "strided_slice", "tile"])
    if name == "expand_dims":
        axis = random.randrange(x.rank + 1)
        return Call(name, [x.number], lambda v: np.expand_dims(v, axis), {"axis": axis}) if x.rank < 4 else None
    if name == "flatten":
        return Call(name, [x.number], np.ravel)
    if not x.rank:
        return None
    if name == "permute_dims":
        axes = random.sample(range(x.rank), x.rank)
        return Call(name, [x.number], lambda v: np.transpose(v, axes), {"axes": axes})
    axis = random.randrange(x.rank)
    if name == "flip":
        return Call(name, [x.number], lambda v: np.flip(v, axis), {"axis": axis})
    if name == "tile":
        repeats = [1 + (a == axis) for a in range(x.rank)]
        return Call(name, [x.number], lambda v: np.tile(v, repeats), {"repeats": repeats})
    if name == "broadcast_to":
        if any(isinstance(n, str) for n in x.shape) or x.rank > 3:
            return None
        shape = [3, *x.shape]
        return Call(name, [x.number], lambda v: np.broadcast_to(v, shape), {"shape": shape})
    size = x.shape[axis]
    if not isinstance(size, int):
        return None
    begin, step = random.randrange(size + 1), random.choice([1, 1, 2])
    attributes = {"axes": [axis], "begin": [begin], "end": [size], "strides": [step]}
    return Call(name, [x.number], lambda v: np.moveaxis(np.moveaxis(v, axis, 0)[begin::step], 0, axis), attributes)


def joined(random: Random, x: Operand, y: Operand) -> Call | None:
    if not x.rank or x.rank != y.rank:
        return None
    axis = random.randrange(x.rank)
    return Call("concat", [x.number, y.number], lambda a, b: np.concatenate([a, b], axis), {"axis": axis})


def cast(random: Random, x: Operand) -> Call | None:
    """Floats are cast to integers only where all types hold them, which `clip` does not ensure of NaN."""
    dtype = random.choice(DTYPES)
    if x.is_float and dtype not in (*FLOATS, "bool"):
        return None
    return Call("astype", [x.number], lambda v: v != 0 if dtype == "bool" else v, {"dtype": dtype})


def window(random: Random, x: Operand) -> Call | None:
    if x.rank != 4 or x.dtype == "bool" or not all(isinstance(n, int) and n >= 3 for n in x.shape[2:]):
        return None
    size, stride = random.choice([2, 3]), random.choice([1, 2])

    def pooled(v: np.ndarray) -> np.ndarray:
        seen = np.lib.stride_tricks.sliding_window_view(v, (size, size), (2, 3))[:, :, ::stride, ::stride]
        return seen.max((-1, -2))

    return Call("nn.max_pool2d", [x.number], pooled, {"pool_size": size, "strides": stride})


ONE = (unary, unary, reduction, reduction, rows, shaped, shaped, cast, window)
TWO = (binary, binary, quotient, product, product, joined)
