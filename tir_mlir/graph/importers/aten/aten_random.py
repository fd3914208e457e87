"""Random numbers of torch, as its kernels for a GPU have them: Philox 4x32-10 with a seed and an offset.

Element i of a tensor of up to 2^18 elements has the block of the counter (offset / 4, i), as a GPU with a thread for
each element computes it; dropout, and Bernoulli numbers of a tensor of probabilities, have a block for four elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import random_numbers as numbers
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.random_numbers import RandomState

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


def _state(e: TorchEmitter) -> RandomState:
    if e.random is None or e.dtype == "float64":
        raise GraphError(f"random numbers of {e.dtype}\n  fix: numbers of float32")
    return e.random


@aten("rand.default", "rand_like")
def rand(e: TorchEmitter, **_: object) -> Value:
    return _uniform_numbers(e, 0.0, 1.0)


@aten("uniform")
def uniform(e: TorchEmitter, x: Value, **bounds: float) -> Value:
    low, high = bounds.get("from", 0.0), bounds.get("to", 1.0)
    return _uniform_numbers(e, low, high)


def _uniform_numbers(e: TorchEmitter, low: float, high: float) -> Value:
    """Numbers of low <= x < high: 1 becomes 0."""
    u = numbers.uniform(e, _state(e), e.shape)
    one = e.binary("equal", u, 1.0, "float32")
    u = e.op("where", one, e.constant(0.0, "float32"), u)
    return e.cast(u if (low, high) == (0.0, 1.0) else e.add(e.multiply(u, high - low), low), e.dtype)


@aten("randn.default", "randn_like")
def randn(e: TorchEmitter, **_: object) -> Value:
    return e.cast(numbers.normal(e, _state(e), e.shape), e.dtype)


@aten("normal_functional", "normal.float_float")
def normal(e: TorchEmitter, mean: float = 0.0, std: float = 1.0, **_: object) -> Value:
    return e.cast(e.add(e.multiply(numbers.normal(e, _state(e), e.shape), std), mean), e.dtype)


@aten("randint.default", "randint.low", "randint_like.default", "randint_like.low_dtype")
def randint(e: TorchEmitter, high: int, low: int = 0, **_: object) -> Value:
    return e.cast(numbers.integers(e, _state(e), e.shape, low, high), e.dtype)


@aten("exponential")
def exponential(e: TorchEmitter, x: Value, lambd: float = 1.0) -> Value:
    """Numbers of the density l * exp(-l * x)."""
    return e.cast(e.multiply(numbers.exponential(e, _state(e), e.shape), 1 / lambd), e.dtype)


@aten("multinomial")
def multinomial(e: TorchEmitter, x: Value, num_samples: int, replacement: bool = False, **_: object) -> Value:
    """Positions in rows of weights, each drawn as often as it weighs: the greatest quotients of the weights and of
    numbers of the exponential distribution, as PyTorch's kernel has it; of samples with replacement each has its own.
    """
    x, axis = e.cast(x, "float32"), len(x.shape) - 1
    if replacement and num_samples > 1:
        rows = (num_samples, *x.shape)
        chance = e.op("divide", x, numbers.exponential(e, _state(e), rows))
        positions = e.cast(e.op("argmax", chance, axis=axis + 1), "int64")
        return e.permute(positions, [*range(1, axis + 1), 0])
    chance = e.op("divide", x, numbers.exponential(e, _state(e), x.shape))
    return e.op_results("topk", chance, k=num_samples, axis=axis, largest=True, dtype="int64")[1]


@aten("bernoulli.p")
def bernoulli(e: TorchEmitter, x: Value, p: float = 0.5) -> Value:
    """1 with a probability."""
    return e.cast(e.binary("less", numbers.uniform(e, _state(e), e.shape), p, "float32"), e.dtype)


@aten("bernoulli.default")
def bernoulli_of(e: TorchEmitter, x: Value) -> Value:
    """1 with the probability that each element is."""
    u = numbers.uniform_by_fours(e, _state(e), e.shape)
    return e.cast(e.op("less_equal", u, e.cast(x, "float32")), e.dtype)


@aten("dropout.default")
def dropout(e: TorchEmitter, x: Value, p: float, train: bool) -> Value:
    """Elements that are 0 with the probability p, the others divided by 1 - p; x itself for inference."""
    return _drop_elements(e, x, p)[0] if train and p else x


@aten("native_dropout.default")
def native_dropout(e: TorchEmitter, x: Value, p: float, train: bool | None) -> list[Value]:
    """Dropout of x, and the mask of the elements that are kept."""
    if train is False or not p:
        return [x, e.broadcast(e.constant(True, "bool"), x.shape)]
    return _drop_elements(e, x, p)


def _drop_elements(e: TorchEmitter, x: Value, p: float) -> list[Value]:
    if p == 1:
        return [e.broadcast(e.constant(0, x.dtype), x.shape), e.broadcast(e.constant(False, "bool"), x.shape)]
    u = numbers.uniform_by_fours(e, _state(e), x.shape)
    is_kept = e.binary("less", u, 1 - p, "float32")
    scaled = e.multiply(e.cast(x, "float32"), 1 / (1 - p))
    return [e.cast(e.op("where", is_kept, scaled, e.constant(0.0, "float32")), x.dtype), is_kept]
