"""Random numbers of a graph: a seed and an offset are an input, and the offset of the next call is a result."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, prod
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import OperatorEmitter, Size, static_size

if TYPE_CHECKING:
    from tir_mlir.graph.builder import GraphBuilder, Value

NAME = "random_state"
"""The input: int64 (2,), the seed and the offset."""
STEP = 4
"""What a draw adds to the offset, as curand counts: the words of a block."""
SCALE = 2.0**-32
EPSILON = 2.0**-23


class RandomState:
    """The state that a graph draws from. allowed: whether it may have state at all."""

    def __init__(self, builder: GraphBuilder, allowed: bool):
        self.builder, self.allowed = builder, allowed
        self.draws = 0
        self.value: Value | None = None

    def words(self, e: OperatorEmitter, count: int, words: int) -> Value:
        """The next draw: uint32 (count, words), see `topi.philox`. Errors: GraphError without a state."""
        if not self.allowed:
            raise GraphError(
                "it draws random numbers, whose seed is a state\n"
                f'  fix: mutated="return" or "in_place", and pass {NAME}, int64 of a seed and 0; or pass the numbers'
            )
        if e.builder is not self.builder:
            raise GraphError("it draws random numbers in a branch or a loop\n  fix: draw them before it")
        if self.value is None:
            self.value = self.builder.input(NAME, (2,), "int64")
        self.draws += 1
        return e.op("philox", self.value, count=count, words=words, draw=self.draws - 1)

    def next_state(self, e: OperatorEmitter) -> Value | None:
        """The state after all draws; None where there are none."""
        return None if self.value is None else e.op("add", self.value, e.constant([0, STEP * self.draws], "int64"))


def uniform(e: OperatorEmitter, state: RandomState, shape: Sequence[Size]) -> Value:
    """Numbers of (0, 1], float32, of the first word of a block for each element."""
    return _in_unit(e, e.reshape(state.words(e, _count(shape), 1), shape))


def uniform_by_fours(e: OperatorEmitter, state: RandomState, shape: Sequence[Size]) -> Value:
    """The same of all words: four elements that are adjacent have one block."""
    count = _count(shape)
    words = e.op("reshape", state.words(e, -(-count // 4), 4), shape=(-1,))
    return _in_unit(e, e.reshape(e.slice(words, 0, 0, count), shape))


def exponential(e: OperatorEmitter, state: RandomState, shape: Sequence[Size]) -> Value:
    """Numbers of the density exp(-x), float32: minus the logarithm of one of (0, 1], and never 0."""
    u, least = uniform(e, state, shape), EPSILON / 2
    above = e.op("greater_equal", u, e.constant(1 - least, "float32"))
    return e.op("where", above, e.constant(least, "float32"), e.multiply(e.op("log", u), -1.0))


def normal(e: OperatorEmitter, state: RandomState, shape: Sequence[Size]) -> Value:
    """Numbers of mean 0 and variance 1, float32, of two words for each element (Box and Muller)."""
    words = state.words(e, _count(shape), 2)
    radius, angle = (_in_unit(e, e.reshape(e.slice(words, 1, n, n + 1), shape)) for n in (0, 1))
    length = e.op("sqrt", e.multiply(e.op("log", radius), -2.0))
    return e.op("multiply", length, e.op("sin", e.multiply(angle, 2 * pi)))


def integers(e: OperatorEmitter, state: RandomState, shape: Sequence[Size], low: int, high: int) -> Value:
    """Integers of low..high - 1, int64, of the first word of a block for each element."""
    if not 0 < high - low <= 1 << 28:
        raise GraphError(f"random integers of {high - low} values\n  fix: 1 to 2**28 values")
    words = e.cast(e.reshape(state.words(e, _count(shape), 1), shape), "int64")
    return e.add(e.binary("floor_mod", words, high - low, "int64"), low)


def _count(shape: Sequence[Size]) -> int:
    return prod(static_size(size, "a size of a tensor of random numbers") for size in shape)


def _in_unit(e: OperatorEmitter, words: Value) -> Value:
    return e.add(e.multiply(e.cast(words, "float32"), SCALE), SCALE / 2)
