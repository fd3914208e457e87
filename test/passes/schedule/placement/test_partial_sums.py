"""compute_at and reverse_compute_at do not run a whole sum where its parts were seen one by one."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script import parse

PARTS_READ = """
@T.prim_func
def main(A: T.Buffer((4, 5), "float32"), D: T.Buffer((4, 5), "float32")):
    P = T.alloc_buffer((4,))
    C = T.alloc_buffer((4,))
    for i, k in T.grid(4, 5):
        for u in range(1):
            with T.block("P"):
                vi = T.axis.spatial(4, i)
                P[vi] = A[vi, 0] * 2.0
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0.0
            C[vi] += A[vi, vk] * P[vi]
        for w in range(1):
            with T.block("D"):
                vi, vk = T.axis.remap("SS", [i, k])
                D[vi, vk] = C[vi]
"""
SUM_READ = """
@T.prim_func
def main(A: T.Buffer((4, 5), "float32"), D: T.Buffer((4,), "float32")):
    C = T.alloc_buffer((4,))
    for i in range(4):
        for k in range(5):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                C[vi] += A[vi, vk]
        for w in range(1):
            with T.block("D"):
                vi = T.axis.spatial(4, i)
                D[vi] = C[vi]
"""


def test_a_sum_whose_parts_are_read_does_not_move_to_their_reader(refused):
    sch = Schedule(parse(PARTS_READ))
    refused(sch, 'loop k.* runs the reduction of block "C"', lambda: sch.compute_at("C", sch.get_loops("D")[2]))


def test_a_sum_whose_parts_are_read_does_not_move_to_its_producer(refused):
    sch = Schedule(parse(PARTS_READ))
    refused(sch, 'loop k.* runs the reduction of block "C"', lambda: sch.reverse_compute_at("C", sch.get_loops("P")[2]))


def test_a_sum_read_after_its_loop_moves(same_result):
    sch = Schedule(parse(SUM_READ))
    sch.compute_at("C", sch.get_loops("D")[1])
    same_result(sch, parse(SUM_READ), ((4, 5), "float32"), ((4,), "float32"))
