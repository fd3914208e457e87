"""Rows times the matrix of their group, as of a mixture of experts, as operators of a graph."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.importers.emitter import OperatorEmitter

PANEL = 16
"""The columns of a panel of a matrix."""
HEIGHTS = ((16, 8), (4, 4), (2, 2))
"""The rows of a tile, for at least so many rows of a group on average: the last tile of each is partly empty."""
NARROW_HEIGHTS = ((16, 16), *HEIGHTS[1:])
"""The same for floats of 16 bits: matrix units have tiles of 16 rows."""


def grouped_product(e: OperatorEmitter, x: Any, weight: Any, offsets: Any) -> Any:
    """(m, k), (g, k, n), (g,) -> (m, n): rows times the matrix of their group; rows behind the last group are 0.

    Rows are copied to tiles of one group each, the matrices are in panels, which are made once of weights; each tile is
    multiplied by the panels of its matrix, and rows are copied back.
    """
    groups, k, n = weight.shape
    rows = x.shape[0]
    if not all(isinstance(size, int) for size in (groups, k, n)) or n % PANEL or not rows or not k:
        return e.op("grouped_matmul", x, weight, offsets)
    heights = NARROW_HEIGHTS if x.dtype in ("bfloat16", "float16") else HEIGHTS
    height = next((h for least, h in heights if not isinstance(rows, int) or rows >= least * groups), 1)
    group, sources, positions = e.op(
        "row_tiles", offsets, rows=rows if isinstance(rows, int) else {"size": rows}, height=height
    )
    panels = e.permute(e.reshape(weight, (groups, k, n // PANEL, PANEL)), (0, 2, 1, 3))
    products = e.op("tile_products", e.op("take", x, sources, axis=0), panels, group)
    tiles = e.permute(products, (0, 2, 1, 3))
    y = e.op("take", e.op("reshape", tiles, shape=(-1, n)), positions, axis=0)
    inside = e.op("greater_equal", positions, e.constant(0, "int32"))
    return e.op("where", e.reshape(inside, (rows, 1)), y, e.constant(0, x.dtype))
