"""Pieces of Python text that know how tightly they bind, and the lines of a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

OR, AND, NOT, COMPARE, ADD, MUL, UNARY, ATOM = range(8)


class Text(NamedTuple):
    """An expression and the binding strength of its outermost operator."""

    text: str
    strength: int = ATOM

    def within(self, strength: int) -> str:
        """The text as an operand that must bind at least as tightly as `strength`."""
        return self.text if self.strength >= strength else f"({self.text})"


def binary(left: Text, operator: str, right: Text, strength: int) -> Text:
    """`left operator right`, parenthesised so that it parses to this very tree."""
    low = strength + 1 if strength == COMPARE else strength  # Python chains comparisons
    return Text(f"{left.within(low)} {operator} {right.within(strength + 1)}", strength)


def call(name: str, *args: Text | str) -> Text:
    """`name(args)`."""
    return Text(f"{name}({', '.join(a if isinstance(a, str) else a.text for a in args)})")


class Writer:
    """Lines of a program, indented; a line made by a marked op is underlined with the mark's text."""

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
    def indented(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def text(self) -> str:
        return "\n".join(self.lines)
