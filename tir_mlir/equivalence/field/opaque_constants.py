"""Hide float constants from MLIR's folding, whose results (`exp(0.5)`) are no exact arithmetic of the field."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk

_CAST = "builtin.unrealized_conversion_cast"
_NUMBER = "tir.number"


def hide(root: ir.Operation) -> None:
    """Replace float constants by values that no fold knows."""
    for op in walk.ops(root):
        if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.FloatAttr):
            with ir.InsertionPoint(op), op.location:
                bits = ir.Operation.create("arith.constant", [_word()], [], {"value": ir.IntegerAttr.get(_word(), 0)})
                hidden = ir.Operation.create(_CAST, [op.results[0].type], [bits.results[0]])
            hidden.attributes[_NUMBER] = op.attributes["value"]
            op.results[0].replace_all_uses_with(hidden.results[0])
            op.erase()


def show(root: ir.Operation) -> None:
    """Make hidden constants constants again."""
    for op in walk.ops(root):
        if op.name == _CAST and _NUMBER in op.attributes:
            with ir.InsertionPoint(op), op.location:
                constant = ir.Operation.create(
                    "arith.constant", [op.results[0].type], [], {"value": op.attributes[_NUMBER]}
                )
            op.results[0].replace_all_uses_with(constant.results[0])
            op.erase()


def _word() -> ir.Type:
    return ir.IntegerType.get_signless(64)
