"""A model as loop.c takes it: structures of words, in memory of this process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError, GraphError
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.lower_main import ARENA_BYTES, ARENA_NAME, WEIGHTS_NAME
from tir_mlir.llm.native.parts import KINDS, CompiledLayer, CompiledProgram, Parts
from tir_mlir.runtime.call.fast_entry import python_function
from tir_mlir.runtime.call.function import CompiledFunction
from tir_mlir.runtime.call.signature import BufferParam, CallSignature

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
            compiled = python_function(function)
            run = compiled.entries.words if isinstance(compiled, CompiledFunction) else 0
            if not run:
                raise BuildError(f"{function.signature.name}: code by LLVM's tools has no entry for language models")
            signature = function.signature
            known = self._words(words(signature, program.plan, caches))
            self._kernels[key] = self._words([run, len(signature.params), known])
        return self._kernels[key]

    def _words(self, values: list[int]) -> int:
        return self._array(np.array(values, np.int64))

    def _array(self, array: np.ndarray) -> int:
        self._kept.append(array)
        return array.ctypes.data


# How the loop calls a compiled function: of each parameter the position of its array, and its extents.


X, COS, SIN, POSITIONS, OUT, WEIGHTS, ARENA, CACHE = range(8)
"""Positions of arrays, as in loop.c."""
_NAMED = {"x": X, "cos": COS, "sin": SIN, "positions": POSITIONS, WEIGHTS_NAME: WEIGHTS, ARENA_NAME: ARENA}
CAPACITY = "capacity"
_EXTENTS = {CAPACITY: -1, ARENA_BYTES: -2}


def array_slots(signature: CallSignature, plan: ExecutionPlan, caches: Sequence[str]) -> list[int]:
    """The position of each parameter's array. caches: the names of the inputs that are a layer's cache, in order."""
    named = _NAMED | {name: CACHE + number for number, name in enumerate(caches)}
    known = {name for name, _ in plan.inputs} | {WEIGHTS_NAME, ARENA_NAME}
    found = [named[p.name] if p.name in known else OUT for p in signature.params]
    if found.count(OUT) != 1:
        raise GraphError(f"{signature.name} has {found.count(OUT)} results, and a part of a language model has one")
    return found


def words(signature: CallSignature, plan: ExecutionPlan, caches: Sequence[str]) -> list[int]:
    """What tir_kernel of loop.c has of the parameters."""
    found = []
    for position, param in zip(array_slots(signature, plan, caches), signature.params, strict=True):
        assert isinstance(param, BufferParam)
        extents = [_EXTENTS[dim.text] if dim.text in _EXTENTS else dim.value({}) for dim in param.dims]
        found += [position, len(extents), *extents]
    return found
