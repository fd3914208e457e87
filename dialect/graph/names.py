"""Names that are not taken."""

from __future__ import annotations

from collections.abc import Container


def free_name(base: str, names: Container[str], separator: str = "_") -> str:
    """`base`, or with the first free suffix: `_1`, `_2`, ... behind another separator if given."""
    name, number = base, 0
    while name in names:
        number += 1
        name = f"{base}{separator}{number}"
    return name
