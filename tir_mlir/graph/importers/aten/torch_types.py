"""Sizes and element types of torch as those of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import Constant, IntExpr, Symbol, operation, plus, size_of


def dtype_name(dtype: Any) -> str:
    """torch.float32 -> "float32". Weights of float8 are bfloat16, which has all of their values."""
    return "bfloat16" if is_float8(dtype) else str(dtype).removeprefix("torch.")


def is_float8(dtype: Any) -> bool:
    """Whether a type of torch is one of the floats of 8 bits."""
    return str(dtype).startswith("torch.float8")


class TorchSizes:
    """Sizes are integers, or SymInts whose expressions are of sympy.

    names: those that the user gave the symbols. equal: expressions that torch knows symbols to be equal to.
    """

    def __init__(self, names: dict[str, str], equal: Mapping[Any, Any] | None = None):
        self.names, self.equal = names, dict(equal or {})

    def size(self, value: Any) -> int | str:
        """A number, or an expression as text: SymInt(s77 + 1) -> "n + 1"."""
        return value if isinstance(value, int) else size_of(self._int_expr(value.node.expr))

    def shape(self, value: Any) -> tuple[int | str, ...]:
        """The shape of a tensor of torch."""
        return tuple(self.size(s) for s in value.shape)

    def _int_expr(self, expr: Any) -> IntExpr:
        """An expression of sympy; the terms of a sum are sorted, numbers last."""
        if expr in self.equal:
            return self._int_expr(self.equal[expr])
        if expr.is_Symbol:
            return Symbol(self.names.get(str(expr), str(expr)))
        if expr.is_Integer:
            return Constant(int(expr))
        parts = [self._int_expr(arg) for arg in expr.args]
        if expr.is_Add:
            return reduce(plus, sorted(parts, key=lambda part: (isinstance(part, Constant), str(part))))
        if expr.is_Mul:
            return reduce(mul, parts)
        if expr.is_Pow and expr.exp.is_Integer and int(expr.exp) > 0:
            return reduce(mul, parts[:1] * int(expr.exp))
        symbol = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"}.get(type(expr).__name__)
        if symbol and len(parts) == 2:
            return operation(symbol, *parts)
        raise GraphError(
            f"the size {expr} is not a sum, product or quotient of sizes\n  fix: make this dimension static"
        )
