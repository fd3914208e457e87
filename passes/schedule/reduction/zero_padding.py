"""Check that zero padding of the inputs does not change a computation: sums stay the same, and nothing traps."""

from __future__ import annotations

from collections.abc import Set

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import Block, Buffer, Iter, access_indices, defining_op, dtypes
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, IFS, OF_ZEROS, PRODUCTS, accessed
from tir_mlir.passes.schedule.legality import trapping_op
from tir_mlir.passes.schedule.reduction.reduction_form import updates_of
from tir_mlir.passes.schedule.registry import check, leave_unpadded, refuse


def zero_of(buffer: Buffer) -> ir.Value:
    """Emit the zero of a buffer's element type."""
    type_ = buffer.type.element_type
    is_float = dtypes.is_float(buffer.dtype)
    return arith.constant(type_, ir.FloatAttr.get(type_, 0.0) if is_float else ir.IntegerAttr.get(type_, 0))


def check_no_traps(block: Block) -> None:
    """Refuse a computation that may trap on zeros."""
    op = trapping_op(block)
    if op is not None:
        refuse(
            op,
            f'block "{block.name}" computes {op.name}, which may trap on the zeros of the padding',
            fix="split by a factor that does not divide adds a guard instead of zeros",
        )


def check_zeros_neutral(block: Block, it: Iter, padded: Set[ir.Value]) -> None:
    """Refuse unless the values combined beyond the old end of a reduce iter have no effect."""
    for name, value in updates_of(block).terms:
        check(
            name == "sum",
            block,
            f'iter {it.name} of block "{block.name}" is padded, but the 0 that is combined there '
            f"changes a {name} (for {_example(name)}); only a sum can be padded with zeros",
            fix=leave_unpadded(it.name),
        )
        terms = _Zeros(it, padded)
        if not terms.is_zero(value):
            refuse(
                block,
                f'beyond the old end of iter {it.name} of block "{block.name}", the added terms are not '
                f"known to be 0{terms.reason}; only products and sums of padded inputs are",
                fix=leave_unpadded(it.name),
            )


def _example(name: str) -> str:
    return {"product": "2 and 3: 6 would become 0", "max": "-1: it would become 0", "min": "1: it would become 0"}.get(
        name, "values on the other side of 0"
    )


class _Zeros:
    """Which values are 0 beyond the old end of an iter."""

    def __init__(self, it: Iter, padded: Set[ir.Value]):
        self.it, self.padded, self.reason = it, padded, ""

    def is_zero(self, value: ir.Value) -> bool:
        op = defining_op(value)
        if op is None:
            return False
        if op.name == "arith.constant":
            attribute = op.attributes["value"]
            return isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr, ir.BoolAttr)) and attribute.value == 0
        if op.name == AFFINE_LOAD:
            is_iter_index = self.it.var in [i.is_value() for i in access_indices(op) if i.values]
            return is_iter_index and accessed(op) in self.padded
        if op.name in IFS and len(op.results) == 1:
            return all(self.is_zero(list(r.blocks[0].operations)[-1].operands[0]) for r in op.regions)
        if op.name == "arith.select":
            return all(self.is_zero(v) for v in list(op.operands)[1:])
        if op.name in PRODUCTS:
            return self._is_zero_product(op)
        return op.name in OF_ZEROS and all(self.is_zero(v) for v in op.operands)

    def _is_zero_product(self, op: ir.Operation) -> bool:
        zeros = [self.is_zero(v) for v in op.operands]
        if all(zeros) or not any(zeros):
            return all(zeros)
        factor = op.operands[zeros.index(False)]
        if op.name == "arith.muli" or _is_finite(factor):
            return True
        self.reason = " (a product with 0 is not 0 if the other factor is infinite: it is NaN)"
        return False


def _is_finite(value: ir.Value) -> bool:
    op = defining_op(value)
    if op is not None and op.name == "arith.sitofp":
        return dtypes.to_name(value.type) != "float16"
    if op is None or op.name != "arith.constant":
        return False
    number = ir.FloatAttr(op.attributes["value"]).value
    return abs(number) != float("inf") and number == number
