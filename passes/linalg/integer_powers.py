"""`math.fpowi` with a known exponent as products."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import walk

MOST = 64
"""The largest exponent that becomes products."""


def expand_integer_powers(module: ir.Module) -> None:
    """Replace each power of a float by a known integer, in place: by squares, and products of them.

        math.fpowi %x, 3   -->   %x2 = %x * %x; %x2 * %x
        math.fpowi %x, -2  -->   1 / (%x * %x)

    Errors: LinalgError for an exponent that is no constant, or beyond 64.
    """
    for op in [o for o in walk.ops(module.operation) if o.name == "math.fpowi"]:
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(_power(op.operands[0], _exponent(op)))
        op.erase()


def _exponent(op: ir.Operation) -> int:
    owner = op.operands[1].owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        raise LinalgError("the exponent of math.fpowi is no constant; fix: math.powf, with it as a float", op.location)
    number = ir.IntegerAttr(owner.attributes["value"]).value
    if abs(number) > MOST:
        raise LinalgError(f"math.fpowi with the exponent {number}; fix: math.powf, with it as a float", op.location)
    return number


def _power(base: ir.Value, exponent: int) -> ir.Value:
    found, square, rest = None, base, abs(exponent)
    while rest:
        if rest & 1:
            found = square if found is None else arith.mulf(found, square)
        rest >>= 1
        square = arith.mulf(square, square) if rest else square
    if found is not None and exponent > 0:
        return found
    one = arith.constant(base.type, ir.FloatAttr.get(base.type, 1.0))
    return one if found is None else arith.divf(one, found)
