"""The kinds of loops that a GPU runs at once, and the scopes of its memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Func, Loop, is_loop, owner_op, parents, walk
from tir_mlir.dialect.ir.op_views import AffineIfOp, isa

BLOCKS = ("blockIdx.z", "blockIdx.y", "blockIdx.x")
THREADS = ("threadIdx.z", "threadIdx.y", "threadIdx.x")
AXES = BLOCKS + THREADS
"""The axes of a kernel, outer to inner. Consecutive threads of a warp differ in the last one."""


def axis_of(kind: str) -> str:
    """The axis of a kind of loop: `blockIdx.x` of `blockIdx.x/4`, the digit of it with the weight 4."""
    return kind.partition("/")[0]


def digit_weight(kind: str) -> int | None:
    """The weight of a digit of an axis; None if the kind is a whole axis."""
    digits = kind.partition("/")[2]
    return int(digits) if digits else None


def digit_kind(axis: str, weight: int) -> str:
    """The kind of a loop over the digit of an axis with a weight."""
    return f"{axis}/{weight}"


def is_axis_kind(kind: str) -> bool:
    """Whether loops of a kind are over blocks or threads, or over a digit of the blocks."""
    return axis_of(kind) in AXES


def is_block_kind(kind: str) -> bool:
    """Whether loops of a kind are over blocks."""
    return axis_of(kind) in BLOCKS


def in_order(kinds: Iterable[str]) -> list[str]:
    """Kinds of axes, outer to inner."""
    return sorted(set(kinds), key=lambda kind: (AXES.index(axis_of(kind)), -(digit_weight(kind) or 0)))


def axis_values(kinds: Sequence[str], values: Sequence[int]) -> dict[str, int]:
    """The numbers of a block or thread by axis, of values by kind: digits are summed."""
    result: dict[str, int] = {}
    for kind, value in zip(kinds, values, strict=True):
        result[axis_of(kind)] = result.get(axis_of(kind), 0) + value * (digit_weight(kind) or 1)
    return result


def is_axis(op: ir.Operation) -> bool:
    """Whether an op is a loop over blocks or threads, each of which runs one iteration. Not one that carries a value:
    to that each thread contributes, and all get it, see `tir-lower-gpu-shuffles`."""
    return is_loop(op) and is_axis_kind(Loop(op).kind) and not len(op.results)


def is_thread_axis(op: ir.Operation) -> bool:
    return is_axis(op) and Loop(op).kind in THREADS


def first_lane(op: ir.Operation) -> Loop | None:
    """The loop over `threadIdx.x` whose first index alone passes a condition; None for other ops."""
    for c in walk.constraints(op) if isa(op, AffineIfOp) else ():
        value = c.index.simplify().is_value()
        if c.is_eq and value is not None and is_loop(owner_op(value)) and Loop(owner_op(value)).kind == "threadIdx.x":
            return Loop(owner_op(value))
    return None


def is_shared_by_lanes(op: ir.Operation) -> bool:
    """Whether an op is in a nest that the first lane runs for its warp, of which each lane gets a part."""
    return any(first_lane(parent) is not None for parent in parents(op))


def is_vthread(op: ir.Operation) -> bool:
    """Whether an op is a loop over virtual threads, which each thread runs itself."""
    return is_loop(op) and Loop(op).kind.startswith("vthread")


def is_shared(buffer: Buffer) -> bool:
    """Whether a block of threads has one copy of a buffer."""
    return buffer.scope in ("shared", "shared.dyn")


TILE = "tir.tma_tile"
"""On a shared buffer that the TMA fills, once in each iteration of the loop around. Exists only during lowering."""


def is_tma_tile(buffer: ir.Value) -> bool:
    """Whether the TMA fills a buffer."""
    alloc = Buffer(buffer).op
    return alloc is not None and TILE in alloc.attributes


def is_local(buffer: Buffer) -> bool:
    """Whether each thread has a copy of a buffer."""
    return buffer.scope == "local"


def kernel_nests(func: Func) -> list[ir.Operation]:
    """The ops in the body of a function that contain loops over blocks or threads: each becomes a kernel."""
    return [op for op in func.body_ops() if any(is_axis(inner) for inner in walk.ops(op))]


def nest_of(op: ir.Operation) -> ir.Operation:
    """The op in the body of the function that contains an op."""
    above = [op, *parents(op)]
    return above[-2]
