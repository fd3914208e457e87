"""blockize: the loops of a tile become the inside of a block."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def matmul(n: int, m: int, k: int):
    @I.ir_module
    class Matmul:
        @T.prim_func
        def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((m, k), "float32"), C: T.Buffer((n, m), "float32")):
            for i, j, r in T.grid(n, m, k):
                with T.block("C"):
                    vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                    with T.init():
                        C[vi, vj] = 0.0
                    C[vi, vj] += A[vi, vr] * B[vj, vr]

    return Matmul


def sizes(n: int, m: int, k: int):
    return ((n, k), "float32"), ((m, k), "float32"), ((n, m), "float32")


def tiled(mod, factor: int):
    """A schedule with every loop split by `factor`, tile loops inside; the outermost tile loop."""
    sch = Schedule(mod)
    pairs = [sch.split(loop, [None, factor]) for loop in sch.get_loops("C")]
    sch.reorder(*[p[0] for p in pairs], *[p[1] for p in pairs])
    return sch, pairs[0][1]


@pytest.mark.parametrize(("n", "m", "k"), [(16, 16, 16), (17, 15, 1), (1, 16, 33)])
def test_a_tile_becomes_a_block(n, m, k, same_result):
    sch, inner = tiled(matmul(n, m, k), 4)
    outer = sch.blockize(inner)
    assert sch.get(outer).name == "C_o"
    assert [kind for _, kind in sch.get(outer).iters] == ["S", "S", "R"]
    assert sch.get(sch.get_block("C")).name == "C"
    same_result(sch, matmul(n, m, k), *sizes(n, m, k))


def test_names_and_regions():
    sch, inner = tiled(matmul(16, 16, 16), 4)
    sch.blockize(inner)
    text = sch.mod.script()
    assert 'vi_o, vj_o, vr_o = T.axis.remap("SSR", [i_0, j_0, r_0])' in text
    assert "T.writes(C[vi_o * 4:vi_o * 4 + 4, vj_o * 4:vj_o * 4 + 4])" in text
    assert 'with T.block("C_init"):' in text and "vi_i_init, vj_i_init" in text


def test_the_whole_nest(same_result):
    sch = Schedule(matmul(5, 6, 7))
    outer = sch.blockize(sch.get_loops("C")[0])
    assert sch.get_loops(outer) == []
    same_result(sch, matmul(5, 6, 7), *sizes(5, 6, 7))


def test_refusals(refused):
    @I.ir_module
    class Two:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = A[vi] * 2.0

    sch = Schedule(Two)
    refused(sch, "exactly one block", lambda: sch.blockize(sch.get_loops("B")[0]))
    other = Schedule(matmul(16, 16, 16))
    i, j, r = other.get_loops("C")
    fused = other.fuse(i, j)
    _, inner = other.split(fused, [None, 24])
    refused(other, "mixes outer and inner loops|tile", lambda: other.blockize(inner))
