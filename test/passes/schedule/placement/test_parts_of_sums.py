"""reverse_compute_at of a sum that accumulates parts, where loops around both places already run a part of it."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script.parser import parse

ROWS = parse("""
@T.prim_func
def main(A: T.Buffer((2, 9), "float32"), C: T.Buffer((2,), "float32")):
    B = T.alloc_buffer((2, 9), "float32")
    for i, ko in T.grid(2, 3):
        for kk, ii in T.grid(4, 2):
            with T.block("B"):
                vi = T.axis.spatial(2, ii)
                vk = T.axis.spatial(9, ko * 4 + kk)
                T.where(ko * 4 + kk < 9)
                B[vi, vk] = A[vi, vk] + 1.0
        for ki in range(4):
            with T.block("C"):
                vi = T.axis.spatial(2, i)
                vk = T.axis.reduce(9, ko * 4 + ki)
                T.where(ko * 4 + ki < 9)
                with T.init():
                    C[vi] = 0.0
                C[vi] += B[vi, vk]
""")


def test_only_the_part_of_the_common_loops_moves(same_result):
    sch = Schedule(ROWS)
    sch.reverse_compute_at("C", sch.get_loops("B")[2])
    assert [sch.get(lp).name for lp in sch.get_loops("C")] == ["i", "ko", "kk"]
    same_result(sch, ROWS, ((2, 9), "float32"), ((2,), "float32"))
    assert sch.verify()


def test_a_part_that_two_iterations_would_add_is_refused(refused):
    sch = Schedule(ROWS)
    message = 'some parts of the reduction of block "C" would be accumulated twice'
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("B")[3]))
