"""Attention by an online softmax, in tiles: a program of plain loops for `schedules.attention` on a GPU.

python -c "from tir_mlir.examples.attention import online_attention as f; print(f(2, 128, 128, 64).script())"
"""

from __future__ import annotations

from math import e, log2

from tir_mlir.script import IRModule
from tir_mlir.script.parser import parse

HIDDEN = -1e30
"""The score of a key that a query does not see. Finite: a query without any key gets the mean of all values."""
_PROGRAM = """
@T.prim_func
def main(
    Q: T.Buffer(({h}, {n}, {d}), "{dtype}"), K: T.Buffer(({g}, {m}, {d}), "{dtype}"),
    V: T.Buffer(({g}, {m}, {d}), "{dtype}"), O: T.Buffer(({h}, {n}, {d}), "{out}")
):
    Qs = T.alloc_buffer(({h}, {qs}, {w}), "{dtype}")
    Ks = T.alloc_buffer(({h}, {ks}, {w}), "{dtype}")
    Vs = T.alloc_buffer(({h}, {ks}, {w}), "{dtype}")
    S = T.alloc_buffer(({h}, {qs}, {ks}))
    Y = T.alloc_buffer(({h}, {qs}, {ks}))
    E = T.alloc_buffer(({h}, {qs}, {ks}))
    P = T.alloc_buffer(({h}, {qs}, {ks}), "{dtype}")
    X = T.alloc_buffer(({h}, {qs}, {w}))
    N = T.alloc_buffer(({h}, {qs}, {kt}))
    M = T.alloc_buffer(({h}, {qs}))
    C = T.alloc_buffer(({h}, {qs}))
    L = T.alloc_buffer(({h}, {qs}))
    for h, b in T.grid({h}, {qt}):
        for i, d in T.grid({rows}, {w}):
            with T.block("Qs"):
                vh, vi, vd = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i), T.axis.spatial({w}, d)
                Qs[vh, vi, vd] = {query}
        for i in range({rows}):
            with T.block("start"):
                vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                M[vh, vi] = T.min_value("float32")
                L[vh, vi] = T.float32(0)
        for i, d in T.grid({rows}, {w}):
            with T.block("zero"):
                vh, vi, vd = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i), T.axis.spatial({w}, d)
                X[vh, vi, vd] = T.float32(0)
        for t in range({tiles}):
            for j, d in T.grid({columns}, {w}):
                with T.block("Ks"):
                    vh, vj, vd = T.axis.spatial({h}, h), T.axis.spatial({ks}, t * {columns} + j), T.axis.spatial({w}, d)
                    Ks[vh, vj, vd] = {key}
            for j, d in T.grid({columns}, {w}):
                with T.block("Vs"):
                    vh, vj, vd = T.axis.spatial({h}, h), T.axis.spatial({ks}, t * {columns} + j), T.axis.spatial({w}, d)
                    Vs[vh, vj, vd] = {value}
            for i, j, d in T.grid({rows}, {columns}, {w}):
                with T.block("S"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vj, vd = T.axis.spatial({ks}, t * {columns} + j), T.axis.reduce({w}, d)
                    with T.init():
                        S[vh, vi, vj] = T.float32(0)
                    S[vh, vi, vj] += T.Cast("float32", Qs[vh, vi, vd]) * T.Cast("float32", Ks[vh, vj, vd])
            for i, j in T.grid({rows}, {columns}):
                with T.block("Y"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vj = T.axis.spatial({ks}, t * {columns} + j)
                    Y[vh, vi, vj] = T.if_then_else(vj < {m}, {score}, T.min_value("float32"))
            for i, j in T.grid({rows}, {columns}):
                with T.block("N"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vt, vj = T.axis.remap("SR", [t, j])
                    with T.init():
                        N[vh, vi, vt] = T.min_value("float32")
                    N[vh, vi, vt] = T.max(N[vh, vi, vt], Y[vh, vi, vt * {columns} + vj])
            for i in range({rows}):
                with T.block("M"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vt = T.axis.opaque({kt}, t)
                    C[vh, vi] = T.exp2(M[vh, vi] - T.max(M[vh, vi], N[vh, vi, vt]))
                    M[vh, vi] = T.max(M[vh, vi], N[vh, vi, vt])
                    L[vh, vi] = L[vh, vi] * C[vh, vi]
            for i, j in T.grid({rows}, {columns}):
                with T.block("E"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vj = T.axis.spatial({ks}, t * {columns} + j)
                    E[vh, vi, vj] = T.exp2(Y[vh, vi, vj] - M[vh, vi])
            for i, j in T.grid({rows}, {columns}):
                with T.block("L"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vj = T.axis.reduce({ks}, t * {columns} + j)
                    L[vh, vi] = L[vh, vi] + E[vh, vi, vj]
            for i, j in T.grid({rows}, {columns}):
                with T.block("P"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vj = T.axis.spatial({ks}, t * {columns} + j)
                    P[vh, vi, vj] = T.Cast("{dtype}", E[vh, vi, vj])
            for i, d in T.grid({rows}, {w}):
                with T.block("G"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vd, vt = T.axis.spatial({w}, d), T.axis.opaque({kt}, t)
                    X[vh, vi, vd] = X[vh, vi, vd] * C[vh, vi]
            for i, d, j in T.grid({rows}, {w}, {columns}):
                with T.block("X"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vd, vj = T.axis.spatial({w}, d), T.axis.reduce({ks}, t * {columns} + j)
                    X[vh, vi, vd] += T.Cast("float32", P[vh, vi, vj]) * T.Cast("float32", Vs[vh, vj, vd])
        for i, d in T.grid({rows}, {w}):
            with T.block("O"):
                vh, vi, vd = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i), T.axis.spatial({w}, d)
                T.where(b * {rows} + i < {n} and d < {d})
                O[vh, vi, vd] = T.Cast("{out}", X[vh, vi, vd] / L[vh, vi])
"""


def online_attention(
    heads: int,
    queries: int,
    keys: int,
    width: int,
    *,
    groups: int | None = None,
    causal: bool = False,
    scale: float | None = None,
    dtype: str = "float16",
    out_dtype: str = "float32",
    rows: int = 64,
    columns: int = 64,
) -> IRModule:
    """`O[h, i] = sum_j softmax_j(scale * Q[h, i] . K[h // (heads // groups), j]) V[..]`, a tile of keys at a time.

    Q: (heads, queries, width); K, V: (groups, keys, width), default one for each head; O like Q, of out_dtype.
    causal: query i sees keys up to i + keys - queries. scale: default width ** -0.5. rows, columns: the queries and
    keys of a tile; ragged ones are filled with zeros, and their scores hidden. For each tile of keys: the scores S,
    those in units of log 2 with hidden ones replaced (Y), the largest so far (M), the factor C for what was summed
    before, the weights E, their sum L, and X += E V. Raises ValueError for sizes that are not positive, and heads that
    are not multiples of the groups.
    """
    groups = heads if groups is None else groups
    if min(heads, queries, keys, width, groups, rows, columns) < 1 or heads % groups:
        raise ValueError("sizes are positive, and heads a multiple of groups")
    q_tiles, k_tiles, shift = -(-queries // rows), -(-keys // columns), keys - queries
    unit = (width**-0.5 if scale is None else scale) * log2(e)
    score, tiles = f"S[vh, vi, vj] * T.float32({unit!r})", str(k_tiles)
    if causal:
        score = f"T.if_then_else(vj <= vi + {shift}, {score}, T.float32({HIDDEN}))"
        if shift >= 0 and k_tiles > 1:  # no tiles above the diagonal; the last queries may see one without keys
            tiles = f"(b * {rows} + {rows - 1 + shift}) // {columns} + 1"
            k_tiles = (q_tiles * rows - 1 + shift) // columns + 1
    qs, ks, w, share = q_tiles * rows, k_tiles * columns, -(-width // 16) * 16, heads // groups
    sizes = {"h": heads, "n": queries, "m": keys, "d": width, "g": groups}
    padded = {"qs": qs, "ks": ks, "w": w, "qt": q_tiles, "kt": k_tiles}
    operands = {
        "query": _element("Q[vh, vi, vd]", dtype, vi=(queries, qs), vd=(width, w)),
        "key": _element(f"K[vh // {share}, vj, vd]", dtype, vj=(keys, ks), vd=(width, w)),
        "value": _element(f"V[vh // {share}, vj, vd]", dtype, vj=(keys, ks), vd=(width, w)),
    }
    texts = {"score": score, "tiles": tiles, "dtype": dtype, "out": out_dtype, "rows": rows, "columns": columns}
    return parse(_PROGRAM.format(**sizes, **padded, **operands, **texts))


def _element(element: str, dtype: str, **sizes: tuple[int, int]) -> str:
    """An element of a tile, 0 outside of its array. sizes: of the array and of its tiles, by index."""
    inside = " and ".join(f"{index} < {size}" for index, (size, tiles) in sizes.items() if size != tiles)
    return f'T.if_then_else({inside}, {element}, T.Cast("{dtype}", 0.0))' if inside else element
