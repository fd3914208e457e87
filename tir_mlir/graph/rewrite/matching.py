"""Whether a value is as a pattern says, what each part of the pattern stands for in it, and what is read of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir import ir

Lookup = Callable[[Any], Any]
"""What computes a value, such as the `Call` of a value of MLIR; None if nothing does."""


class Op:
    """An operator, one object for each name: `Op.get("relax.add")`."""

    kinds = ("op",)
    _known: dict[str, Op] = {}

    def __init__(self, name: str):
        self.name = name

    @staticmethod
    def get(name: str) -> Op:
        """The operator of a name, with `relax.`."""
        return Op._known.setdefault(name, Op(name))

    @property
    def short(self) -> str:
        """The name without `relax.`, as in the table of operators."""
        return self.name.removeprefix("relax.")

    def __repr__(self) -> str:
        return f'Op("{self.name}")'


class Matcher:
    """The state of a match: what each pattern stands for so far. A pattern that occurs twice is one value."""

    def __init__(self, lookup: Lookup):
        self.lookup = lookup
        self.matches: dict[Any, Any] = {}

    def match(self, pattern: Any, value: Any) -> bool:
        """Whether a value is as the pattern says; if not, nothing is noted."""
        if pattern in self.matches:
            return same(self.matches[pattern], value)
        snapshot = dict(self.matches)
        if pattern.matches(value, self):
            self.matches[pattern] = value
            return True
        self.matches = snapshot
        return False

    def match_all(self, patterns: Any, values: Any) -> bool:
        """The same for several, one by one."""
        snapshot = dict(self.matches)
        if len(patterns) == len(values) and all(map(self.match, patterns, values)):
            return True
        self.matches = snapshot
        return False

    def definition(self, value: Any) -> Any:
        """What computes a value, through variables; the value itself if nothing does."""
        while (isinstance(value, ir.Value) or is_a(value, "var")) and (bound := self.lookup(value)) is not None:
            value = bound
        return value


def is_a(value: Any, *kinds: str) -> bool:
    """Whether a value is of a kind, in the words of visitors: "call", "constant", "var", "tuple", ..."""
    return not {*kinds}.isdisjoint(getattr(value, "kinds", ()))


def same(lhs: Any, rhs: Any) -> bool:
    """Whether two values are one; shapes and names are compared by value."""
    return lhs is rhs or (isinstance(lhs, (str, tuple, ir.Value)) and bool(lhs == rhs))
