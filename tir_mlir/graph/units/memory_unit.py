"""What the plan of memory has to know of one function: its own buffers, and inputs that results may overwrite."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Loop, clone_module, enter_context, walk
from tir_mlir.dialect.ir.op_views import AllocOp, isa
from tir_mlir.graph.memory.calls_in_place import Pair, is_safe
from tir_mlir.graph.units.unit_queries import UnitQuery, decode_query, encode_result, parse_canonical, run_unit
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.memory.allocs import STACK_BUFFER, STACK_TOTAL, bytes_of, is_plain, scratch_bytes
from tir_mlir.passes.lower.memory.strides import DIM_ALIGN
from tir_mlir.passes.lower.registry import LOWERINGS, Content, content_of, programs
from tir_mlir.script.module import PrimFunc
from tir_mlir.targets.stages import BuildOptions

_BEFORE = pipeline.MODULE_PASSES[: pipeline.MODULE_PASSES.index("tir-lower-allocs")]
_SIZES = _BEFORE[: _BEFORE.index("tir-lower-compact") + 1]
_STORAGE_PASSES = (
    "tir-lower-hoist-guards",
    "tir-lower-join-unrolled",
    "tir-lower-peel-tails",  # copies buffers, and makes loops of one iteration their body
    "tir-lower-parallel-races",
    "tir-lower-parallel",
)
"""What decides after that in which loop, and how often, a buffer is; the others make and remove small ones only."""


def scratch_of_each(functions: Sequence[PrimFunc], options: BuildOptions) -> list[int]:
    """Of each function, the bytes of buffers that lowering would put on the heap in each call."""
    return run_unit(f"{__name__}:scratch", [UnitQuery(function) for function in functions], options)


def scratch(payload: bytes) -> bytes:
    """The answer to one question of `scratch_of_each`."""
    function = parse_canonical(decode_query(payload)[0])
    return encode_result(scratch_of(function.module.mlir).get(function.name, 0))


def scratch_of(module: ir.Module) -> dict[str, int]:
    """By function, the bytes of buffers that lowering would put on the heap in each call.

    Lowers a copy of the module as far as the positions and sizes of buffers are known; what a parameter of these bytes
    has no room for goes to the heap. Errors: those of the lowering.
    """
    with enter_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are reported when the module is built
        if not allocates(module.operation):
            return {}
        copy, content = clone_module(module), content_of(module)
        _run(_SIZES, copy, content)
        buffers = _allocs(copy.operation)
        if any(map(_size_changes, buffers)) or 4 * sum(map(_small, buffers)) > STACK_TOTAL:
            _run(_BEFORE[len(_SIZES) :], copy, content)
        else:
            if any(_is_large(op) and walk.loops_above(op) for op in buffers):
                _run(_STORAGE_PASSES, copy, content)
            _run(("tir-lower-strides",), copy, content)
        return {func.name: scratch_bytes(func) for func in programs(copy)}


def lowered_scratch_of(module: ir.Module) -> dict[str, int]:
    """The same, by all passes before the one that assigns buffers."""
    with enter_context():
        copy = clone_module(module)
        _run(_BEFORE, copy, content_of(module))
        return {func.name: scratch_bytes(func) for func in programs(copy)}


def _run(passes: Sequence[str], module: ir.Module, content: Content) -> None:
    for name in passes:
        LOWERINGS[name].run_if_needed(module, content)


def _allocs(op: ir.Operation) -> list[ir.Operation]:
    return [inner for inner in walk.ops(op) if isa(inner, AllocOp)]


def _size_changes(op: ir.Operation) -> bool:
    """Whether a later pass may make a buffer too large for the stack, or copies a large one with the body of an
    unrolled loop."""
    return bool(_unrolled_loops(op)) if _is_large(op) else DIM_ALIGN in op.attributes


def _is_large(op: ir.Operation) -> bool:
    """Whether a buffer is of constant size, and too large for the stack."""
    return (bytes_of(op) or 0) > STACK_BUFFER


def _small(op: ir.Operation) -> int:
    """The bytes of a buffer on the stack, and of its copies in unrolled loops. Those in the tails of loops have room,
    too, if the buffers of all take a quarter of the stack only."""
    return (
        0
        if _is_large(op)
        else (bytes_of(op) or 0) * prod(loop.const_extent or STACK_TOTAL for loop in _unrolled_loops(op))
    )


def _unrolled_loops(op: ir.Operation) -> list[Loop]:
    return [loop for loop in walk.loops_above(op) if loop.kind == "unrolled"]


def allocates(op: ir.Operation) -> bool:
    """Whether there are buffers in an op that may be on the heap, and in a parameter instead: of plain memory."""
    return any(map(is_plain, _allocs(op)))


def safe_pairs(pairs: Mapping[PrimFunc, list[Pair]], options: BuildOptions) -> list[list[Pair]]:
    """Of each function, those pairs of parameters, an input and a result, that may be one buffer: proved."""
    questions = [UnitQuery(function, asked_pairs) for function, asked_pairs in pairs.items()]
    return [[(source, result) for source, result in safe] for safe in run_unit(f"{__name__}:safe", questions, options)]


def safe(payload: bytes) -> bytes:
    """The answer to one question of `safe_pairs`."""
    text, pairs, *_ = decode_query(payload)
    function = parse_canonical(text)
    with enter_context():
        func = function.func
        return encode_result([[source, result] for source, result in pairs if is_safe(func, source, result)])
