"""Arithmetic, comparisons and choices of sizes that are known as expressions when a model is imported."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tir_mlir.dialect.symbolic import is_nonnegative, linear
from tir_mlir.graph.importers.emitter import size_form
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Element, OnnxEmitter, Result
from tir_mlir.te import Expr
from tir_mlir.topi.sizes import simple

Rule = Callable[..., Element | None]
"""Of elements, sizes or numbers, that of the result; None where it differs from size to size."""


def sizes_result(e: OnnxEmitter, kind: str, operands: Sequence[Result]) -> np.ndarray | None:
    """The result of an operator on arrays with sizes in them, element by element, as an array; None where it is not
    known: where the operator is another one, an operand is computed, or the values of the sizes decide."""
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    if kind not in RULES or len(arrays) < len(operands) or not any(x.dtype == object for x in arrays):
        return None
    if any(x.dtype.kind not in "Oiub" for x in arrays):
        return None
    rows = np.broadcast_arrays(*arrays)
    values = [RULES[kind](e, *map(_plain, row)) for row in zip(*(x.reshape(-1) for x in rows), strict=True)]
    if any(value is None for value in values):
        return None
    result = np.empty(len(values), object)
    result[:] = values
    if all(not isinstance(value, Expr) for value in values):
        result = result.astype(bool if kind in COMPARISONS else "int64")
    return result.reshape(rows[0].shape)


def _plain(value: np.generic | Expr) -> Element:
    return value.item() if isinstance(value, np.generic) else value


def _sign(e: OnnxEmitter, x: Expr | int, y: Expr | int, or_equal: bool = False) -> int | None:
    """The sign of x - y for all sizes; or_equal: 1 also where it is 0 for some. None where sizes decide.

    A sign that is another one for a size of 0 only makes the graph one for sizes from 1 on.
    """
    for sign, difference in ((1, size_form(x) - size_form(y)), (-1, size_form(y) - size_form(x))):
        if is_nonnegative(difference - (0 if or_equal else 1)):
            return sign
        solved = linear(str(difference))
        if solved is not None and solved[1] + solved[2] >= (0 if or_equal else 1):
            e.outermost.size_range(solved[0], 1)
            return sign
    equal = is_nonnegative(size_form(x) - size_form(y)) and is_nonnegative(size_form(y) - size_form(x))
    return 0 if equal else None


def _extremum(e: OnnxEmitter, values: Sequence[Expr | int], wanted: int) -> Expr | int | None:
    best = values[0]
    for value in values[1:]:
        sign = _sign(e, value, best, or_equal=True)
        if sign is None:
            return None
        best = value if sign == wanted else best
    return best


def _comparison(holds: Callable[[int, int], bool]) -> Rule:
    def compare(e: OnnxEmitter, x: Expr | int, y: Expr | int) -> bool | None:
        sign = _sign(e, x, y)
        return None if sign is None else holds(sign, 0)

    return compare


def _arithmetic(fold: Callable[..., Any]) -> Rule:
    def fold_sizes(e: OnnxEmitter, *values: Expr | int) -> Expr | int:
        return simple(fold(*values))

    return fold_sizes


def _quotient(fold: Callable[[Expr | int, int], Expr | int]) -> Rule:
    """Of divisors that are positive numbers."""

    def fold_sizes(e: OnnxEmitter, x: Expr | int, y: Expr | int) -> Expr | int | None:
        return simple(fold(x, y)) if isinstance(y, int) and y > 0 else None

    return fold_sizes


def _where(e: OnnxEmitter, condition: Element, x: Expr | int, y: Expr | int) -> Expr | int | None:
    return (x if condition else y) if isinstance(condition, bool) else None


COMPARISONS = {
    "Equal": _comparison(operator.eq), "Less": _comparison(operator.lt), "LessOrEqual": _comparison(operator.le),
    "Greater": _comparison(operator.gt), "GreaterOrEqual": _comparison(operator.ge),
}  # fmt: skip
RULES: dict[str, Rule] = {
    "Add": _arithmetic(operator.add), "Sub": _arithmetic(operator.sub), "Mul": _arithmetic(operator.mul),
    "Neg": _arithmetic(operator.neg), "Div": _quotient(operator.floordiv), "Mod": _quotient(operator.mod),
    "Max": lambda e, *values: _extremum(e, values, 1), "Min": lambda e, *values: _extremum(e, values, -1),
    "Where": _where, **COMPARISONS,
}  # fmt: skip
