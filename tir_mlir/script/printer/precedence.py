"""Expression text with operator precedence, and the line writer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

OR, AND, NOT, COMPARE, ADD, MUL, UNARY, ATOM = range(8)


class ExprText(NamedTuple):
    """The text of an expression and the precedence of its outermost operator."""

    text: str
    precedence: int = ATOM

    def parenthesize(self, precedence: int) -> str:
        """The text as an operand that must bind at least as tightly as `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def binary(lhs: ExprText, operator: str, rhs: ExprText, precedence: int) -> ExprText:
    """`lhs operator rhs`, parenthesised to parse to this tree."""
    low = precedence + 1 if precedence == COMPARE else precedence  # Python chains comparisons
    return ExprText(f"{lhs.parenthesize(low)} {operator} {rhs.parenthesize(precedence + 1)}", precedence)


def call(name: str, *args: ExprText | str) -> ExprText:
    """`name(args)`."""
    return ExprText(f"{name}({', '.join(a if isinstance(a, str) else a.text for a in args)})")


class ScriptWriter:
    """Indented lines of a program; the line of a marked op is underlined, with the mark's text."""

    def __init__(self, marks: Mapping[int, str] | None = None):
        self.lines: list[str] = []
        self.marks = dict(marks or {})
        self._depth = 0

    def line(self, text: str, op_id: int | None = None) -> None:
        space = "    " * self._depth
        self.lines.append(space + text)
        if op_id is not None and op_id in self.marks:
            self.lines.append(f"{space}{'^' * len(text)}  # {self.marks[op_id]}".rstrip(" #"))

    @contextmanager
    def indent(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def text(self) -> str:
        return "\n".join(self.lines)
