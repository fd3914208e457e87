"""A buffer of generated Python code: lines, the op of each line, and variable names."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable

from mlir import ir

_TAKEN = set(keyword.kwlist) | set(dir(builtins))


class Nesting:
    """A reentrant context manager for indentation (faster than contextlib's)."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]):
        self._enter, self._leave = enter, leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, *_: object) -> None:
        self._leave()


class Text:
    """Lines of Python; `owners[n]` is the op that line n was generated from."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.owners: list[ir.Operation | None] = []
        self.depth = 0
        self.op: ir.Operation | None = None
        self._deeper = Nesting(self._enter, self._leave)
        self._starts: list[int] = []

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)
        self.owners.append(self.op)

    def insert(self, place: int, line: str) -> None:
        """Insert a line before an existing one, with the same indentation."""
        indent = self.lines[place][: len(self.lines[place]) - len(self.lines[place].lstrip())]
        self.lines.insert(place, indent + line)
        self.owners.insert(place, self.owners[place])

    def deeper(self) -> Nesting:
        """An indented suite; `pass` if it stays empty."""
        return self._deeper

    def _enter(self) -> None:
        self._starts.append(len(self.lines))
        self.depth += 1

    def _leave(self) -> None:
        if len(self.lines) == self._starts.pop():
            self.put("pass")
        self.depth -= 1


class Names:
    """Python variable names, derived from names of the program; released at the end of a scope."""

    def __init__(self) -> None:
        self._alive: set[str] = set()
        self._scopes: list[list[str]] = [[]]
        self._count = 0
        self._nesting = Nesting(lambda: self._scopes.append([]), self._leave)

    def new(self, hint: str) -> str:
        """A name that is unused in scope."""
        base = hint
        if not hint.isidentifier() or hint[0] == "_":
            base = re.sub(r"\W", "_", hint).lstrip("_") or "v"
            base = "v" + base if base[0].isdigit() else base
        name, number = base, 0
        while name in _TAKEN or name in self._alive:
            number += 1
            name = f"{base}_{number}"
        self._scopes[-1].append(name)
        self._alive.add(name)
        return name

    def temporary(self) -> str:
        self._count += 1
        return f"_{self._count}"

    def scope(self) -> Nesting:
        return self._nesting

    def _leave(self) -> None:
        self._alive.difference_update(self._scopes.pop())
