"""Python identifiers for SSA values, unique within their scope."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager

from mlir import ir

_RESERVED = frozenset({"T", "I", "range", "float", "int", "bool"})


def identifier(text: str, default: str = "v") -> str:
    """The nearest Python identifier: `A_global.A_reg` -> `A_global_A_reg`, `for` -> `for_`."""
    name = re.sub(r"[^0-9A-Za-z_]", "_", text) or default
    if name[0].isdigit():
        name = f"{default}_{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in _RESERVED else name


def function_names(names: Sequence[str]) -> dict[str, str]:
    """Names of functions that are not identifiers -> what is printed: `a.b` -> `a_b`, or `a_b_1` next to an `a_b`."""
    printed: dict[str, str] = {}
    reserved = set(names)
    for name in names:
        base = name if name.isidentifier() else identifier(name, "f")
        base = f"{base}_" if keyword.iskeyword(base) else base
        if base == name:
            continue
        unique, number = base, 0
        while unique in reserved:
            number += 1
            unique = f"{base}_{number}"
        reserved.add(unique)
        printed[name] = unique
    return printed


class ValueNames:
    """The names in scope at the point being printed."""

    def __init__(self, anonymous: bool = False, reserved: Set[str] = frozenset()):
        """reserved: names that the text around has another meaning for: `R` -> `R_`."""
        self._anonymous, self._reserved = anonymous, reserved
        self._used: set[str] = set()
        self._frames: list[list[str]] = [[]]
        self._of: dict[ir.Value, str] = {}
        self._order: dict[str, int] = {}

    def bind(self, value: ir.Value, hint: str, default: str = "v") -> str:
        """Bind a value to a name unique in scope: `hint`, or with the first free suffix `_1`, `_2`, ..."""
        name = self.fresh(hint, default)
        self._of[value] = name
        return name

    def fresh(self, hint: str, default: str = "v") -> str:
        """A new name, unique in scope."""
        base = "v" if self._anonymous else identifier(hint, default)
        base = f"{base}_" if base in self._reserved else base
        name, number = base, 0
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        self._frames[-1].append(name)
        self._order[name] = len(self._used)
        return name

    def get(self, value: ir.Value) -> str | None:
        return self._of.get(value)

    def rank(self, name: str) -> int:
        """The number of names in scope when this one was made; smaller for outer loops."""
        return self._order.get(name, 0)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A nested scope: its names are released at the end."""
        self._frames.append([])
        try:
            yield
        finally:
            self._used -= set(self._frames.pop())
