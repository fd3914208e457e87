"""How the loop calls a compiled function: of each parameter the position of its array, and its extents."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.lower_main import ARENA_BYTES, ARENA_NAME, WEIGHTS_NAME
from tir_mlir.runtime.call.signature import BufferParam, CallSignature

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
