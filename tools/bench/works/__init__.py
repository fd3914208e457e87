"""The works of the benchmark, one table row each."""

from __future__ import annotations

from collections.abc import Sequence

from contest import Work

from . import (
    chapter,
    convolutions,
    halves,
    integer_convolutions,
    integers,
    operators,
    products,
    quantized,
    rowwise,
    symbolic,
)

FAMILIES = (
    products,
    symbolic,
    integers,
    quantized,
    halves,
    convolutions,
    integer_convolutions,
    rowwise,
    operators,
    chapter,
)


def all_works(threads: Sequence[int]) -> list[Work]:
    """Return the works in table order."""
    return [work for family in FAMILIES for work in family.works(threads)]
