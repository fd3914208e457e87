"""`LanguageModel`: tokens in, tokens out."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.llm.native.load_loop import loop
from tir_mlir.llm.native.native_model import NativeModel
from tir_mlir.llm.native.parts import Parts
from tir_mlir.llm.sampling import Sampling
from tir_mlir.runtime.aligned_arrays import empty

Stop = int | Sequence[int] | Set[int] | None
"""The tokens that end a sequence."""


class LanguageModel:
    """A language model: `model.generate(tokens, 64)`. Made by `load`.

    parts: the compiled programs, and the weights of each layer. A call has caches of its own, so that several threads
    may call it.
    """

    def __init__(self, parts: Parts):
        self.parts, self.limits = parts, parts.limits
        self._described: NativeModel | None = None

    def generate(
        self, tokens: Sequence[int], count: int, sampling: Sampling | None = None, stop: Stop = None
    ) -> list[int]:
        """The next `count` tokens after a prompt; fewer if `stop` comes, a token or one of several, which is the last
        one then. sampling: default the token with the highest score. Raises ArgumentError for tokens beyond the
        vocabulary, an empty prompt, and one that leaves no room for `count` more."""
        return self.generate_batch([tokens], count, sampling, stop)[0]

    def generate_batch(
        self, prompts: Sequence[Sequence[int]], count: int, sampling: Sampling | None = None, stop: Stop = None
    ) -> list[list[int]]:
        """The same for several prompts at a time, of any lengths; at most as many as `load(..., batch=...)` says. Each
        step reads the weights once for all. Raises ArgumentError."""
        given, stops = self._check_prompts(prompts, count), self._stops(stop)
        found: list[list[int]] = [[] for _ in given]
        for drawn in self._tokens(given, count, sampling or Sampling()):
            for sequence, token in zip(found, drawn, strict=False):
                if not sequence or sequence[-1] not in stops:
                    sequence.append(token)
            if all(sequence[-1] in stops for sequence in found):
                break
        return found

    def stream(self, tokens: Sequence[int], count: int, sampling: Sampling | None = None) -> Iterator[int]:
        """The tokens of `generate`, one by one as they are found."""
        drawn = self._tokens(self._check_prompts([tokens], count), count, sampling or Sampling())
        return (each[0] for each in drawn)

    def logits(self, tokens: Sequence[int]) -> np.ndarray:
        """The scores of all tokens after a prompt, float32 [vocabulary]."""
        run = _GenerationRun(self, self._check_prompts([tokens], 0))
        scores = loop().scores(run.state)
        return np.ctypeslib.as_array(scores, (self.limits.tokens,)).copy()

    def export(self, folder: str | Path, name: str | None = None) -> list[Path]:
        """Write the model to a folder as files that need no Python; `name`: in C, default the folder's name.

        NAME (a program: token ids in, ids out), NAME.so and libNAME.a, NAME.h, NAME.c (the loop and the loader),
        NAME.safetensors (the rounded weights and the rows of tokens, mapped into memory), NAME_kernels.h. Returns the
        paths. Raises BuildError for a name that is none in C, MissingTool without a C compiler.
        """
        from tir_mlir.llm.native.export import export_language_model

        return export_language_model(self.parts, folder, name)

    def _tokens(self, given: list[list[int]], count: int, how: Sampling) -> Iterator[list[int]]:
        if not count:
            return
        run, native = _GenerationRun(self, given), how.native
        ids = (ctypes.c_int64 * self.limits.batch)()
        for number in range(count):
            loop().next(run.state, ctypes.addressof(native), number, ids)
            yield ids[: len(given)]

    def _check_prompts(self, prompts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
        limits = self.limits
        if not 0 < len(prompts) <= limits.batch:
            raise ArgumentError(
                f"{len(prompts)} prompts for a model of {limits.batch} at a time; fix: load(..., batch={len(prompts)})"
            )
        return [self._checked_prompt(tokens, count) for tokens in prompts]

    def _stops(self, stop: Stop) -> frozenset[int]:
        """The tokens that end a sequence. Raises ArgumentError."""
        given = () if stop is None else stop if isinstance(stop, (Sequence, Set)) else (stop,)
        for token in given:
            if (
                isinstance(token, bool)
                or not isinstance(token, (int, np.integer))
                or not 0 <= token < self.limits.tokens
            ):
                most = self.limits.tokens - 1
                raise ArgumentError(
                    f"stop={short_repr(stop)}; fix: a token, or several, of the vocabulary, 0 to {most}"
                )
        return frozenset(int(token) for token in given)

    def _checked_prompt(self, tokens: Sequence[int], count: int) -> list[int]:
        given, limits = [int(token) for token in tokens], self.limits
        wrong = next((token for token in given if not 0 <= token < limits.tokens), None)
        if wrong is not None:
            raise ArgumentError(f"token {wrong} is beyond the vocabulary, 0 to {limits.tokens - 1}")
        if not given or count < 0:
            raise ArgumentError(
                f"tokens={short_repr(tokens)}, count={count}; fix: a token and more, a count of 0 or more"
            )
        if limits.model is not None and len(given) + count > limits.model:
            raise ArgumentError(
                f"a prompt of {len(given)} tokens and {count} more are more than the {limits.model} positions of the "
                "model; fix: a shorter prompt"
            )
        if len(given) + count > limits.context:
            raise ArgumentError(
                f"a prompt of {len(given)} tokens and {count} more do not fit in the cache of {limits.context}; fix: "
                "load(..., context=...)"
            )
        return given

    @property
    def native_model(self) -> NativeModel:
        """The model as the loop takes it."""
        if self._described is None:
            self._described = NativeModel(self.parts)
        return self._described


class _GenerationRun:
    """One run: memory for the caches, after the prompts. state: its address."""

    def __init__(self, model: LanguageModel, prompts: list[list[int]]):
        self._model = model.native_model
        self._memory = empty(loop().bytes(self._model.address), "uint8")
        self.state = loop().start(self._model.address, self._memory.ctypes.data)
        for number, tokens in enumerate(prompts):
            size = model.limits.chunk  # between chunks Ctrl-C is seen
            for start in range(0, len(tokens), size):
                part = tokens[start : start + size]
                loop().prompt(self.state, number, (ctypes.c_int64 * len(part))(*part), len(part), len(tokens))
