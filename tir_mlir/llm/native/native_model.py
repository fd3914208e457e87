"""A model as loop.c takes it: structures of words, in memory of this process."""

from __future__ import annotations

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.llm.native.parameters import CAPACITY, words
from tir_mlir.llm.native.parts import KINDS, CompiledLayer, CompiledProgram, Parts

STEP = 128
"""The positions by which caches grow, as in loop.c."""


def arena_bytes(parts: Parts) -> int:
    """The bytes that every program of a model can work in, at any capacity."""
    limits = parts.limits
    most = -(-(limits.context + limits.chunk) // STEP) * STEP
    plans = [p.plan for layer in (*parts.layers, *parts.scores) for p in (layer.one, layer.chunk)]
    return max(plan.arena.layout({CAPACITY: most})[1] for plan in plans)


class NativeModel:
    """`address`: of a tir_llm."""

    def __init__(self, parts: Parts):
        self._kept: list[object] = [parts]
        self._kernels: dict[tuple[int, tuple[str, ...]], int] = {}
        limits, rows, rotary = parts.limits, parts.rows, parts.rotary
        numbers = [limits.tokens, limits.context, limits.chunk, limits.batch, rows.width, rotary.columns]
        numbers += [len(parts.layers), len(parts.scores), parts.scored, arena_bytes(parts)]
        numbers += [KINDS.index(rows.kind), rows.data.strides[0], -1 if rotary.until is None else rotary.until]
        layers, scores = (self._words([w for each in list_ for w in self._layer(each)])
                          for list_ in (parts.layers, parts.scores))  # fmt: skip
        pointers = [self._array(rows.data)]
        pointers += [0 if each is None else self._array(np.ascontiguousarray(each)) for each in rotary.arrays.values()]
        self.address = self._words([*numbers, layers, scores, *pointers])

    def _layer(self, layer: CompiledLayer) -> list[int]:
        names = tuple(cache.name for cache in layer.caches)
        kernels = [self._kernel(program, names) for program in (layer.one, layer.chunk)]
        weights = [self._array(array) for array in layer.weights]
        facts = [n for cache in layer.caches for n in (cache.heads, cache.bytes)]
        return [*kernels, *weights, len(layer.caches), self._words(facts)]

    def _kernel(self, program: CompiledProgram, caches: tuple[str, ...]) -> int:
        key = id(program), caches
        if key not in self._kernels:
            (function,) = program.library.values()
            run = function.entries.words
            if not run:
                raise BuildError(f"{function.name}: code by LLVM's tools has no entry for language models")
            signature = function.signature
            known = self._words(words(signature, program.plan, caches))
            self._kernels[key] = self._words([run, len(signature.params), known])
        return self._kernels[key]

    def _words(self, values: list[int]) -> int:
        return self._array(np.array(values, np.int64))

    def _array(self, array: np.ndarray) -> int:
        self._kept.append(array)
        return array.ctypes.data
