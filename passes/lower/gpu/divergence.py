"""Control that differs between the threads of a block: no barrier may be under it."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import accesses_of_op
from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.ir import Loop, is_loop, walk
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import IfOp, LoadOp, LoopLikeOp, isa
from tir_mlir.passes.lower.gpu.nests import KernelNest


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
