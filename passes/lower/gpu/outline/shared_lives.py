"""Shared buffers of a kernel that are never needed at the same time: their places in memory may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Loop, attrs, is_loop, only_reads, walk
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp
from tir_mlir.dialect.ir.op_views import AllocLikeOp, LoopLikeOp, YieldOp, isa
from tir_mlir.passes.lower.gpu.axes import FRESH
from tir_mlir.passes.lower.gpu.barriers import BARRIER
from tir_mlir.passes.lower.gpu.nests import Divergence, KernelNest, perfect_nests
from tir_mlir.passes.lower.gpu.outline.kernel_memory import (
    APART,
    COPIED_AHEAD,
    PLANES,
    KernelLimits,
    bytes_of,
    place_shared,
)
from tir_mlir.passes.lower.gpu.thread_tags import is_shared, is_tma_tile
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-shared-lives", "Note which shared buffers may use the same memory one after the other")
def run(module: ir.Module, shared: int | str = KernelLimits.shared) -> None:
    """Note on each shared buffer the names of those whose lives are apart from its own.

        %a = memref.alloc "shared"                       %a = memref.alloc {tir.apart = ["b"]} "shared"
        %b = memref.alloc "shared"                       %b = memref.alloc {tir.apart = ["a"]} "shared"
        for %k {fill and read %a; gpu.barrier}    -->    for %k {fill and read %a; gpu.barrier}
        fill and read %b                                 fill and read %b

    All accesses to one are before those to the other in the body that has both, and a barrier is between, which all
    threads pass after the last of the first and before the first of the second. In a loop a barrier is also between
    those of the second and the first of the next iteration, and each iteration writes both before it reads them. Where
    the buffers of a block would not fit in `shared` bytes, barriers are inserted to that end.
    `tir-lower-gpu-kernels` places them. No buffers are apart in a kernel that uses the TMA. shared: 0 if memory
    is not used again at all. Requires barriers, and waits for copies, to be placed.
    """
    for func in programs(module) if int(shared) else ():
        for nest in perfect_nests(func):
            _note_pairs(nest, int(shared))


def _note_pairs(nest: KernelNest, shared: int) -> None:
    """Note the pairs that barriers separate; insert more of these while the buffers do not fit."""
    while True:
        allocs, pairs = _find_pairs(nest)
        for op in [op for op in allocs if COPIED_AHEAD in op.attributes]:
            attrs.put(op, PLANES, Buffer(op.results[0]).shape[0])
        apart: dict[ir.Operation, list[str]] = {}
        for pair in pairs:
            if not pair.missing:
                for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
                    apart.setdefault(one.alloc, []).append(other.name)
        for alloc, names in apart.items():
            attrs.put(alloc, APART, names)
        others = [pair for pair in pairs if pair.missing]
        if not others or place_shared(allocs)[1] <= shared:
            return
        for op in max(others, key=lambda pair: pair.saved_bytes).missing:
            with ir.InsertionPoint(op), op.location:
                ir.Operation.create(BARRIER)


@dataclass(frozen=True, eq=False)
class _Life:
    """A shared buffer, and the ops that may access it, by itself or by way of a view."""

    alloc: ir.Operation
    users: tuple[ir.Operation, ...]

    @cached_property
    def name(self) -> str:
        return Buffer(self.alloc.results[0]).name

    @property
    def fresh(self) -> int:
        """In the iterations of how many outer serial loops it is written before it is read."""
        return attrs.get(self.alloc, FRESH, 0)

    @property
    def is_late(self) -> bool:
        """Whether copies to it may land after the instruction that starts them."""
        return COPIED_AHEAD in self.alloc.attributes


@dataclass(frozen=True)
class _Pair:
    """Two buffers of which the first is no longer needed when the second is. missing: where barriers would have to be,
    before ops."""

    first: _Life
    second: _Life
    missing: tuple[ir.Operation, ...]

    @property
    def saved_bytes(self) -> int:
        """Bytes."""
        return min(bytes_of(Buffer(life.alloc.results[0])) for life in (self.first, self.second))


@only_reads
def _find_pairs(nest: KernelNest) -> tuple[list[ir.Operation], list[_Pair]]:
    """The shared buffers of a kernel, and pairs of them."""
    allocs = [op for op in walk.ops(nest.axes[0].op) if isa(op, AllocLikeOp) and is_shared(Buffer(op.results[0]))]
    lives = [life for op in allocs if (life := _life(op)) is not None]
    names = [life.name for life in lives]
    if any(is_tma_tile(op.results[0]) for op in allocs) or len(set(names)) < len(allocs):
        return allocs, []
    divergence = Divergence(nest)
    pairs = [_pair(nest, divergence, *both) for both in combinations(lives, 2)]
    return allocs, [pair for pair in pairs if pair is not None]


def _life(alloc: ir.Operation) -> _Life | None:
    """None if what is made of the buffer leaves an op with a body."""
    users: dict[ir.Operation, None] = {}
    pending = [alloc.results[0]]
    while pending:
        for use in pending.pop().uses:
            op = use.owner.operation
            if isa(op, YieldOp) or len(op.regions):
                return None
            users[op] = None
            pending += op.results
    return _Life(alloc, tuple(users)) if users else None


def _pair(nest: KernelNest, divergence: Divergence, a: _Life, b: _Life) -> _Pair | None:
    """Two buffers, if one is used before the other in the body that has both, in each iteration of loops around."""
    common = walk.common_parent([*a.users, *b.users])
    tops = {life: [walk.child_towards(common, op) for op in life.users] for life in (a, b)}
    (body, *others) = {op.block for ops in tops.values() for op in ops}
    if others:
        return None
    spans = {life: sorted({walk.position(op) for op in ops}) for life, ops in tops.items()}
    first, second = sorted((a, b), key=lambda life: spans[life][0])
    around = [common, *walk.parents(common)]
    loops = [p for p in around[: around.index(nest.root)] if isa(p, LoopLikeOp)]
    if spans[first][-1] >= spans[second][0] or min(first.fresh, second.fresh) < len(loops):
        return None
    count, missing = len(body.operations), list[ir.Operation]()
    if not _is_separated(body, range(spans[first][-1] + 1, spans[second][0]), first, second, spans):
        missing.append(body.operations[spans[second][0]].operation)
    rest = [*range(spans[first][0]), *range(spans[second][-1] + 1, count)]
    if loops and not _is_separated(body, rest, second, first, spans):
        missing.append(body.operations[count - 1].operation)
    if missing and divergence.outermost_divergent_op(common) is not None:
        return None
    return _Pair(first, second, tuple(missing))


def _is_separated(
    body: ir.Block, between: Sequence[int], first: _Life, second: _Life, spans: dict[_Life, list[int]]
) -> bool:
    """Whether all threads meet at a barrier after the last access to one buffer and before the next one to another:
    `between` these ops of a body, or at the end of the op with the one, or at the start of the op with the other."""
    ops = body.operations
    if any(isa(ops[n], BarrierOp) for n in between):
        return True
    if first.is_late or second.is_late:
        return False
    last, start = ops[spans[first][-1]].operation, ops[spans[second][0]].operation
    return (_meets(last, first, at_end=True) and (len(spans[first]) == 1 or _surely_runs(last))) or (
        _meets(start, second, at_end=False) and (len(spans[second]) == 1 or _surely_runs(start))
    )


def _meets(op: ir.Operation, life: _Life, at_end: bool) -> bool:
    """Whether threads meet at a barrier inside of an op, if it runs, after all accesses to a buffer in it, or before
    them."""
    if len(op.regions) != 1 and not (len(op.regions) == 2 and not len(op.regions[1].blocks)):
        return False
    body = op.regions[0].blocks[0]
    inside = sorted({walk.position(walk.child_towards(op, user)) for user in life.users if walk.is_inside(user, op)})
    edge = inside[-1] if at_end else inside[0]
    outside = range(edge + 1, len(body.operations)) if at_end else range(edge)
    if any(isa(body.operations[n], BarrierOp) for n in outside):
        return True
    child = body.operations[edge].operation
    return bool(len(child.regions)) and _meets(child, life, at_end) and (len(inside) == 1 or _surely_runs(child))


def _surely_runs(op: ir.Operation) -> bool:
    return is_loop(op) and (Loop(op).const_extent or 0) > 0
