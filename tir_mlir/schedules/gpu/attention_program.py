"""Attention by an online softmax, in tiles, as a program of plain loops for `attention_tiles`."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log2

from tir_mlir.script import IRModule
from tir_mlir.script.parser import parse

PARAMS = ("Q", "K", "V", "B", "O")
"""The parameters of the program: queries, keys, values, the bias if there is one, the result."""


@dataclass(frozen=True)
class TiledOperand:
    """A parameter: its shape, and the index of an element as text, of `vh` (head), `vi` (query) or `vj` (key), `vd`."""

    sizes: tuple[int, ...]
    index: str

    @property
    def shape(self) -> str:
        """As text."""
        return ", ".join(map(str, self.sizes)) + ","


@dataclass(frozen=True, kw_only=True)
class TiledScores:
    """What scores are before their softmax: `unit` times the product, with a bias, of what is seen.

    bias: a parameter that is added, or of bool a mask, and its type. ahead: query i sees keys up to i + ahead.
    hidden: the score of a key that a query does not see.
    """

    unit: float
    bias: TiledOperand | None = None
    bias_dtype: str = "float32"
    ahead: int | None = None
    hidden: str = 'T.min_value("float32")'

    @property
    def adds(self) -> bool:
        """Whether there is a bias that is added. Scores are then in natural units: the least one, times log2(e), would
        be minus infinity."""
        return self.bias is not None and self.bias_dtype != "bool"

    def text(self) -> str:
        """The score of a key that is there."""
        factor = self.unit if self.adds else self.unit * log2(e)
        score = f"S[vh, vi, vj] * T.float32({factor!r})"
        if self.bias is not None:
            bias = f"B[{self.bias.index}]"
            score = (
                f'{score} + T.Cast("float32", {bias})'
                if self.adds
                else f"T.if_then_else({bias}, {score}, {self.hidden})"
            )
        if self.ahead is not None:
            score = f"T.if_then_else(vj <= vi + {self.ahead}, {score}, {self.hidden})"
        return score


@dataclass(frozen=True, kw_only=True)
class TiledAttentionProgram:
    """`O[h, i] = sum_j softmax_j(score(Q[h, i] . K[h, j])) V[h, j]`, a tile of keys at a time.

    width, values: the elements of a row of Q and K, and of V and O; rows, columns: the queries and keys of a tile.
    Ragged tiles are filled with zeros, and keys that are not there have the score minus infinity.
    """

    heads: int
    queries: int
    keys: int
    width: int
    values: int
    q: TiledOperand
    k: TiledOperand
    v: TiledOperand
    o: TiledOperand
    scores: TiledScores
    dtype: str
    out_dtype: str
    rows: int
    columns: int

    def module(self) -> IRModule:
        """The program, of the parameters `PARAMS`.

        For each tile of keys: the products S, the scores (Y), the largest so far (M), the factor C for what was summed
        before, the weights E, their sum L, and X += E V.
        """
        bias, scores, (count, tiles) = self.scores.bias, self.scores, self._tiles()
        qs, ks, w, u = self._query_rows, count * self.columns, _tile_width(self.width), _tile_width(self.values)
        param = "" if bias is None else f'B: T.Buffer(({bias.shape}), "{scores.bias_dtype}"), '
        inside = f"vj < {self.keys}" if bias is None else f"vj < {self.keys} and vi < {self.queries}"
        return parse(
            _PROGRAM.format(
                h=self.heads, n=self.queries, e=self.values, Q=self.q, K=self.k, V=self.v, O=self.o, bias=param,
                query=self._element(f"Q[{self.q.index}]", vi=(self.queries, qs), vd=(self.width, w)),
                key=self._element(f"K[{self.k.index}]", vj=(self.keys, ks), vd=(self.width, w)),
                value=self._element(f"V[{self.v.index}]", vj=(self.keys, ks), vd=(self.values, u)),
                dtype=self.dtype, out=self.out_dtype, rows=self.rows, columns=self.columns, qt=qs // self.rows,
                kt=count, qs=qs, ks=ks, w=w, u=u, inside=inside, score=scores.text(),
                exp="exp" if scores.adds else "exp2", tiles=tiles,
            )
        )  # fmt: skip

    @property
    def _query_rows(self) -> int:
        return -(-self.queries // self.rows) * self.rows

    def _tiles(self) -> tuple[int, str]:
        """The tiles of keys, and how many of them a tile of queries reads: none above the diagonal; the last queries
        may see one without keys."""
        ahead, count = self.scores.ahead, -(-self.keys // self.columns)
        if ahead is None or ahead < 0 or count == 1:
            return count, str(count)
        most = (self._query_rows - 1 + ahead) // self.columns + 1
        return most, f"(b * {self.rows} + {self.rows - 1 + ahead}) // {self.columns} + 1"

    def _element(self, element: str, **sizes: tuple[int, int]) -> str:
        """An element of a tile, 0 outside of its array. sizes: of the array and of its tiles, by index."""
        inside = " and ".join(f"{index} < {size}" for index, (size, tiles) in sizes.items() if size != tiles)
        return f'T.if_then_else({inside}, {element}, T.Cast("{self.dtype}", 0.0))' if inside else element


def _tile_width(width: int) -> int:
    """The elements of the rows of tiles: whole fragments."""
    return -(-width // 16) * 16


_PROGRAM = """
@T.prim_func
def main(
    Q: T.Buffer(({Q.shape}), "{dtype}"), K: T.Buffer(({K.shape}), "{dtype}"), V: T.Buffer(({V.shape}), "{dtype}"),
    {bias}O: T.Buffer(({O.shape}), "{out}")
):
    Qs = T.alloc_buffer(({h}, {qs}, {w}), "{dtype}")
    Ks = T.alloc_buffer(({h}, {ks}, {w}), "{dtype}")
    Vs = T.alloc_buffer(({h}, {ks}, {u}), "{dtype}")
    S = T.alloc_buffer(({h}, {qs}, {ks}))
    Y = T.alloc_buffer(({h}, {qs}, {ks}))
    E = T.alloc_buffer(({h}, {qs}, {ks}))
    P = T.alloc_buffer(({h}, {qs}, {ks}), "{dtype}")
    X = T.alloc_buffer(({h}, {qs}, {u}))
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
        for i, d in T.grid({rows}, {u}):
            with T.block("zero"):
                vh, vi, vd = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i), T.axis.spatial({u}, d)
                X[vh, vi, vd] = T.float32(0)
        for t in range({tiles}):
            for j, d in T.grid({columns}, {w}):
                with T.block("Ks"):
                    vh, vj, vd = T.axis.spatial({h}, h), T.axis.spatial({ks}, t * {columns} + j), T.axis.spatial({w}, d)
                    Ks[vh, vj, vd] = {key}
            for j, d in T.grid({columns}, {u}):
                with T.block("Vs"):
                    vh, vj, vd = T.axis.spatial({h}, h), T.axis.spatial({ks}, t * {columns} + j), T.axis.spatial({u}, d)
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
                    Y[vh, vi, vj] = T.if_then_else({inside}, {score}, T.float32("-inf"))
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
                    C[vh, vi] = T.{exp}(M[vh, vi] - T.max(M[vh, vi], N[vh, vi, vt]))
                    M[vh, vi] = T.max(M[vh, vi], N[vh, vi, vt])
                    L[vh, vi] = L[vh, vi] * C[vh, vi]
            for i, j in T.grid({rows}, {columns}):
                with T.block("E"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vj = T.axis.spatial({ks}, t * {columns} + j)
                    E[vh, vi, vj] = T.{exp}(Y[vh, vi, vj] - M[vh, vi])
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
            for i, d in T.grid({rows}, {u}):
                with T.block("G"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vd, vt = T.axis.spatial({u}, d), T.axis.opaque({kt}, t)
                    X[vh, vi, vd] = X[vh, vi, vd] * C[vh, vi]
            for i, d, j in T.grid({rows}, {u}, {columns}):
                with T.block("X"):
                    vh, vi = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i)
                    vd, vj = T.axis.spatial({u}, d), T.axis.reduce({ks}, t * {columns} + j)
                    X[vh, vi, vd] += T.Cast("float32", P[vh, vi, vj]) * T.Cast("float32", Vs[vh, vj, vd])
        for i, d in T.grid({rows}, {u}):
            with T.block("O"):
                vh, vi, vd = T.axis.spatial({h}, h), T.axis.spatial({qs}, b * {rows} + i), T.axis.spatial({u}, d)
                T.where(b * {rows} + i < {n} and d < {e})
                O[{O.index}] = T.Cast("{out}", X[vh, vi, vd] / L[vh, vi])
"""
