"""Sizes of tensors: numbers, or expressions of named sizes as text, and as te expressions."""

from __future__ import annotations

import ast
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.te import Tensor, Var, placeholder, var
from tir_mlir.te.expr import Expr, named

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub)


class Sizes:
    """The named sizes of a graph, each one variable of te."""

    def __init__(self) -> None:
        self.variables: dict[str, Var] = {}
        self._names: dict[str, str] = {}

    def variable(self, name: str) -> Var:
        """The variable of a name."""
        if name not in self.variables:
            made = self.variables[name] = var(name)
            self._names[made.key] = name
        return self.variables[name]

    def expression(self, size: int | str) -> Any:
        """The te form of a size: "n + 1" -> the variable of n, plus 1."""
        return size if isinstance(size, int) else self._read(ast.parse(size, mode="eval").body, size)

    def _read(self, node: ast.AST, text: str) -> Any:
        if isinstance(node, ast.Name):
            return self.variable(node.id)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
            left, right = self._read(node.left, text), self._read(node.right, text)
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return 0 - self._read(node.operand, text)
        raise GraphError(f"a size is a number, a name, or sums and products of them, not {short_repr(text)}")

    def text(self, size: Any) -> int | str:
        """The number, or the text, of a size given as a number, text or te expression."""
        if isinstance(size, bool) or not isinstance(size, (int, str, Expr)):
            if hasattr(size, "__index__"):
                return self.text(int(size))
            raise GraphError(f"a size is a number, a name or an expression of sizes, not {short_repr(size)}")
        if isinstance(size, int):
            if size < 0:
                raise GraphError(f"a size is not negative; this one is {size}")
            if size >= 2**63:
                raise GraphError(f"a size is at most 2**63 - 1; this one is {size}")
            return size
        expr = self.expression(size) if isinstance(size, str) else size
        if isinstance(expr, int):
            return expr
        for key, leaf in expr.leaves.items():
            if key not in self._names:
                self._adopt(key, leaf)
        return ast.unparse(named(expr.node, self._names))

    def _adopt(self, key: str, leaf: Any) -> None:
        """Take a variable of the user's as a size of its name."""
        if not isinstance(leaf, Var):
            raise GraphError(f"a size is an expression of sizes; {leaf!r} is not one")
        known = self.variables.setdefault(leaf.name, leaf)
        if known is not leaf:
            raise GraphError(f"two sizes are named {leaf.name}; fix: one variable for both, or another name")
        self._names[key] = leaf.name

    def shape(self, given: Any) -> tuple[int | str, ...]:
        """A shape in text form. Errors: GraphError for what is not a sequence of sizes."""
        if isinstance(given, (int, str, Expr)):
            given = (given,)
        if not isinstance(given, (tuple, list)):
            raise GraphError(f"a shape is a tuple of sizes, not {short_repr(given)}")
        return tuple(self.text(size) for size in given)

    def tensor(self, name: str, shape: tuple[int | str, ...], dtype: str) -> Tensor:
        """A te placeholder of a shape."""
        return placeholder(tuple(self.expression(size) for size in shape), dtype, name=name)


_BINARY: dict[type, Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


def checked_dtype(dtype: Any) -> str:
    """The name of an element type. Errors: GraphError."""
    name = getattr(dtype, "name", dtype)  # of numpy
    if not isinstance(name, str) or name not in dtypes.NAMES:
        raise GraphError(dtypes.refusal(short_repr(name)))
    return name
