"""Where the lanes of a warp wait for each other: around accesses of a matrix that they access otherwise, too."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mlir import ir

from tir_mlir.dialect.analysis import has_distinct_buffers
from tir_mlir.dialect.analysis.pointers import pointee
from tir_mlir.dialect.ir import Buffer, Func, matrix_function, matrix_pointer, owner_op, walk
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AccessOp, WriteOp, isa
from tir_mlir.passes.lower.gpu.thread_tags import is_shared

_STORE = "tvm_store_matrix_sync"


def sync_warp() -> None:
    """Order an access of a warp with those of its first lane alone, for which barriers are proved."""
    i32 = ir.IntegerType.get_signless(32)
    all_lanes = ir.Operation.create("arith.constant", [i32], [], {"value": ir.IntegerAttr.get(i32, -1)})
    ir.Operation.create("nvvm.bar.warp.sync", [], all_lanes.results)


def needed_syncs(func: Func, calls: Sequence[ir.Operation]) -> list[tuple[bool, bool]]:
    """For each call, whether the warp has to be in step before it, and after it.

    Barriers are proved for accesses of different threads, and a call counts as an access of the first lane. What is
    open is an access of this lane alone to what the others access in the call. There is none to memory that only
    matrix functions load, and none between a call and a barrier beside it.
    """
    distinct = has_distinct_buffers(func.op)
    ordered = _OrderedCalls(func, distinct)
    blocks = dict.fromkeys(call.block for call in calls)
    before: set[int] = set()
    after: set[int] = set()
    numbers = {call: n for n, call in enumerate(calls)}
    for block in blocks:
        ops = [op.operation for op in block.operations]
        before |= {numbers[op] for op in ordered.calls_out_of_step(ops)}
        after |= {numbers[op] for op in ordered.calls_out_of_step(ops[::-1])}
    return [(n in before, n in after) for n in range(len(calls))]


class _OrderedCalls:
    """The accesses to memory that matrix functions access, too."""

    def __init__(self, func: Func, distinct: bool):
        self.distinct = distinct
        self.written: set[Hashable] = set()
        self.accessed: set[Hashable] = set()
        for op in walk.ops(func.op):
            for key in self.keys(op):
                if matrix_function(op) != _STORE:
                    self.accessed.add(key)
                if isa(op, WriteOp) or matrix_function(op) == _STORE:
                    self.written.add(key)

    def keys(self, op: ir.Operation) -> list[Hashable]:
        """The memory that an op accesses, if lanes share it."""
        if (pointer := matrix_pointer(op)) is not None:
            value = pointee(owner_op(pointer))
        else:
            value = accessed_memref(op) if isa(op, AccessOp) else None
        if value is None:
            return []
        root = Buffer(value).root
        if root.scope != "global" and not is_shared(root):
            return []
        return [root.value if is_shared(root) or self.distinct else "global"]

    def _matters(self, op: ir.Operation) -> bool:
        """Whether the accesses of a matrix function have to be ordered with others."""
        name = matrix_function(op)
        return any(key in (self.accessed if name == _STORE else self.written) for key in self.keys(op))

    def calls_out_of_step(self, ops: Sequence[ir.Operation]) -> list[ir.Operation]:
        """The matrix functions, of ops in the order that they are passed, in front of which the warp is not in step."""
        everything = {key for op in ops for inner in walk.ops(op) for key in self.keys(inner)}
        open_, found = set(everything), []
        for op in ops:
            name, keys = matrix_function(op), set(self.keys(op))
            if isa(op, BarrierOp):
                open_.clear()
            elif matrix_pointer(op) is not None and self._matters(op):
                if open_ & keys:
                    found.append(op)
                    open_.clear()
                open_ |= keys if name == _STORE else set()
            elif name is None:
                inner_ops = list(walk.ops(op))
                open_ |= {key for inner in inner_ops for key in self.keys(inner)}
        return found


class OrderedMemory:
    """The memory of a function of which one part uses what another one writes."""

    def __init__(self, func: Func):
        self._ordered, self._func = _OrderedCalls(func, has_distinct_buffers(func.op)), func

    def matters(self, root: ir.Operation) -> bool:
        """Whether what an op accesses has to be ordered with what the rest of the function accesses."""
        ops = set(walk.ops(root))
        inside = {key for op in ops for key in self._ordered.keys(op)}
        outside = {key for op in walk.ops(self._func.op) if op not in ops for key in self._ordered.keys(op)}
        return bool(inside & outside & self._ordered.written)
