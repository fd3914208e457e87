"""Names that are not taken."""

from __future__ import annotations

from collections.abc import Container


def free_name(wanted: str, taken: Container[str], separator: str = "_") -> str:
    """`wanted`, or with the first free suffix: `_1`, `_2`, ... behind another separator if given."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}{separator}{number}"
    return name
