"""compute_inline past a write that computes an input again: the same value, or another one."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script.parser import parse


def rows(iters: str = "", index: str = "vk", extent: str = "16"):
    """Each iteration of j computes row i of X again; Y reads one element of it."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    X = T.alloc_buffer((4, 16), "float32")
    Y = T.alloc_buffer((4, 16), "float32")
    for i in range(4):
        for j in range(16):
            for k in range({extent}):
                with T.block("X"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    {iters}
                    X[vi, vk] = A[vi, {index}] * 2.0
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + 1.0
        for j in range(16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = Y[vi, vj] * 3.0
""")


@pytest.mark.parametrize("extent", ["16", "j + 1"])
def test_the_same_values(extent, same_result):
    program = rows(extent=extent)
    sch = Schedule(program)
    sch.compute_inline("Y")
    same_result(sch, program, ((4, 16), "float32"), ((4, 16), "float32"))
    assert sch.verify()


def test_other_values_are_refused(refused):
    sch = Schedule(rows("vj = T.axis.opaque(16, j)", "vj"))
    message = 'X is written between block "Y", which reads it, and block "C": inlined, Y would differ'
    refused(sch, message, lambda: sch.compute_inline("Y"))
