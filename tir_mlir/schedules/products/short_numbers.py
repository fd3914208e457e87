"""Whether a target multiplies short numbers by instructions of its own."""

from __future__ import annotations

from tir_mlir.intrin.amx import SIDE, tile_dot
from tir_mlir.intrin.dot_products import dot_of_lanes, dot_product
from tir_mlir.target import Target


def multiplies(target: Target, left: str, right: str, sums: str) -> bool:
    """Whether products of these types, summed in a wider one, have instructions: of tiles, or dot products."""
    return has_tiles(target, left, right, sums) or dot_product(target, left, right, sums) is not None


def has_tiles(target: Target, left: str, right: str, sums: str) -> bool:
    """Whether products of these types are products of tiles."""
    unit = tile_dot(left, right, sums)
    return unit is not None and target.has("amx-tile", unit.needs)


def multiplies_words(target: Target, left: str, right: str) -> bool:
    """Whether products of these types of 8 bits, summed in int32, have operands of 16 bits."""
    dot = None if has_tiles(target, left, right, "int32") else dot_product(target, left, right)
    return dot is not None and dot.left_dtype == "int16"


MOST = 32
"""The most products of which one is of use, where convolutions in groups are products of several groups: about how much
faster products on tiles are than those of widened numbers."""


def groups_together(target: Target, dtypes: tuple[str, str], groups: int, group: tuple[int, int]) -> int | None:
    """How many groups of a convolution of integers one product on tiles takes, so that the fewest products are with
    zeros; None where the target has no tiles, or too many are.

    dtypes: of the image and the weights. group: terms and results of a group.
    """
    unit, (terms, results) = tile_dot(*dtypes, "int32"), group
    if unit is None or not target.has("amx-tile", unit.needs):
        return None
    width = max(2 * SIDE, target.lanes(8))

    def products(each: int) -> int:
        return groups // each * _round_up(each * terms, unit.depth) * _round_up(each * results, width)

    whole = [n for n in range(1, groups + 1) if groups % n == 0 and n * results >= SIDE]
    best = min(whole, key=lambda n: (products(n), n), default=None)
    return best if best and products(best) <= MOST * groups * terms * results else None


FEWEST_ROWS = 4
"""The rows of a group from which on a copy of an image in groups pays off: of two, it takes as many instructions."""


def rows_together(target: Target, dtypes: tuple[str, str], channels: int) -> int:
    """How many rows of weights a depthwise convolution of integers takes at once, for each channel; 1 where there is
    no such instruction, or channels do not fill its registers. dtypes: of the image and the weights."""
    dot = dot_of_lanes(target, *dtypes)
    return 1 if dot is None or dot.group < FEWEST_ROWS or channels % dot.lanes else dot.group


def _round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
