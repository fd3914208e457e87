"""Building blocks of checked code: comparisons, and the record of the first check that fails."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import RECORD
from tir_mlir.dialect.ir import Index, emit_map

SITE = "tir.site"
"""On an access, or on the search for the value of an iter: the block and the buffer or iter; [] if it is proved.
Exists only during lowering."""
ULT, SLE, SLT, EQ = 6, 3, 2, 0
"""Predicates of arith.cmpi."""


def compare(predicate: int, a: ir.Value, b: ir.Value) -> ir.Value:
    """`a predicate b`, for integers."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
    return ir.Operation.create("arith.cmpi", [ir.IntegerType.get_signless(1)], [a, b], {"predicate": number}).results[0]


def logical_and(a: ir.Value, b: ir.Value) -> ir.Value:
    """Whether two conditions hold."""
    return ir.Operation.create("arith.andi", [a.type], [a, b]).results[0]


def constant(type_: ir.Type, value: int) -> ir.Value:
    """An integer."""
    attribute = ir.IntegerAttr.get(type_, value)
    return ir.Operation.create("arith.constant", [type_], [], {"value": attribute}).results[0]


def value_of(index: Index) -> ir.Value:
    """An index expression as a value."""
    map_, operands = emit_map([index])
    attributes = {"map": ir.AffineMapAttr.get(map_)}
    return ir.Operation.create("affine.apply", [ir.IndexType.get()], list(operands), attributes).results[0]


def record(number: int, indices: Sequence[ir.Value], sizes: Sequence[ir.Value]) -> None:
    """Call the recorder for check `number`: an index and an extent per dimension."""
    word = ir.IntegerType.get_signless(64)
    pairs = [v for pair in zip(indices, sizes, strict=True) for v in pair]
    words = [ir.Operation.create("arith.index_cast", [word], [v]).results[0] for v in pairs]
    callee = {"callee": ir.FlatSymbolRefAttr.get(f"{RECORD}_{len(indices)}")}
    ir.Operation.create("func.call", [], [constant(word, number + 1), *words], callee)


def add_record(module: ir.Module, ranks: list[int]) -> None:
    """Define the record, and a function for each rank that writes it unless it is written."""
    length = 1 + 2 * max(ranks)
    text = [f"llvm.mlir.global external @{RECORD}(dense<0> : tensor<{length}xi64>) : !llvm.array<{length} x i64>"]
    text += [_recorder(rank, length) for rank in ranks]
    extra = ir.Module.parse("\n".join(text))
    end = ir.InsertionPoint(module.body)
    for op in extra.body.operations:
        op.operation.clone(ip=end)


def _recorder(rank: int, length: int) -> str:
    values = [f"%v{i}" for i in range(2 * rank)]
    stores = "\n".join(
        f"  %p{i} = llvm.getelementptr %state[0, {i + 1}] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<{length} x i64>\n"
        f"  llvm.store {v}, %p{i} : i64, !llvm.ptr"
        for i, v in enumerate(values)
    )
    return f"""
func.func private @{RECORD}_{rank}({", ".join(f"{v}: i64" for v in ("%site", *values))}) attributes {{no_inline}} {{
  %state = llvm.mlir.addressof @{RECORD} : !llvm.ptr
  %none = llvm.mlir.constant(0 : i64) : i64
  %was = llvm.cmpxchg %state, %none, %site acq_rel monotonic : !llvm.ptr, i64
  %first = llvm.extractvalue %was[1] : !llvm.struct<(i64, i1)>
  cf.cond_br %first, ^first, ^end
^first:
{stores}
  cf.br ^end
^end:
  return
}}"""
