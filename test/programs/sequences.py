"""Programs whose iterations depend on earlier ones, or scatter, with what NumPy computes."""

from __future__ import annotations

import numpy as np
from programs.parsed import parse
from programs.short import nest, program, sblock


def cumulative(n: int, m: int, kind: str = "opaque"):
    """Sums of the beginnings of each row."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "float32"), C: T.Buffer(({n}, {m}), "float32")):
    for i, j in T.grid({n}, {m}):
        with T.block("C"):
            vi = T.axis.spatial({n}, i)
            vj = T.axis.{kind}({m}, j)
            C[vi, vj] = T.if_then_else(vj == 0, T.float32(0), C[vi, vj - 1]) + A[vi, vj]
""")


def two_planes(steps: int, n: int, time: str = "opaque", place: str = "spatial"):
    """Time steps of a stencil between the two planes of one buffer."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((2, {n + 2}), "float32")):
    for t, i in T.grid({steps}, {n}):
        with T.block("A"):
            vt = T.axis.{time}({steps}, t)
            vi = T.axis.{place}({n}, i)
            A[(vt + 1) % 2, vi + 1] = A[vt % 2, vi] + A[vt % 2, vi + 2]
""")


def two_planes_in_numpy(a: np.ndarray, steps: int) -> None:
    for t in range(steps):
        a[(t + 1) % 2, 1:-1] = a[t % 2, :-2] + a[t % 2, 2:]


def triangular(n: int, m: int, kind: str = "opaque"):
    """The solution of L X = B for a lower triangle L, column by column."""
    return parse(f"""
@T.prim_func
def main(L: T.Buffer(({n}, {n}), "float32"), B: T.Buffer(({n}, {m}), "float32"), X: T.Buffer(({n}, {m}), "float32")):
    for j, i in T.grid({m}, {n}):
        with T.block("X"):
            vj = T.axis.spatial({m}, j)
            vi = T.axis.{kind}({n}, i)
            X[vi, vj] = B[vi, vj]
            for k in range(vi):
                X[vi, vj] = X[vi, vj] - L[vi, k] * X[k, vj]
            X[vi, vj] = X[vi, vj] / L[vi, vi]
""")


def histogram(n: int, m: int, bins: int, kind: str = "reduce", update: str = "H[at] + 1", at: str = "X[vi, vj]"):
    """How often each number occurs in a matrix. `at`: the element that is updated."""
    update = update.replace("at", at)
    return program(
        f"X:{n}x{m}:int32 H:{bins}:int32",
        nest(
            f"i:{n} j:{m}",
            sblock("H", "", f"vi = T.axis.{kind}({n}, i)", f"vj = T.axis.{kind}({m}, j)", f"H[{at}] = {update}"),
        ),
    )


def row_histograms(rows: int, n: int, bins: int, update: str = "1", row: str = "vb"):
    """How often each number occurs in each row. `row`: the index of the row that is counted in."""
    at = f"H[{row}, X[vb, vi]]"
    return program(
        f"X:{rows}x{n}:int32 H:{rows}x{bins}:int32",
        nest(f"b:{rows} i:{n}", sblock("H", f"vb:{rows}=b vi:{n}R=i", f"{at} = {at} + {update}")),
    )


def cumulative_down(n: int, m: int):
    """Sums of the beginnings of each column."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "float32"), C: T.Buffer(({n}, {m}), "float32")):
    for i, j in T.grid({n}, {m}):
        with T.block("C"):
            vi = T.axis.opaque({n}, i)
            vj = T.axis.spatial({m}, j)
            C[vi, vj] = T.if_then_else(vi == 0, T.float32(0), C[vi - 1, vj]) + A[vi, vj]
""")


def largest(n: int, m: int, k: int, kinds: str = "SOO"):
    """The k largest numbers of each row: each is inserted into a sorted list. Iters: row, number, rank."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "float32"), V: T.Buffer(({n}, {k}), "float32")):
    x = T.alloc_buffer(({n},))
    y = T.alloc_buffer(({n},))
    for i, k in T.grid({n}, {k}):
        with T.block("start"):
            vi, vk = T.axis.remap("SS", [i, k])
            V[vi, vk] = T.min_value("float32")
    for i, j, k in T.grid({n}, {m}, {k}):
        with T.block("insert"):
            vi, vj, vk = T.axis.remap("{kinds}", [i, j, k])
            x[vi] = T.if_then_else(vk == 0, A[vi, vj], x[vi])
            y[vi] = T.min(V[vi, vk], x[vi])
            V[vi, vk] = T.max(V[vi, vk], x[vi])
            x[vi] = y[vi]
""")
