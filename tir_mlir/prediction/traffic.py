"""The bytes that a scheduled program moves between the levels of the caches.

A loop nest reuses in a cache what an iteration of a loop touches, if that fits: then each line that the loop touches
comes once from the level behind; else each iteration brings its own. What a loop or an iteration of it touches are the
boxes of its accesses, by interval arithmetic (`covering_extents`); an access without one touches its whole buffer.
Buffers are as small as lowering makes them (`tir-lower-compact`); those in other scopes than "global" are registers.
A program whose arrays all fit is taken to find them there, as after a call before.

Of several threads, that with most iterations counts for what a core has to itself, and the cores of a last cache
together for what comes from behind it. A loop nest without a parallel loop runs in one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.dialect.analysis.access_boxes import covering_extents
from tir_mlir.dialect.analysis.accesses import Access, accesses
from tir_mlir.dialect.ir import Buffer, Loop, clone_module, dtypes, enter_context, funcs, is_loop, ops
from tir_mlir.passes.lower.pipeline import MODULE_PASSES
from tir_mlir.passes.lower.to_llvm import run_named
from tir_mlir.prediction.cores import Core
from tir_mlir.prediction.thread_shares import share_of_a_thread
from tir_mlir.target import Target

LINE = 64
"""Bytes of a line of a cache."""
_ASSUMED = 64
"""Iterations of a loop with a symbolic extent, and elements of a symbolic dimension."""


@dataclass(frozen=True)
class MemoryTraffic:
    """`bytes` come from the memory `level` ("L2", "L3", "DRAM") in a call, in `cycles`, as the core before it does not
    keep them. Those from L2 and L3 are of one thread, those from DRAM of all."""

    level: str
    bytes: float
    cycles: float


def count_traffic(program: ir.Module, cpu: Target, core: Core, threads: int = 1) -> list[MemoryTraffic]:
    """The traffic of all functions of a scheduled program, by the memory that it comes from."""
    program = _with_final_buffers(program)
    share, caches = share_of_a_thread(program, threads), core.caches(threads)
    of_a_cache = share_of_a_thread(program, caches)
    far = _Nests(core.last_cache(cpu), core.written_to_memory(threads))
    with enter_context():
        return [
            _traffic("L2", share, _Nests(cpu.l1, core.written), core.l2, core.l2),
            _traffic("L3", share, _Nests(cpu.l2, core.written), core.l3, core.l3_each(threads)),
            _traffic("DRAM", of_a_cache, far, core.dram, core.dram_rate(threads), caches),
        ]


def _with_final_buffers(program: ir.Module) -> ir.Module:
    """The program without blocks, its buffers of the size that they have in code."""
    with enter_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a build, which the user makes or has made
        found = clone_module(program)
        run_named(found, MODULE_PASSES[: MODULE_PASSES.index("tir-lower-compact") + 1], {})
        return found


def _traffic(
    level: str, program: ir.Module, nests: _Nests, alone: float, shared: float, times: int = 1
) -> MemoryTraffic:
    """nests: what the cache before the memory misses. alone, shared: the rates of one thread, and where threads share
    the work. times: how often the work of threads is done in caches of the size."""
    missed = [nests.missed_by_function(func.op) for func in funcs(program)]
    serial, parallel = (sum(sums) for sums in zip((0.0, 0.0), *missed, strict=True))
    return MemoryTraffic(level, serial + times * parallel, serial / alone + times * parallel / shared)


class _Nests:
    """The misses of loop nests in a cache of a size."""

    def __init__(self, size: int, written: int):
        """written: how often a line that is written counts for what moves."""
        self._size, self._written = size, written

    def missed_by_function(self, func: ir.Operation) -> tuple[float, float]:
        """Bytes that its nests without and with a parallel loop bring."""
        missed = [0.0, 0.0]
        if self._line_bytes(func, func, (), 1) > self._size:
            for nest in _children(func):
                is_shared = any(is_loop(op) and Loop(op).kind == "parallel" for op in ops(nest))
                missed[is_shared] += self._miss_bytes(nest)
        return missed[False], missed[True]

    def _miss_bytes(self, op: ir.Operation) -> float:
        """Bytes that an op brings from behind the cache each time that it runs."""
        loop = Loop(op)
        if any(self._line_bytes(op, op, free, 1) <= self._size for free in ((), (loop.var,))):
            return self._line_bytes(op, op, (loop.var,), self._written)
        below = list(_children(op))
        each = sum(map(self._miss_bytes, below)) if below else self._line_bytes(op, op, (), self._written)
        return (loop.const_extent or _ASSUMED) * each

    def _line_bytes(self, op: ir.Operation, top: ir.Operation, free: Sequence[ir.Value], written: int) -> float:
        """Bytes of the lines that a run of an op touches; of a loop without `free`, an iteration. written: how often
        those count that it writes: once for the room that they take."""
        groups: dict[ir.Value, list[Access]] = {}
        for access in accesses(op):
            groups.setdefault(access.buffer, []).append(access)
        return sum(
            _bytes_of(group, top, free, written) for buffer, group in groups.items() if Buffer(buffer).scope == "global"
        )


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    """The outermost loops in an op."""
    for region in op.regions:
        for body in region.blocks:
            for inner in body.operations:
                child = inner.operation
                if is_loop(child):
                    yield child
                elif child.regions:
                    yield from _children(child)


def _bytes_of(group: Sequence[Access], top: ir.Operation, free: Sequence[ir.Value], written: int) -> float:
    buffer = Buffer(group[0].buffer)
    type_ = ir.MemRefType(buffer.value.type)
    size = max(dtypes.bits(dtypes.to_name(type_.element_type)), 8) / 8
    shape = [_ASSUMED if ir.ShapedType.is_dynamic_size(n) else n for n in type_.shape]
    boxes = covering_extents(group, top, free) or [tuple(shape)]
    lines = min(sum(_lines(box, shape, size) for box in boxes), _lines(shape, shape, size))
    is_written = any(access.is_write for access in group)
    return LINE * lines * (written if is_written else 1)


def _lines(box: Sequence[int], shape: Sequence[int], size: float) -> float:
    """The lines of a box of a buffer: those of each run of elements that are one after another in memory."""
    run, rows = size, [min(extent, n) for extent, n in zip(box, shape, strict=True)]
    while rows:
        extent = rows.pop()
        run *= extent
        if extent != shape[len(rows)]:
            break
    return prod(rows) * max(1.0, run / LINE)
