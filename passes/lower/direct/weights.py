"""Which parameters a product or a convolution reads along the last axis of its result, and the change to panels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Func, edit, emit_map, walk
from tir_mlir.dialect.ir.op_views import AffineLoadOp, LoadOp, isa
from tir_mlir.passes.lower.direct.program import (
    BranchExpr,
    Expression,
    LoadExpr,
    OperationExpr,
    ProgramBuffer,
    read_program,
)
from tir_mlir.passes.lower.direct.text import Affine


def dimensions_along(func: Func, numbers: Iterable[int]) -> dict[int, int]:
    """Of those of these parameters that one reduction reads, at one position, the dimension whose index is the last
    axis of its result. Errors: NotDirect."""
    program, dimensions = read_program(func), {}
    for number in numbers:
        memory = program.params[number]
        readers = [(nest, load) for nest in program.nests for load in _loads(nest.value, memory)]
        if len(readers) == 1 and (outer := readers[0][0].outer) and readers[0][0].sums:
            lane = Affine(0, ((outer[-1], 1),))
            along = [n for n, index in enumerate(readers[0][1].indices) if index.uses(outer[-1])]
            if len(along) == 1 and readers[0][1].indices[along[0]] == lane:
                dimensions[number] = along[0]
    return dimensions


def _loads(value: Expression, memory: ProgramBuffer) -> list[LoadExpr]:
    if isinstance(value, LoadExpr):
        return [value] if value.memory is memory else []
    parts = value.operands if isinstance(value, OperationExpr) else ()
    if isinstance(value, BranchExpr):
        parts = (value.then, value.otherwise)
    return [load for part in parts for load in _loads(part, memory)]


def read_in_panels(func: Func, number: int, along: int, inner: Sequence[int], shape: Sequence[int]) -> None:
    """Change a parameter to panels of this shape, whose last size is their width.

    W[j, k]   ->   W[j // 32, k, j % 32]        along = 0, inner = (1,)
    """
    argument, width = func.args[number], shape[-1]
    edit.retype(argument, ir.MemRefType.get(shape, ir.MemRefType(argument.type).element_type))
    types = ir.FunctionType(ir.TypeAttr(func.op.attributes["function_type"]).value)
    inputs = [value.type for value in func.args]
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, types.results))
    for op in walk.ops(func.op):
        if isa(op, AffineLoadOp) and LoadOp(op).memref == argument:
            indices = walk.access_indices(op)
            new = [indices[along] // width, *(indices[n] for n in inner), indices[along] % width]
            map_, operands = emit_map(new)
            edit.rebuild(op, [argument, *operands], {"map": ir.AffineMapAttr.get(map_)})
