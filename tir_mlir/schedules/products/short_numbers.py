"""Whether a target multiplies short numbers by instructions of its own."""

from __future__ import annotations

from tir_mlir.intrin.amx import tile_dot
from tir_mlir.intrin.dot_products import dot_product
from tir_mlir.target import Target


def multiplies(target: Target, left: str, right: str, sums: str) -> bool:
    """Whether products of these types, summed in a wider one, have instructions: of tiles, or dot products."""
    unit = tile_dot(left, right, sums)
    of_tiles = unit is not None and target.has("amx-tile", unit.needs)
    return of_tiles or dot_product(target, left, right, sums) is not None
