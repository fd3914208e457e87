"""The nest of a kernel after `tir-lower-gpu-axes`: block axes, thread axes, and the work of one thread."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, Loop, walk
from tir_mlir.dialect.ir.op_views import AllocOp, isa
from tir_mlir.passes.lower.gpu.thread_tags import is_axis, is_block_kind, is_shared, kernel_nests
from tir_mlir.passes.lower.registry import location_text

THREAD, BLOCK, DEVICE = "thread", "block", "device"


@dataclass(frozen=True)
class KernelNest:
    """A perfect nest of axes: loops of kind `blockIdx.*`, then loops of kind `threadIdx.*`, then the work."""

    blocks: tuple[Loop, ...]
    threads: tuple[Loop, ...]

    @property
    def axes(self) -> tuple[Loop, ...]:
        return (*self.blocks, *self.threads)

    @property
    def root(self) -> ir.Operation:
        """The innermost axis: its body is what one thread does."""
        return self.axes[-1].op


def perfect_nests(func: Func) -> list[KernelNest]:
    """The kernels of a function, in order. Errors: LoweringError for axes that are not one perfect nest."""
    nests = []
    for op in kernel_nests(func):
        axes = [Loop(o) for o in walk.ops(op) if is_axis(o)]
        chain = _perfect(op)
        if len(chain) != len(axes):
            raise LoweringError(
                f"{location_text(axes[-1].op)}: loop {axes[-1].name} ({axes[-1].kind}) is not part of the perfect nest"
                " of the kernel's axes; fix: run tir-lower-gpu-axes before"
            )
        blocks = tuple(lp for lp in chain if is_block_kind(lp.kind))
        nests.append(KernelNest(blocks, tuple(chain[len(blocks) :])))
    return nests


def _perfect(op: ir.Operation) -> list[Loop]:
    """The axes from an op inwards, each directly in the one before; allocations do not count."""
    chain: list[Loop] = []
    while is_axis(op):
        chain.append(Loop(op))
        body = [o for o in Loop(op).body_ops() if not isa(o, AllocOp)]
        if len(body) != 1:
            break
        op = body[0]
    return chain


def owner_of(buffer: Buffer) -> str:
    """Who has a copy of a buffer: each thread, each block, or the device."""
    if is_shared(buffer):
        return BLOCK
    return DEVICE if buffer.scope == "global" else THREAD
