"""How threads share a scheduled program: the iterations of each parallel loop, and how often threads are started."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, clone_module, enter_context, is_loop, loops_above, ops
from tir_mlir.dialect.ir.edit import set_bounds
from tir_mlir.prediction.executions import ASSUMED_TRIPS
from tir_mlir.target.work_cost import balance


@dataclass(frozen=True)
class ParallelRegion:
    """A parallel loop. name: of its variable. iterations: 0 of a symbolic extent. entries: how often threads start for
    it in a call."""

    name: str
    iterations: int
    entries: int

    def balance(self, threads: int) -> float:
        """The part of the threads' time that equal iterations fill."""
        return balance(self.iterations, threads) if self.iterations else 1.0


def parallel_regions(program: ir.Module) -> list[ParallelRegion]:
    """The parallel loops that are not inside of others: those run in one thread."""
    with enter_context():
        return [_region(loop) for loop in _outermost(program)]


def share_of_a_thread(program: ir.Module, threads: int) -> ir.Module:
    """A program as the thread with most iterations runs it; with one thread, the program itself.

        for i in T.parallel(100): ...   ->   16 threads: for i in T.parallel(7): ...

    What is in no parallel loop runs in one thread, and remains as it is.
    """
    if threads < 2:
        return program
    with enter_context():
        share = clone_module(program)
        for loop in _outermost(share):
            if len(loop.lowers) == 1:
                set_bounds(loop.op, loop.lowers, [_share(loop, end, threads) for end in loop.uppers])
        return share


def _share(loop: Loop, end: Index, threads: int) -> Index:
    extent = end - loop.lower
    return (loop.lower + (extent + (threads - 1)) // threads).simplify()


def _outermost(program: ir.Module) -> list[Loop]:
    loops = [Loop(op) for op in ops(program.operation) if is_loop(op) and Loop(op).kind == "parallel"]
    return [loop for loop in loops if all(around.kind != "parallel" for around in loops_above(loop.op))]


def _region(loop: Loop) -> ParallelRegion:
    entries = 1
    for around in loops_above(loop.op):
        entries *= around.const_extent or ASSUMED_TRIPS
    return ParallelRegion(loop.name, loop.const_extent or 0, entries)
