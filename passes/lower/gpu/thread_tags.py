"""The kinds of loops that a GPU runs at once, and the scopes of its memory."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Func, Loop, is_loop, parents, walk

BLOCKS = ("blockIdx.z", "blockIdx.y", "blockIdx.x")
THREADS = ("threadIdx.z", "threadIdx.y", "threadIdx.x")
AXES = BLOCKS + THREADS
"""The axes of a kernel, outer to inner. Consecutive threads of a warp differ in the last one."""


def is_axis(op: ir.Operation) -> bool:
    """Whether an op is a loop over blocks or threads, each of which runs one iteration. Not one that carries a value:
    to that each thread contributes, and all get it, see `tir-lower-gpu-shuffles`."""
    return is_loop(op) and Loop(op).kind in AXES and not len(op.results)


def is_thread_axis(op: ir.Operation) -> bool:
    return is_axis(op) and Loop(op).kind in THREADS


def is_vthread(op: ir.Operation) -> bool:
    """Whether an op is a loop over virtual threads, which each thread runs itself."""
    return is_loop(op) and Loop(op).kind.startswith("vthread")


def is_shared(buffer: Buffer) -> bool:
    """Whether a block of threads has one copy of a buffer."""
    return buffer.scope in ("shared", "shared.dyn")


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
