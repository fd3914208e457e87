"""The nest of a kernel after `tir-lower-gpu-axes`: block axes, thread axes, and where control differs in threads."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import accesses_of_op
from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, Loop, is_loop, walk
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import AllocOp, IfOp, LoadOp, LoopLikeOp, ReinterpretCastOp, isa
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
    """The axes from an op inwards, each directly in the one before; allocations and their strides do not count."""
    chain: list[Loop] = []
    while is_axis(op):
        chain.append(Loop(op))
        body = [o for o in Loop(op).body_ops() if not isa(o, AllocOp, ReinterpretCastOp)]
        if len(body) != 1:
            break
        op = body[0]
    return chain


def owner_of(buffer: Buffer) -> str:
    """Who has a copy of a buffer: each thread, each block, or the device."""
    if is_shared(buffer):
        return BLOCK
    return DEVICE if buffer.scope == "global" else THREAD


class Divergence:
    """Which control ops of a kernel run alike in all threads of a block."""

    def __init__(self, nest: KernelNest) -> None:
        self._threads = {axis.var for axis in nest.threads}
        self._uniform = {axis.var for axis in nest.blocks}
        self._root = nest.root
        self._written = {t.buffer for t in touches(nest.root) if t.is_write}
        self._ops: dict[ir.Operation, bool] = {}

    def differs(self, op: ir.Operation) -> bool:
        """Whether the threads of a block may take different ways at this op: enter it or not, or iterate differently.
        A vectorized loop counts, as its iterations become one."""
        if op == self._root:
            return False
        if op not in self._ops:
            lanes = is_loop(op) and Loop(op).kind == "vectorized"
            is_control = isa(op, LoopLikeOp, IfOp)
            self._ops[op] = lanes or not is_control or any(self._varies(v) for v in op.operands)
        return self._ops[op]

    def outermost_divergent_op(self, op: ir.Operation) -> ir.Operation | None:
        """The outermost op from the kernel's body down to `op` itself at which threads differ; None if there is
        none."""
        chain = [op, *walk.parents(op)]
        if self._root not in chain:
            return None
        chain = chain[: chain.index(self._root)]
        return next((p for p in chain[::-1] if self.differs(p)), None)

    def _varies(self, value: ir.Value) -> bool:
        """Whether a value may differ between the threads of a block."""
        if value in self._threads:
            return True
        if value in self._uniform:
            return False
        owner = value.owner
        if isinstance(owner, ir.Block):
            op = owner.owner.operation
            if not walk.is_inside(op, self._root):
                return False  # a parameter
            return not is_loop(op) or value != Loop(op).var or self.differs(op)
        op = owner.operation
        if not walk.is_inside(op, self._root):
            return False
        if isa(op, LoadOp) and any(a.buffer in self._written for a in accesses_of_op(op)):
            return True
        return not is_pure(op) or bool(len(op.regions)) or any(self._varies(v) for v in op.operands)
