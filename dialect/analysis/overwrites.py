"""Whether a result of a function may take the memory of an input: each position is written after it was last read."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.access_relations import AccessRelation, relations_of, same_element
from tir_mlir.dialect.analysis.certainty import not_affine
from tir_mlir.dialect.analysis.dependences import witness
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Loop,
    child_towards,
    common_parent,
    is_block,
    is_data_loop,
    is_loop,
    only_reads,
    ops,
    parents,
    same_indices,
)
from tir_mlir.dialect.ir.op_views import FuncOp, IfOp, IntToPtrOp, ModuleOp, PointerOp, isa
from tir_mlir.dialect.presburger import dim_type, question

_IN_ORDER = ("serial", "unrolled")
"""Kinds of loops whose iterations run one after the other."""
_BY_POINTER = "{} is accessed by a pointer"


@only_reads
def read_after_write(func: Func, source: ir.Value, result: ir.Value) -> Counterexample | None:
    """An iteration that reads an element of the parameter `source` with one that may write its position in the
    parameter `result` earlier, or at the same time; None: the function computes the same if both are one buffer.

        for i: C[i] = A[i] + 1              None
        for i: C[i] = A[i + 1]              None
        parallel i: C[i] = A[i + 1]         i = 1 may write C[1] before i = 0 reads A[1]
        for i in range(10): C[i] = A[9 - i] i = 9 reads A[0] after i = 0 has written C[0]

    Requires that the function overwrites all of `result` before it reads it. Raises NotProvable where it is undecided:
    for buffers of different types, accesses by pointers, loops whose bounds are data, and if `source` is written.
    """
    _require_alike(Buffer(source), Buffer(result))
    reads, writes = relations_of(func.op, source), [t for t in relations_of(func.op, result) if t.access.is_write]
    if any(t.access.is_write for t in reads):
        raise NotProvable(f"{Buffer(source).name} is written itself")
    for touch in (*reads, *writes):
        _require_plain(touch)
    for op in ops(func.op):
        if isa(op, PointerOp) and (root := Buffer(PointerOp(op).source).root).value in (source, result):
            raise NotProvable(_BY_POINTER.format(root.name))
    for read in reads:
        for write in writes:
            with question(f"whether {Buffer(source).name} is read before {Buffer(result).name} is written"):
                late = next((bad for bad in _late(read, write) if not bad.is_empty()), None)
            if late is not None:
                return witness(read, write, late)
    return None


def _require_alike(source: Buffer, result: Buffer) -> None:
    alike = source.value.type == result.value.type and source.dtype == result.dtype
    if not alike or not same_indices(source.dims, result.dims):
        raise NotProvable(f"{source.name} and {result.name} differ in shape or type")


def _require_plain(touch: AccessRelation) -> None:
    """Raise NotProvable for an access whose iterations, or whose order, are not those of the loops around it."""
    access, name = touch.access, Buffer(touch.access.buffer).name
    if isa(access.op, IntToPtrOp):  # the access happens where the pointer is used
        raise NotProvable(_BY_POINTER.format(name))
    if access.parts:
        raise NotProvable(not_affine(Buffer(access.buffer)))
    enclosing = parents(access.op)
    for parent in enclosing:
        plain = is_loop(parent) or is_block(parent) or isa(parent, IfOp, FuncOp)
        if is_data_loop(parent) or not (plain or isa(parent, ModuleOp)):
            raise NotProvable(f"{name} is accessed in a loop whose order is not known")
    if touch.dom.dims != [Loop(p).var for p in enclosing[::-1] if is_loop(p)]:
        raise NotProvable(f"{name} is accessed at an index that is not affine")


def _late(read: AccessRelation, write: AccessRelation) -> Iterator[isl.Map]:
    """{ iteration that reads -> iteration that writes the same position, not after it }, in parts."""
    clash = same_element(read, write)
    common = common_parent([read.access.op, write.access.op])
    loops = [Loop(p) for p in [common, *parents(common)][::-1] if is_loop(p)]
    for level, loop in enumerate(loops):
        yield clash.order_gt(dim_type.in_, level, dim_type.out, level)
        if loop.kind not in _IN_ORDER:
            yield clash.order_lt(dim_type.in_, level, dim_type.out, level)
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    if not _is_ahead(read.access.op, write.access.op, common):
        yield clash


def _is_ahead(first: ir.Operation, second: ir.Operation, common: ir.Operation) -> bool:
    """Whether an op is before another in each iteration of the loops around both."""
    if first == second:
        return False
    first_child, second_child = child_towards(common, first), child_towards(common, second)
    return (
        first_child.block == second_child.block
        and first_child != second_child
        and first_child.is_before_in_block(second_child)
    )
