"""Formulas of sampled integers (`v0 * (v1 + 1)`), which a schedule evaluates when a step uses them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
_NODES = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}


class Operators:
    """Arithmetic and comparison of sampled integers and formulas of them.

    Arithmetic gives a formula; a comparison, or the truth value, is that of the sampled values. Not hashable, as equal
    numbers would need equal hashes: `handle in {1, 2}` raises instead of being false.
    """

    def known_value(self) -> int:
        """The value that was sampled. Errors: HandleError if it is not known."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self.known_value() != 0

    def __eq__(self, other: object) -> Any:
        return self is other or _compared(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return self is not other and _compared(operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return _compared(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _compared(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(operator.ge, self, other)

    def __hash__(self) -> int:
        raise TypeError("a sampled integer is not hashable; use its value, sch.get(handle)")

    def __add__(self, other: Any) -> Any:
        return formula("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return formula("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return formula("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return formula("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return formula("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return formula("*", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return formula("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return formula("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return formula("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return formula("%", other, self)


@dataclass(frozen=True, eq=False)
class Formula(Operators):
    """A binary operation on integers, handles and formulas."""

    operation: str
    left: Any
    right: Any

    def known_value(self) -> int:
        return self.value(lambda handle: handle.known_value())

    def sides(self) -> Iterator[Any]:
        yield self.left
        yield self.right

    def with_sides(self, change: Callable[[Any], Any]) -> Formula:
        """The same operation on changed operands."""
        return Formula(self.operation, change(self.left), change(self.right))

    def value(self, of: Callable[[Any], int]) -> int:
        """The integer value, given those of the handles. Errors: ValueError for a division by zero."""
        left, right = (
            s.value(of) if isinstance(s, Formula) else s if isinstance(s, int) else of(s) for s in self.sides()
        )
        if right == 0 and self.operation in ("//", "%"):
            raise ValueError(f"{left} {self.operation} {right} divides by zero")
        return _OPERATIONS[self.operation](left, right)

    def text(self, of: Callable[[Any], str]) -> str:
        """The formula as Python source."""
        left, right = (
            f"({s.text(of)})" if isinstance(s, Formula) else str(s) if isinstance(s, int) else of(s)
            for s in self.sides()
        )
        return f"{left} {self.operation} {right}"


def _compared(compare: Callable[[Any, Any], bool], left: Operators, right: Any) -> Any:
    """A comparison of values; NotImplemented unless the right side is a number, handle or formula."""
    if isinstance(right, Operators):
        return compare(left.known_value(), right.known_value())
    return compare(left.known_value(), right) if isinstance(right, Real) else NotImplemented


def formula(operation: str, left: Any, right: Any) -> Any:
    """`left operation right`; NotImplemented unless both are integers, sampled ones or formulas."""
    for side in (left, right):
        if isinstance(side, bool) or not isinstance(side, (int, Operators)):
            return NotImplemented
    return Formula(operation, left, right)


def parsed(text: str, known: Mapping[str, Any]) -> Any:
    """`v3 * (v4 + 1)` -> a formula; `b0` -> the handle. Errors: ValueError; KeyError for an unknown name."""
    try:
        return _read(ast.parse(text.strip(), mode="eval").body, known)
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"{text!r} is not a formula") from None


def _read(node: ast.expr, known: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -_read(node.operand, known)
    if isinstance(node, ast.BinOp) and type(node.op) in _NODES:
        sides = _read(node.left, known), _read(node.right, known)
        found = formula(_NODES[type(node.op)], *sides)
        if found is not NotImplemented:
            return found
    raise ValueError("a formula consists of sampled integers, numbers, + - * // % and parentheses")
