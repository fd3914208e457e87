"""The Python text of a program as it grows: lines, the op that each one stands for, and names."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager

from mlir import ir

_TAKEN = set(keyword.kwlist) | set(dir(builtins))


class Text:
    """Lines of Python; `owners[n]` is the op behind line n."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.owners: list[ir.Operation | None] = []
        self.depth = 0
        self.op: ir.Operation | None = None

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)
        self.owners.append(self.op)

    def insert(self, place: int, line: str) -> None:
        """A line before one that is there, as deep as that one."""
        indent = self.lines[place][: len(self.lines[place]) - len(self.lines[place].lstrip())]
        self.lines.insert(place, indent + line)
        self.owners.insert(place, self.owners[place])

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """A suite; `pass` where nothing is put into it."""
        start = len(self.lines)
        self.depth += 1
        yield
        if len(self.lines) == start:
            self.put("pass")
        self.depth -= 1


class Names:
    """Names of Python variables: those of the program where they are free. What a scope named is free after it."""

    def __init__(self) -> None:
        self._scopes: list[set[str]] = [set()]
        self._count = 0

    def new(self, hint: str) -> str:
        """A name that nothing alive has."""
        base = re.sub(r"\W", "_", hint).lstrip("_") or "v"
        if base[0].isdigit():
            base = "v" + base
        name, number = base, 0
        while name in _TAKEN or any(name in scope for scope in self._scopes):
            number += 1
            name = f"{base}_{number}"
        self._scopes[-1].add(name)
        return name

    def temporary(self) -> str:
        self._count += 1
        return f"_{self._count}"

    @contextmanager
    def scope(self) -> Iterator[None]:
        self._scopes.append(set())
        yield
        self._scopes.pop()
