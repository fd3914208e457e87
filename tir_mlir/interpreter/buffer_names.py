"""Root buffers of values, with unique names; the loops that need race detection."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import pointee
from tir_mlir.dialect.ir import Buffer, Func, Loop, is_block, is_loop, walk
from tir_mlir.dialect.ir.lowering_op_views import OMPWsloopOp
from tir_mlir.dialect.ir.op_views import (
    AffineParallelOp,
    AllocLikeOp,
    GetGlobalOp,
    IntToPtrOp,
    NeutralOp,
    ReadOp,
    ScfParallelOp,
    StridedMetadataOp,
    ViewLikeOp,
    defining_op,
    isa,
)

_VIEWS = (ViewLikeOp, StridedMetadataOp)


def root(value: ir.Value) -> ir.Value:
    """The parameter or allocation at the root of a chain of views."""
    while not isinstance(value.owner, ir.Block) and isa(value.owner, *_VIEWS):
        value = ViewLikeOp(value.owner.operation).source
    return value


class Roots:
    """The root buffers of a function, by name. `given`: those of the parameters, if known from the caller."""

    def __init__(self, func: Func, everything: Sequence[ir.Operation], passed: Sequence[str | None] = ()):
        self._names: dict[ir.Value, str] = {}
        for number, value in enumerate(func.args):
            if isinstance(value.type, ir.MemRefType):
                passed_name = passed[number] if number < len(passed) else None
                self._add(value, passed_name or func.arg_name(number), bool(passed_name))
        for op in everything:
            if isa(op, AllocLikeOp, GetGlobalOp):
                name = Buffer(op.results[0]).name
                self._add(op.results[0], "tmp" if name == "buf" and "tir.name" not in op.attributes else name)

    def _add(self, value: ir.Value, base: str, shared: bool = False) -> None:
        name, number = base, 0
        while name in self._names.values() and not shared:
            number += 1
            name = f"{base}_{number}"
        self._names[value] = name

    def name(self, value: ir.Value) -> str:
        """The name of the root buffer of a value."""
        base = root(value)
        return self._names.get(base) or Buffer(base).name

    def argument_root(self, value: ir.Value) -> str | None:
        """The root buffer of an argument: a memref, or a pointer into one."""
        if isinstance(value.type, ir.MemRefType):
            return self.name(value)
        if defining_op(value, IntToPtrOp) is None:
            return None
        memref = pointee(value.owner.operation)
        return None if memref is None else self.name(memref)


def is_concurrent(op: ir.Operation, has_blocks: bool) -> bool:
    """Whether the iterations of a loop run concurrently. Vectorized and thread-bound loops count only while there are
    blocks: without them, reductions across their iterations can no longer be recognized."""
    if isa(op, ScfParallelOp, OMPWsloopOp):
        return True
    if isa(op, AffineParallelOp):
        return not is_block(op)
    if not is_loop(op):
        return False
    kind = Loop(op).kind
    return kind not in ("serial", "unrolled") if has_blocks else kind == "parallel"


def read_only_buffers(func: Func, concurrent: Sequence[ir.Operation]) -> set[ir.Value]:
    """Parameters that no concurrent loop of a function writes directly."""
    written: set[ir.Value] = set()
    for loop in concurrent:
        for op in walk.ops(loop):
            if not isa(op, ReadOp):
                written |= _accessed_buffers(op)
    return set(func.args) - written


def private_buffers(func: Func, loop: ir.Operation) -> list[ir.Value]:
    """Allocations outside a loop that are used only in it."""
    inner, outer = set().union(*[_accessed_buffers(op) for op in walk.ops(loop)]), set()
    for op in walk.ops(func.op, skip=lambda o: o == loop):
        if op != loop:
            outer |= _accessed_buffers(op)
    allocations = []
    for value in inner - outer:
        owner = value.owner
        if not isinstance(owner, ir.Block) and isa(owner, AllocLikeOp) and not walk.is_inside(owner.operation, loop):
            allocations.append(value)
    return allocations


def _accessed_buffers(op: ir.Operation) -> set[ir.Value]:
    """The buffers that an op accesses."""
    if isa(op, *_VIEWS, NeutralOp):
        return set()
    return {root(v) for v in op.operands if isinstance(v.type, ir.MemRefType)}
