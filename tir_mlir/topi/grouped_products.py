"""Products of rows by the matrix of their group, as of a mixture of experts: in tiles of rows of one group."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.te.statements import T
from tir_mlir.topi.operands import as_type, describe_tensor, one_type, ranked_tensor, refuse
from tir_mlir.topi.products import sum_type
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.sizes import are_equal, number

__all__ = ["row_tiles", "tile_products"]


def row_tiles(offsets: Any, rows: Any, height: int) -> list[te.Tensor]:
    """Tiles of `height` rows of one group each. offsets: where each group of rows ends; rows: their number.

    Returns int32: the group of each tile; the rows in each, (tiles, height), of which the last is repeated where a
    group ends; and for each row its position among these, -1 behind the last group. There are as many tiles as groups
    may need: min(rows, rows // height + groups); those that are not needed are like the last one.
    """
    op = "row_tiles"
    ends = ranked_tensor(op, "offsets", offsets, 1)
    groups, last = ends.shape[0], te.cast(rows, "int32") if not isinstance(rows, int) else rows
    tiles = _greatest_number(rows, height, groups)

    def table(_, E, G, S, P):
        T.reads(E[0:groups])
        T.writes(G[0:tiles], S[0:tiles, 0:height], P[0:rows])
        tile = T.alloc_buffer((1,), "int32")
        row = T.alloc_buffer((1,), "int32")
        tile[0] = 0
        row[0] = 0
        for i in range(rows):
            P[i] = -1
        for t in range(tiles):
            G[t] = 0
            for m in range(height):
                S[t, m] = 0
        for g in range(groups):
            end = T.min(T.cast(E[g], "int32"), last)
            while row[0] < end:
                G[tile[0]] = g
                for m in range(height):
                    S[tile[0], m] = T.min(row[0] + m, end - 1)
                    if row[0] + m < end:
                        P[row[0] + m] = tile[0] * height + m
                row[0] = T.min(row[0] + height, end)
                tile[0] = tile[0] + 1
        for t in range(tiles):
            if T.And(t >= tile[0], tile[0] > 0):
                G[t] = G[tile[0] - 1]

    results = [((tiles,), "int32"), ((tiles, height), "int32"), ((rows,), "int32")]
    return list(te.statements((1,), [ends], results, table, name="T_row_tiles"))


def _greatest_number(rows: Any, height: int, groups: Any) -> Any:
    """How many tiles groups may need."""
    if height == 1:
        return rows
    whole = rows // height + groups
    return min(int(rows), int(whole)) if None not in (number(rows), number(groups)) else te.min(rows, whole)


def tile_products(data: Any, panels: Any, groups: Any) -> te.Tensor:
    """Tiles of rows times the matrix of their group: (t, m, k), (g, p, k, w), (t,) -> (t, p, m, w).

    panels: matrices of k rows whose columns are in panels of w; groups: of each tile, integers.
    """
    op = "tile_products"
    x, w, group = (
        ranked_tensor(op, "data", data, 3),
        ranked_tensor(op, "panels", panels, 4),
        ranked_tensor(op, "groups", groups, 1),
    )
    dtype = one_type(op, data=x, panels=w)
    if not are_equal(x.shape[2], w.shape[2]) or not are_equal(x.shape[0], group.shape[0]):
        raise refuse(
            op,
            f"{describe_tensor('data', x)}, {describe_tensor('panels', w)}",
            "pass (t, m, k), (g, p, k, w) and t groups",
        )
    k, added, count = te.reduce_axis((0, x.shape[2]), name="k"), sum_type(dtype, None), w.shape[0]

    def chosen_weights(t: Any, *index: Any) -> Any:
        return w(te.max(te.min(as_type(group(t), group.dtype, "int32"), count - 1), 0), *index)

    if added != dtype:  # a block of its own: schedules copy it in the order of instructions for narrow numbers
        chosen_weights = te.compute((x.shape[0], *w.shape[1:]), chosen_weights, name="T_chosen")

    def element(t: Any, p: Any, m: Any, lane: Any) -> Any:
        return te.sum(as_type(x(t, m, k), dtype, added) * as_type(chosen_weights(t, p, k, lane), dtype, added), axis=k)

    shape = (x.shape[0], w.shape[1], x.shape[1], w.shape[3])
    return narrow(te.compute(shape, element, name="T_tiles"), dtype)
