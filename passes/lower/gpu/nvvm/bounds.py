"""Conditions of kernels as comparisons of two sums, each without negative terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import constant_integer, defining_op, walk
from tir_mlir.dialect.ir.lowering_op_views import GPUModuleOp
from tir_mlir.dialect.ir.op_views import AddIOp, CompareIntegersOp, MulIOp, isa
from tir_mlir.passes.lower.registry import lowering
from tir_mlir.passes.lower.to_llvm import run_upstream

_PROGRAM_ATTR = "tir.of_program"
_AT_LEAST, _AT_MOST = arith.CmpIPredicate.sge, arith.CmpIPredicate.sle


@lowering("tir-lower-gpu-bounds", "Lower affine ops of kernels; their conditions compare sums without negative terms")
def run(module: ir.Module) -> None:
    """Lower affine ops of `gpu.module`s, as upstream's `lower-affine` does, but for what conditions compare.

        affine.if (d0, d1) : (999 - 8 * d0 - d1 >= 0) (%b, %t)   -->   %m = arith.muli %b, 8
                                                                       %s = arith.addi %m, %t
                                                                       %c = arith.cmpi sle, %s, 999
                                                                       scf.if %c

    Of `999 - %t >= 0`, a sum that may wrap, Intel's compiler of OpenCL 2026.2 makes a wrong bound of the threads: most
    do nothing. The parts of an affine expression fit an index (see `index_width`), so that both forms say the same.
    Comparisons of the program are left as they are.
    """
    for test in _comparisons(module):
        test.op.attributes[_PROGRAM_ATTR] = ir.UnitAttr.get()
    run_upstream(module, ("gpu.module(lower-affine)",))
    for test in _comparisons(module):
        if _PROGRAM_ATTR in test.op.attributes:
            del test.op.attributes[_PROGRAM_ATTR]
        elif test.predicate == _AT_LEAST and constant_integer(test.rhs) == 0:
            _replace(test)


def _comparisons(module: ir.Module) -> list[CompareIntegersOp]:
    holders = [op.operation for op in module.body.operations if isa(op, GPUModuleOp)]
    tests = [test for holder in holders for test in walk.views_in(holder, CompareIntegersOp)]
    return [test for test in tests if isinstance(test.lhs.type, ir.IndexType)]


def _replace(test: CompareIntegersOp) -> None:
    """Replace `sum >= 0`."""
    op = test.op
    terms = list(_terms(test.lhs, 1))
    if all(factor > 0 for factor, _ in terms):
        return
    with ir.InsertionPoint(op), op.location:
        below = _sum([(-factor, value) for factor, value in terms if factor < 0])
        above = _sum([(factor, value) for factor, value in terms if factor > 0])
        op.results[0].replace_all_uses_with(arith.cmpi(_AT_MOST, below, above))
    op.erase()


def _terms(value: ir.Value, factor: int) -> Iterator[tuple[int, ir.Value | None]]:
    """The terms of a sum, each with its factor; None for 1."""
    number, op = constant_integer(value), defining_op(value)
    if number is not None:
        if number:
            yield number * factor, None
    elif op is not None and isa(op, AddIOp):
        for part in op.operands:
            yield from _terms(part, factor)
    elif op is not None and isa(op, MulIOp) and (by := constant_integer(MulIOp(op).rhs)) is not None:
        yield from _terms(MulIOp(op).lhs, factor * by)
    else:
        yield factor, value


def _sum(terms: Sequence[tuple[int, ir.Value | None]]) -> ir.Value:
    index = ir.IndexType.get()
    constant = sum(factor for factor, value in terms if value is None)
    parts = [
        value if factor == 1 else arith.muli(value, arith.constant(index, factor))
        for factor, value in terms
        if value is not None
    ]
    if constant or not parts:
        parts.append(arith.constant(index, constant))
    total = parts[0]
    for part in parts[1:]:
        total = arith.addi(total, part)
    return total
