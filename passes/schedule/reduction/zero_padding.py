"""Whether zeros in the inputs of a computation do no harm: they add nothing to a sum, and nothing traps on them."""

from __future__ import annotations

from collections.abc import Set

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import Block, Buffer, Iter, access_indices, accessed, defining_op, dtypes, ops
from tir_mlir.passes.schedule.legality import unpadded
from tir_mlir.passes.schedule.reduction.reduction_form import updates_of
from tir_mlir.passes.schedule.registry import check, refuse

_TRAPS = ("arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi", "func.call", "llvm.intr.assume")
_BOTH = (
    "arith.addf", "arith.addi", "arith.subf", "arith.subi", "arith.maximumf", "arith.minimumf", "arith.maxsi",
    "arith.minsi", "arith.mulf", "arith.muli", "arith.negf", "arith.extf", "arith.truncf", "arith.extsi",
    "arith.trunci", "arith.sitofp", "arith.fptosi",
)  # fmt: skip


def zero(buffer: Buffer) -> ir.Value:
    """The 0 of a buffer's elements."""
    type_ = buffer.type.element_type
    is_float = dtypes.is_float(buffer.dtype)
    return arith.constant(type_, ir.FloatAttr.get(type_, 0.0) if is_float else ir.IntegerAttr.get(type_, 0))


def check_no_traps(block: Block) -> None:
    """Refuse a computation that a 0 could stop."""
    for op in ops(block.op):
        if op.name in _TRAPS:
            refuse(
                op,
                f'block "{block.name}" computes {op.name}, which may not be done with the zeros that are added',
                fix="split by a factor that does not divide puts a guard there, and no zeros",
            )


def check_harmless(block: Block, it: Iter, padded: Set[ir.Value]) -> None:
    """Refuse unless what is combined in, where a reduce iter is beyond its old end, changes nothing."""
    for name, value in updates_of(block).terms:
        check(
            name == "sum",
            block,
            f'iter {it.name} of block "{block.name}" gets longer, but the 0 that is added there changes a {name} (of'
            f" {_example(name)}); only a sum can be padded with zeros",
            fix=unpadded(it.name),
        )
        terms = _Zeros(it, padded)
        if not terms.is_zero(value):
            refuse(
                block,
                f'where iter {it.name} of block "{block.name}" is beyond its old end, what is added is not known to be'
                f" 0{terms.reason}; only products and sums of padded inputs are",
                fix=unpadded(it.name),
            )


def _example(name: str) -> str:
    return {"product": "2 and 3: 6 would become 0", "max": "-1: it would become 0", "min": "1: it would become 0"}.get(
        name, "values on the other side of 0"
    )


class _Zeros:
    """Which values are 0 where an iter is beyond its old end."""

    def __init__(self, it: Iter, padded: Set[ir.Value]):
        self.it, self.padded, self.reason = it, padded, ""

    def is_zero(self, value: ir.Value) -> bool:
        op = defining_op(value)
        if op is None:
            return False
        if op.name == "arith.constant":
            attribute = op.attributes["value"]
            return isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr, ir.BoolAttr)) and attribute.value == 0
        if op.name == "affine.load":
            here = self.it.var in [i.is_value() for i in access_indices(op) if i.values]
            return here and accessed(op) in self.padded
        if op.name in ("affine.if", "scf.if") and len(op.results) == 1:
            return all(self.is_zero(list(r.blocks[0].operations)[-1].operands[0]) for r in op.regions)
        if op.name == "arith.select":
            return all(self.is_zero(v) for v in list(op.operands)[1:])
        if op.name in ("arith.mulf", "arith.muli"):
            return self._is_zero_product(op)
        return op.name in _BOTH and all(self.is_zero(v) for v in op.operands)

    def _is_zero_product(self, op: ir.Operation) -> bool:
        zeros = [self.is_zero(v) for v in op.operands]
        if all(zeros) or not any(zeros):
            return all(zeros)
        other = op.operands[zeros.index(False)]
        if op.name == "arith.muli" or _is_finite(other):
            return True
        self.reason = " (a product with 0 is no 0 where the other factor is infinite: it is NaN)"
        return False


def _is_finite(value: ir.Value) -> bool:
    op = defining_op(value)
    if op is None or op.name not in ("arith.constant", "arith.sitofp"):
        return False
    if op.name == "arith.sitofp":
        return dtypes.to_name(value.type) != "float16"
    number = ir.FloatAttr(op.attributes["value"]).value
    return abs(number) != float("inf") and number == number
