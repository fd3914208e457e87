"""Products of shape variables as sizes of their own: `m * n` is an affine symbol.

%mn = arith.muli %m, %n : index {tir.name = "m * n"}        at the top of the function
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import attrs, signs
from tir_mlir.dialect.ir.touched import touch_size
from tir_mlir.dialect.ir.views import func_of, is_size, owner_op, symbols_by_name

SIGN = " * "


def is_product(value: ir.Value) -> bool:
    """Whether a shape variable is a product of others."""
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.name == "arith.muli" and is_size(owner.operation)


def is_factor(value: ir.Value) -> bool:
    """Whether a value is a shape variable, which is >= 0; a stride is none."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return owner.owner.operation.name == "func.func" and isinstance(value.type, ir.IndexType)
    return is_size(owner.operation)


def factor_names(name: str) -> list[str]:
    """`"m * n"` -> `["m", "n"]`; the name of any other size by itself."""
    return name.split(SIGN)


def value_of(name: str, known: Mapping[str, int]) -> int | None:
    """The value of a size, given those of the shape variables; None if one is unknown."""
    result = 1
    for factor in factor_names(name):
        if factor not in known:
            return None
        result *= known[factor]
    return result


def product(values: Sequence[ir.Value]) -> ir.Value:
    """The product of shape variables, created at the top of their function unless it is there."""
    func = func_of(owner_op(values[0]))
    known = symbols_by_name(func.op)
    names = {value: name for name, value in known.items()}
    order = {name: place for place, name in enumerate(known)}
    factors = sorted((f for v in values for f in factor_names(names[v])), key=order.__getitem__)
    name = SIGN.join(factors)
    if name in known:
        return known[name]
    operands = [known[f] for f in factors]
    with _after(func.body, operands), ir.Location.unknown():
        result = operands[0]
        for operand in operands[1:]:
            result = arith.muli(result, operand)
    result.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
    touch_size(name)
    if any(map(signs.is_wide, operands)):
        result.owner.attributes[attrs.DTYPE] = ir.StringAttr.get(signs.WIDE)
    return result


def _after(body: ir.Block, values: Sequence[ir.Value]) -> ir.InsertionPoint:
    """The insertion point in a function's body after the last op that defines one of some values."""
    owners = {v.owner.operation for v in values if not isinstance(v.owner, ir.Block)}
    if not owners:
        return ir.InsertionPoint.at_block_begin(body)
    operations = [op.operation for op in body.operations]
    return ir.InsertionPoint.after(max(owners, key=operations.index))
