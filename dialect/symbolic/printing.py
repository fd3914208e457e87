"""Integer expressions as source text of C and JavaScript."""

from __future__ import annotations

from tir_mlir.dialect.symbolic.expression import DIVISIONS, Constant, IntExpr, Operation
from tir_mlir.dialect.symbolic.polynomial import is_nonnegative


def c_code(expr: IntExpr) -> str:
    """A C expression of int64_t variables with the names of the symbols; divisors are positive.

    C rounds quotients to zero: a dividend that may be negative is corrected.
    """
    if not isinstance(expr, Operation):
        return str(expr)
    left, right = c_code(expr.left), c_code(expr.right)
    if expr.symbol not in DIVISIONS or is_nonnegative(expr.left):
        return f"({left} {'/' if expr.symbol == '//' else expr.symbol} {right})"
    if expr.symbol == "%":
        return f"(({left} % {right} + {right}) % {right})"
    return f"({left} / {right} - ({left} % {right} < 0))"


def js_code(expr: IntExpr) -> str:
    """An expression of JavaScript: numbers of an object `n` with the names of the symbols; divisors are positive."""
    if not isinstance(expr, Operation):
        return str(expr) if isinstance(expr, Constant) else f'n["{expr}"]'
    left, right = js_code(expr.left), js_code(expr.right)
    if expr.symbol == "//":
        return f"Math.floor({left} / {right})"
    if expr.symbol == "%" and not is_nonnegative(expr.left):
        return f"(({left} % {right} + {right}) % {right})"
    return f"({left} {expr.symbol} {right})"
