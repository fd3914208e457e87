"""`LanguageModel`: tokens in, tokens out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.graph.model import Model
from tir_mlir.llm.sampling import Sampling
from tir_mlir.runtime.aligned import empty

STEP = 128
"""The positions by which a cache grows."""


@dataclass(frozen=True)
class Block:
    """A layer: on one token, and on a chunk of them; its cache has keys and values of so many heads and columns."""

    one: Model
    chunk: Model
    heads: int
    columns: int


@dataclass(frozen=True)
class Limits:
    """tokens: the vocabulary; context: the positions; chunk: the tokens of a prompt that are computed at a time."""

    tokens: int
    context: int
    chunk: int


class LanguageModel:
    """A language model: `model.generate(tokens, 64)`. Made by `load`.

    embedding: the rows of tokens; rotary: cosines and sines of the positions [context, columns]; scores: models of the
    last norm and the scores of some tokens each. A call has a cache of its own, so that several threads may call it.
    """

    def __init__(
        self,
        limits: Limits,
        embedding: Callable[[Sequence[int]], np.ndarray],
        rotary: tuple[np.ndarray, np.ndarray],
        layers: Sequence[Block],
        scores: Sequence[Model],
    ):
        self.limits, self.layers, self.scores = limits, list(layers), list(scores)
        self._embedding, self._rotary = embedding, rotary

    def generate(
        self, tokens: Sequence[int], count: int, sampling: Sampling | None = None, stop: int | None = None
    ) -> list[int]:
        """The next `count` tokens after a prompt; fewer if `stop` comes, which is the last one then. sampling: default
        the token with the highest score. Raises ArgumentError for tokens beyond the vocabulary, an empty prompt, and
        one that leaves no place for `count` more."""
        found: list[int] = []
        for token in self.stream(tokens, count, sampling):
            found.append(token)
            if token == stop:
                break
        return found

    def stream(self, tokens: Sequence[int], count: int, sampling: Sampling | None = None) -> Iterator[int]:
        """The same, one by one as they are found."""
        given = self._checked(tokens, count)
        how = sampling or Sampling()
        return self._tokens(given, count, how, how.generator())

    def logits(self, tokens: Sequence[int]) -> np.ndarray:
        """The scores of all tokens after a prompt, float32 [vocabulary]."""
        return _Run(self).prompt(self._checked(tokens, 1))

    def _tokens(self, given: list[int], count: int, how: Sampling, generator: np.random.Generator) -> Iterator[int]:
        run = _Run(self)
        scores = run.prompt(given) if count else None
        for number in range(count):
            assert scores is not None
            token = how.token(scores, generator)
            yield token
            if number + 1 < count:
                scores = run.step([token])

    def _checked(self, tokens: Sequence[int], count: int) -> list[int]:
        given, limits = [int(token) for token in tokens], self.limits
        wrong = next((token for token in given if not 0 <= token < limits.tokens), None)
        if wrong is not None:
            raise ArgumentError(f"token {wrong} is beyond the vocabulary, 0 to {limits.tokens - 1}")
        if not given or count < 0:
            raise ArgumentError(
                f"tokens={short_repr(tokens)}, count={count}; fix: a token and more, a count of 0 or more"
            )
        if len(given) + count > limits.context:
            raise ArgumentError(
                f"a prompt of {len(given)} tokens and {count} more do not fit in the cache of {limits.context}; fix: "
                "load(..., context=...)"
            )
        return given


class _Run:
    """One run: the cache of each layer, and how many tokens are in it."""

    def __init__(self, model: LanguageModel):
        self.model, self.past, self.capacity = model, 0, 0
        self.caches: list[tuple[np.ndarray, np.ndarray]] = []

    def prompt(self, tokens: list[int]) -> np.ndarray:
        """The scores after the last token of a prompt, which is computed chunk by chunk."""
        size = self.model.limits.chunk
        parts = [tokens[start : start + size] for start in range(0, len(tokens), size)]
        for part in parts[:-1]:
            self._through(part)
        return self.step(parts[-1])

    def step(self, tokens: list[int]) -> np.ndarray:
        """The scores after tokens, at most a chunk of them."""
        x = self._through(tokens)
        last = np.ascontiguousarray(x[:, len(tokens) - 1 : len(tokens)])
        return np.concatenate([part(last)[0, 0] for part in self.model.scores])[: self.model.limits.tokens]

    def _through(self, tokens: list[int]) -> np.ndarray:
        """The result of the layers. A chunk that is not full ends in zeros, whose keys are behind all others: they are
        not seen, and overwritten by later tokens."""
        model, one = self.model, len(tokens) == 1
        rows = 1 if one else model.limits.chunk
        self._reserve(self.past + rows)
        positions = np.arange(self.past, self.past + rows, dtype=np.int64)
        cos, sin = (np.ascontiguousarray(table[positions])[None] for table in model._rotary)
        embedded = model._embedding(tokens)
        x = np.zeros((1, rows, embedded.shape[1]), np.float32)
        x[0, : len(tokens)] = embedded
        for layer, (keys, values) in zip(model.layers, self.caches, strict=True):
            run = layer.one if one else layer.chunk
            x = run(x, cos, sin, positions, keys, values)[0]
        self.past += len(tokens)
        return x

    def _reserve(self, count: int) -> None:
        """Let the caches have so many positions: the old ones are copied."""
        if count <= self.capacity:
            return
        capacity, old = -(-count // STEP) * STEP, self.caches
        self.caches = []
        for number, layer in enumerate(self.model.layers):
            pair = [empty((1, layer.heads, capacity, layer.columns), "float32") for _ in range(2)]
            for place, array in enumerate(pair):
                array[:] = 0
                if old:
                    array[:, :, : self.capacity] = old[number][place]
            self.caches.append((pair[0], pair[1]))
        self.capacity = capacity
