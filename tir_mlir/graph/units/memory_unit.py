"""What the plan of memory has to know of one function: its own buffers, and inputs that results may overwrite."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.ir import clone_module, entered, walk
from tir_mlir.graph.memory.calls_in_place import Pair, is_safe
from tir_mlir.graph.units.asking import Goal, Question, answered, ask, asked
from tir_mlir.graph.units.canonical import parsed
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.memory.allocs import scratch_bytes
from tir_mlir.passes.lower.registry import LOWERINGS, programs, text_of
from tir_mlir.script.module import PrimFunc

_BEFORE = pipeline.MODULE_PASSES[: pipeline.MODULE_PASSES.index("tir-lower-allocs")]


def scratch_of_each(functions: Sequence[PrimFunc], goal: Goal) -> list[int]:
    """Of each function, the bytes of buffers that lowering would put on the heap in each call."""
    return ask(f"{__name__}:scratch", [Question(function) for function in functions], goal)


def scratch(payload: bytes) -> bytes:
    """The answer to one question of `scratch_of_each`."""
    function = parsed(asked(payload)[0])
    return answered(scratch_of(function.module.mlir).get(function.name, 0))


def scratch_of(module: ir.Module) -> dict[str, int]:
    """By function, the bytes of buffers that lowering would put on the heap in each call.

    Lowers a copy of the module up to where buffers are placed. Errors: those of the lowering.
    """
    with entered(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are told when the module is built
        if not allocates(module.operation):
            return {}
        copy, text = clone_module(module), text_of(module)
        for name in _BEFORE:
            LOWERINGS[name].run_if_needed(copy, text)
        return {func.name: scratch_bytes(func) for func in programs(copy)}


def allocates(op: ir.Operation) -> bool:
    """Whether there are buffers in an op."""
    return any(inner.name == "memref.alloc" for inner in walk.ops(op))


def safe_pairs(pairs: Mapping[PrimFunc, list[Pair]], goal: Goal) -> list[list[Pair]]:
    """Of each function, those pairs of parameters, an input and a result, that may be one buffer: proved."""
    questions = [Question(function, wanted) for function, wanted in pairs.items()]
    return [[(source, result) for source, result in safe] for safe in ask(f"{__name__}:safe", questions, goal)]


def safe(payload: bytes) -> bytes:
    """The answer to one question of `safe_pairs`."""
    text, pairs, *_ = asked(payload)
    function = parsed(text)
    with entered():
        func = function.func
        return answered([[source, result] for source, result in pairs if is_safe(func, source, result)])
