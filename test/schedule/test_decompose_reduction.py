"""decompose_reduction: the init of a reduction becomes a block of its own."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def row_sums(n: int, k: int):
    @I.ir_module
    class RowSums:
        @T.prim_func
        def main(A: T.Buffer((n, k), "float32"), C: T.Buffer((n,), "float32")):
            for i, r in T.grid(n, k):
                with T.block("C"):
                    vi, vr = T.axis.remap("SR", [i, r])
                    with T.init():
                        C[vi] = 0.0
                    C[vi] += A[vi, vr]

    return RowSums


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (15, 16), (17, 127)])
def test_at_every_loop(at, n, k, same_result):
    sch = Schedule(row_sums(n, k))
    update = sch.get_block("C")
    init = sch.decompose_reduction(update, sch.get_loops("C")[at])
    assert sch.get(init).name == "C_init" and sch.get(update).name == "C_update"
    text = sch.mod.script()
    assert ("for i_init in range" in text) == (at == 0)
    assert "with T.init():" not in text
    same_result(sch, row_sums(n, k), ((n, k), "float32"), ((n,), "float32"))


def test_ragged_tiles(same_result):
    sch = Schedule(row_sums(17, 13))
    i, r = sch.get_loops("C")
    sch.split(i, [None, 4])
    r_0, _ = sch.split(r, [None, 5])
    sch.decompose_reduction("C", r_0)
    same_result(sch, row_sums(17, 13), ((17, 13), "float32"), ((17,), "float32"))


def test_refusals(refused):
    sch = Schedule(row_sums(8, 8))
    i, r = sch.get_loops("C")
    r_0, r_1 = sch.split(r, [2, 4])
    refused(sch, "the init would run again in the middle of the sum", lambda: sch.decompose_reduction("C", r_1))
    init = sch.decompose_reduction("C", r_0)
    refused(sch, "no init, so it is not a reduction", lambda: sch.decompose_reduction("C_update", i))
    refused(sch, "no init, so it is not a reduction", lambda: sch.decompose_reduction(init, i))
