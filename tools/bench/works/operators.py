"""Operators between the products of a model, each under one function of `tir_mlir.schedules`: transposes, reductions,
activations, norms, quantization, embedding, attention."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import operator_programs as programs
import peers
from contest import Contest, Contestant, Goal, Work
from ours import scheduled
from program_pages import page
from tir_mlir import te

from .entering import contest

GOALS = (Goal(1.0, ("torch", "numpy")),)
STEP = 1 / 64  # of quantized values
BEST = 8  # the values of a row that top-k finds


@dataclass(frozen=True)
class Operator:
    """A row: the function of `tir_mlir.schedules`, the program and its last block, the inputs, and the same in NumPy
    and PyTorch (`torch(torch, *tensors)` returns the result). `work`: operations per element of the result, or of the
    largest input; `more`: other outputs, before the result that is compared."""

    name: str
    function: str
    program: Callable[[], Any]
    block: str
    inputs: Sequence[np.ndarray]
    numpy: Callable[..., np.ndarray]
    torch: Callable[..., Any]
    work: float = 1.0
    unit: str = "GB/s"
    dtype: str = "float32"
    more: Sequence[np.ndarray] = ()


def works(threads: Sequence[int]) -> list[Work]:
    return [_row(one, t) for one in operators() for t in threads]


def small(threads: int) -> list[Work]:
    """The same rows at sizes for tests."""
    return [_row(one, threads) for one in operators(19, 33, 2, 20, 12)]


def operators(
    rows: int = 2048, columns: int = 2048, heads: int = 12, keys: int = 512, width: int = 64
) -> list[Operator]:
    """All rows, for matrices of one size and one size of attention."""
    x, w, b = _random(rows, columns), _random(columns), _random(columns)
    mean, spread = _random(columns), np.abs(_random(columns)) + 0.5
    q8 = np.random.default_rng(0).integers(-128, 128, (rows, columns), np.int8)
    ids = np.random.default_rng(0).integers(0, rows, rows, np.int32)
    distinct = np.random.default_rng(0).permuted(np.tile(np.arange(columns, dtype=np.float32), (rows, 1)), axis=1)
    q, k, v = (_random(heads, keys, width) for _ in range(3))
    size = (rows, columns)
    found = [
        Operator("transpose", "transpose", lambda: programs.transpose(*size), "out", [x], lambda a: a.T.copy(),
                 lambda t, a: a.t().contiguous()),
        *_reductions(x),
        Operator("RMS norm", "rowwise", lambda: programs.rms_norm(*size), "out", [x, w], _rms_norm,
                 lambda t, a, s: t.nn.functional.rms_norm(a, a.shape[-1:], s, 1e-5), 4.0),
        Operator("batch norm", "elementwise", lambda: programs.batch_norm(*size), "out", [x, mean, spread, w, b],
                 lambda a, m, s, g, h: (a - m) / np.sqrt(s + np.float32(1e-5)) * g + h,
                 lambda t, a, m, s, g, h: t.nn.functional.batch_norm(a, m, s, g, h, False, 0.0, 1e-5), 4.0),
        Operator("GELU (tanh)", "elementwise", lambda: programs.gelu(*size), "out", [x], _gelu,
                 lambda t, a: t.nn.functional.gelu(a, approximate="tanh"), 8.0),
        Operator("GELU (erf)", "elementwise", lambda: programs.gelu_erf(*size), "out", [x], _gelu_erf,
                 lambda t, a: t.nn.functional.gelu(a), 8.0),
        Operator("quantize", "elementwise", lambda: programs.quantize(*size, STEP), "out", [x],
                 lambda a: np.clip(np.rint(a * np.float32(1 / STEP)), -128, 127).astype(np.int8),
                 lambda t, a: t.quantize_per_tensor(a, STEP, 0, t.qint8).int_repr(), 4.0),
        Operator("dequantize", "elementwise", lambda: programs.dequantize(*size), "out", [q8, w],
                 lambda a, s: a * s, lambda t, a, s: a * s, 1.0, dtype="int8"),
        Operator("embedding", "elementwise", lambda: programs.embedding(*size), "out", [ids, x], lambda i, a: a[i],
                 lambda t, i, a: t.nn.functional.embedding(i, a)),
        Operator("top-k", "independent", lambda: page("top-k")["top_k"](*size, BEST), "row", [distinct],
                 _best, lambda t, a: t.topk(a, BEST)[1].to(t.int32),
                 more=[np.empty((rows, BEST), np.float32)]),
    ]  # fmt: skip
    for causal in (False, True):
        found.append(_attention(q, k, v, causal))
    return found


def _reductions(x: np.ndarray) -> list[Operator]:
    """Sums and maxima over each axis, and over both."""
    found, (rows, columns) = [], x.shape
    for axis, where in ((0, " over rows"), (1, " over columns"), (None, "")):
        keep = axis is None
        for name, combine, of, torch in (("sum", te.sum, np.sum, "sum"), ("maximum", te.max, np.max, "amax")):
            found.append(Operator(
                name + where, "reduction", lambda axis=axis, f=combine: programs.reduced(rows, columns, axis, f), "out",
                [x],
                lambda a, axis=axis, f=of, keep=keep: f(a, axis, keepdims=keep).reshape(-1),
                lambda t, a, axis=axis, f=torch: getattr(t, f)(a, (0, 1) if axis is None else axis).reshape(-1),
            ))  # fmt: skip
    return found


def _attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> Operator:
    return Operator(
        "attention, causal" if causal else "attention", "attention",
        lambda: programs.attention(k.shape[0], k.shape[1], k.shape[2], causal), "out", [q, k, v],
        lambda a, b, c: _numpy_attention(a, b, c, causal),
        lambda t, a, b, c: t.nn.functional.scaled_dot_product_attention(a[None], b[None], c[None], is_causal=causal)[0],
        4.0 * k.shape[1], "GFLOP/s",
    )  # fmt: skip


def _row(one: Operator, threads: int) -> Work:
    inputs = [*one.inputs, *one.more]

    def make() -> Contest:
        return contest(
            np.ascontiguousarray(one.numpy(*one.inputs)), inputs,
            lambda: scheduled(one.program(), one.block, one.function, threads, _unscheduled),
            {"torch": lambda: peers.pytorch.operator(one.torch, one.inputs), "numpy": lambda: _in_numpy(one)},
        )  # fmt: skip

    program = one.program()  # views live as long as their module
    result = program.func.params[-1]
    size, largest = prod(result.shape), max((x.shape for x in one.inputs), key=prod)
    read, written = sum(x.nbytes for x in one.inputs), size * np.dtype(result.dtype).itemsize
    return Work(
        one.name, "x".join(map(str, largest)), one.dtype, threads, one.unit, one.work * max(size, prod(largest)),
        float(read), float(written), make, GOALS,
    )  # fmt: skip


def _in_numpy(one: Operator) -> Contestant:
    found: list[np.ndarray] = []

    def call() -> None:
        found[:] = [one.numpy(*one.inputs)]

    return Contestant(call, lambda: found[0])


def _unscheduled(sch: Any, block: str, threads: int) -> None:
    """The program as it is: nothing is written by hand for these."""


def _rms_norm(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(1, keepdims=True) + np.float32(1e-5)) * w


def _gelu(x: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * x * (1 + np.tanh(np.float32(0.79788456) * (x + np.float32(0.044715) * x * x * x)))


def _gelu_erf(x: np.ndarray) -> np.ndarray:
    """With a polynomial for the error function, which NumPy does not have; it is off by 2e-7 at most."""
    z = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    factors = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
    tail = functools.reduce(lambda value, factor: value * t + np.float32(factor), factors, np.float32(0))
    return np.float32(0.5) * x * (1 + np.copysign(1 - tail * t * np.exp(-z * z), x))


def _best(x: np.ndarray) -> np.ndarray:
    """The positions of the largest values of each row, in order."""
    some = np.argpartition(-x, BEST, 1)[:, :BEST]
    order = np.argsort(-np.take_along_axis(x, some, 1), 1)
    return np.take_along_axis(some, order, 1).astype(np.int32)


def _numpy_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(q.shape[-1]))
    if causal:
        scores = np.where(np.tri(q.shape[1], k.shape[1], dtype=bool), scores, np.float32(-1e30))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).uniform(-1, 1, shape).astype(np.float32)
