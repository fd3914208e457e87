"""compute_at within one iteration of the loops around both places: inputs that are not final, but do not change."""

from __future__ import annotations

import pytest
from programs.parsed import parse

from tir_mlir import Schedule

SHAPES = [((4, 6), "float32"), ((4, 6), "float32")]
PLANE = """
        for j in range(6):
            with T.block("P"):
                vi, vj = T.axis.remap("OS", [i, j])
                P[vj] = A[vi, vj] + 1.0"""
SUM = """
        for j in range(6):
            with T.block("P"):
                vj, vi = T.axis.remap("SR", [j, i])
                with T.init():
                    P[vj] = 0.0
                P[vj] += A[vi, vj]"""
AGAIN = """
            with T.block("Q"):
                vi, vj = T.axis.remap("OS", [i, j])
                P[vj] = A[vi, vj] * 3.0"""


def per_iteration(made: str, use: str = "C[5 - vj] + C[vj]", again: str = "", rows: str = "0, 6"):
    """P has other values in each iteration of i; C copies them, and D reads the copy."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), D: T.Buffer((4, 6), "float32")):
    P = T.alloc_buffer((6,))
    C = T.alloc_buffer((6,))
    for i in range(4):{made}
        for j in range({rows}):
            with T.block("C"):
                vj = T.axis.spatial(6, j)
                C[vj] = P[vj]
        for j in range(6):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = {use}{again}
""")


@pytest.mark.parametrize("made", [PLANE, SUM], ids=["plane", "sum"])
@pytest.mark.parametrize("use", ["C[5 - vj] + C[vj]", "C[vj] * 2.0"])
def test_inputs_of_the_same_iteration(made, use, same_result):
    program = per_iteration(made, use)
    sch = Schedule(program)
    sch.compute_at("C", sch.get_loops("D")[1])
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_inputs_that_change_under_the_loop_are_refused(refused):
    sch = Schedule(per_iteration(PLANE, again=AGAIN))
    refused(sch, "P, which the block reads, is written by 2 blocks", lambda: sch.compute_at("C", sch.get_loops("D")[1]))


def test_values_of_an_earlier_iteration_are_refused(refused):
    text = per_iteration(SUM).script()
    text = text.replace(
        'for j in range(6):\n                with T.block("C")',
        'for j in range(i, i + 1):\n                with T.block("C")',
    )
    text = text.replace("C[5 - vj] + C[vj]", "T.if_then_else(vj <= vi, C[vj], T.float32(0))")
    sch = Schedule(parse(text))
    message = 'block "C" reads P during the reduction of block "P" over loop i'
    refused(sch, message, lambda: sch.compute_at("C", sch.get_loops("D")[1]))
