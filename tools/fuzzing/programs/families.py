"""Families of stages, by which a run reports what was drawn and how many steps on it were applied."""

from __future__ import annotations

from collections.abc import Sequence

UNSIGNED, MAY_ALIAS, SYMBOLIC = "unsigned", "may alias", "symbolic"
OF_PROGRAMS = (MAY_ALIAS, SYMBOLIC)
"""Families that any stage may be in: programs whose arguments may overlap, or that have a size `n`."""
FAMILIES = {
    "ordered": ("running", "planes", "scan", "in_turn", "solved", "scratch"),
    "scatter": ("scattered", "row_scatter", "row_adds", "bound"),
    "gather": ("gathered",),
    "bounds from data": ("csr", "csr_rows", "rounds"),
    "extrema as bounds": ("banded",),
    "while": ("halved", "up_to"),
    "mask": ("masked", "masked_sum"),
    UNSIGNED: ("unsigned", "unsigned_largest"),
    "typed": ("typed_product", "typed_map", "typed_sum", "typed_window", "typed_rows", "typed_attention"),
}


def chosen(stages: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the stages with these names, or in families with these names; none for no words. Errors: ValueError."""
    found = []
    for word in words:
        named = [s for s in stages if s == word or s in FAMILIES.get(word, ())]
        if not named:
            raise ValueError(f"no stage or family {word!r}: {', '.join([*FAMILIES, *dict.fromkeys(stages)])}")
        found += named
    return found
