"""Attention by an online softmax: keys come in tiles, and what was summed so far is scaled when the maximum grows."""

from __future__ import annotations

import numpy as np

from tir_mlir import Schedule
from tir_mlir.script import tir as T


def online_softmax(n: int, m: int, d: int, b: int, own_factor: bool = True):
    """Attention of n queries to m keys of width d, in tiles of b keys; a row at a time, without a schedule.

    `own_factor`: each row has an element of C, the factor for what was summed up with the old maximum.
    """
    tiles, own, row = m // b, int(own_factor), "S" if own_factor else "O"

    @T.prim_func
    def attention(
        Q: T.Buffer((n, d), "float32"),
        K: T.Buffer((m, d), "float32"),
        V: T.Buffer((m, d), "float32"),
        O: T.Buffer((n, d), "float32"),  # noqa: E741
    ):
        S = T.alloc_buffer((n, m))  # scores, and weights
        P = T.alloc_buffer((n, m))
        N = T.alloc_buffer((n, tiles))  # maximum of a tile, and of all tiles so far
        M = T.alloc_buffer((n,))
        C = T.alloc_buffer((n,))
        L = T.alloc_buffer((n,))
        for i in range(n):
            with T.block("start"):
                vi = T.axis.spatial(n, i)
                M[vi] = T.min_value("float32")
                L[vi] = 0.0
            for e in range(d):
                with T.block("zero"):
                    vi, ve = T.axis.remap("SS", [i, e])
                    O[vi, ve] = 0.0
            for t in range(tiles):
                for j, k in T.grid(b, d):
                    with T.block("S"):
                        vi, vk = T.axis.remap("SR", [i, k])
                        vj = T.axis.spatial(m, t * b + j)
                        with T.init():
                            S[vi, vj] = 0.0
                        S[vi, vj] += Q[vi, vk] * K[vj, vk]
                for j in range(b):
                    with T.block("N"):
                        vi, vt, vj = T.axis.remap("SSR", [i, t, j])
                        with T.init():
                            N[vi, vt] = T.min_value("float32")
                        N[vi, vt] = T.max(N[vi, vt], S[vi, vt * b + vj])
                with T.block("M"):
                    vi, vt = T.axis.remap(row + "O", [i, t])
                    C[vi * own] = T.exp(M[vi] - T.max(M[vi], N[vi, vt]))
                    M[vi] = T.max(M[vi], N[vi, vt])
                    L[vi] = L[vi] * C[vi * own]
                for j in range(b):
                    with T.block("P"):
                        vi = T.axis.spatial(n, i)
                        vj = T.axis.spatial(m, t * b + j)
                        P[vi, vj] = T.exp(S[vi, vj] - M[vi])
                for j in range(b):
                    with T.block("L"):
                        vi = T.axis.spatial(n, i)
                        vj = T.axis.reduce(m, t * b + j)
                        L[vi] = L[vi] + P[vi, vj]
                for e in range(d):
                    with T.block("G"):
                        vi, ve, vt = T.axis.remap(row + "SO", [i, e, t])
                        O[vi, ve] = O[vi, ve] * C[vi * own]
                for j, e in T.grid(b, d):
                    with T.block("O"):
                        vi, ve = T.axis.remap("SS", [i, e])
                        vj = T.axis.reduce(m, t * b + j)
                        O[vi, ve] = O[vi, ve] + P[vi, vj] * V[vj, ve]
            for e in range(d):
                with T.block("D"):
                    vi, ve = T.axis.remap("SS", [i, e])
                    O[vi, ve] = O[vi, ve] / L[vi]

    return attention


def row_tile(sch: Schedule, rows: int) -> None:
    """Run each stage for a tile of rows: two fissions around the loop over keys, and one for each stage in it."""
    i_0, rest = sch.split(sch.get_loops("start")[0], [None, rows])
    for block in ("start", "zero", "O"):
        _, rest = sch.fission(rest, after=block)
    _, i_1, t = sch.get_loops("S")[:3]
    sch.reorder(t, i_1)
    rest = i_1
    for block in ("S", "N", "M", "P", "L", "G"):
        _, rest = sch.fission(rest, after=block)
    sch.parallel(i_0)


def in_numpy(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.T
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights @ v / weights.sum(1, keepdims=True)
