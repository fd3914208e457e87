"""Sizes and element types of torch as those of a graph."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError


def dtype_name(dtype: Any) -> str:
    """torch.float32 -> "float32"."""
    return str(dtype).removeprefix("torch.")


class TorchSizes:
    """Sizes are integers, or SymInts whose expressions are of sympy.

    names: those that the user gave the symbols.
    """

    def __init__(self, names: dict[str, str]):
        self.names = names

    def size(self, value: Any) -> int | str:
        """A number, or an expression as text: SymInt(s77 + 1) -> "n + 1"."""
        if isinstance(value, int):
            return value
        expr = value.node.expr
        return int(expr) if expr.is_Integer else self._text(expr)

    def shape(self, value: Any) -> tuple[int | str, ...]:
        """The shape of a tensor of torch."""
        return tuple(self.size(s) for s in value.shape)

    def _text(self, expr: Any) -> str:
        if expr.is_Symbol:
            return self.names.get(str(expr), str(expr))
        if expr.is_Integer:
            return str(int(expr))
        if expr.is_Add:
            parts = sorted((self._text(a) for a in expr.args), key=lambda t: (t.lstrip("-").isdigit(), t))
            return " + ".join(parts).replace("+ -", "- ")
        if expr.is_Mul:
            return " * ".join(self._factor(a) for a in expr.args)
        if expr.is_Pow and expr.exp.is_Integer and int(expr.exp) > 0:
            return " * ".join([self._factor(expr.base)] * int(expr.exp))
        sign = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"}.get(type(expr).__name__)
        if sign and len(expr.args) == 2:
            return f"{self._factor(expr.args[0])} {sign} {self._factor(expr.args[1])}"
        raise GraphError(f"the size {expr} is no sum, product or quotient of sizes\n  fix: make this dimension static")

    def _factor(self, expr: Any) -> str:
        text = self._text(expr)
        return text if text.isidentifier() or text.isdigit() else f"({text})"
