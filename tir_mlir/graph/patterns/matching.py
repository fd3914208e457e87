"""Whether an expression is as a pattern says, and what each part of the pattern stands for in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir.graph.expressions import Expr, Function, ShapeExpr, Var

Lookup = Callable[[Var], Any]
"""What a variable is bound to; None for a parameter."""


class Matcher:
    """The state of a match: what each pattern stands for so far. A pattern that occurs twice is one expression."""

    def __init__(self, lookup: Lookup):
        self.lookup = lookup
        self.found: dict[Any, Any] = {}

    def match(self, pattern: Any, expr: Any) -> bool:
        """Whether an expression is as the pattern says; if not, nothing is noted."""
        if pattern in self.found:
            return same(self.found[pattern], expr)
        before = dict(self.found)
        if pattern.matches(expr, self):
            self.found[pattern] = expr
            return True
        self.found = before
        return False

    def match_all(self, patterns: Any, exprs: Any) -> bool:
        """The same for several, one by one."""
        before = dict(self.found)
        if len(patterns) == len(exprs) and all(map(self.match, patterns, exprs)):
            return True
        self.found = before
        return False

    def value(self, expr: Any) -> Any:
        """What an expression is: the value of a variable that a binding defines."""
        while isinstance(expr, Var) and (value := self.lookup(expr)) is not None:
            expr = value
        return expr


def same(one: Any, other: Any) -> bool:
    """Whether two expressions are one; shapes and names are compared by value."""
    return one is other or (not isinstance(one, Expr) and isinstance(one, (str, ShapeExpr)) and one == other)


def var_values(func: Function) -> dict[Var, Expr]:
    """What the variables of a function are bound to."""
    return {binding.var: binding.value for binding in func.body.bindings}
