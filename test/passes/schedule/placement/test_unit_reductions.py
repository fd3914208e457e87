"""Blocks with a reduce iter of extent 1 and no init; sums of which a loop of one iteration runs all."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script.parser import parse


def stages(extent: int = 1):
    """B is left over from a reduction of extent 1: it has no init, and stores each element once."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({extent}, 8), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    D = T.alloc_buffer((8,), "float32")
    for i in range({extent}):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("RS", [i, j])
                B[vj] = A[vi, vj] + 1.0
        for j in range(8):
            with T.block("D"):
                vj = T.axis.spatial(8, j)
                D[vj] = B[7 - vj] + B[vj]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = D[vi] * 2.0
""")


SHAPES = [((1, 8), "float32"), ((8,), "float32")]


def test_the_consumer_of_a_unit_reduction_moves(same_result):
    program = stages()
    sch = Schedule(program)
    sch.compute_at("D", sch.get_loops("C")[0])
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_a_unit_reduction_moves(same_result):
    program = stages()
    sch = Schedule(program)
    sch.compute_at("D", sch.get_loops("C")[0])
    sch.compute_at("B", sch.get_loops("C")[0])
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_a_unit_reduction_is_inlined(same_result):
    program = stages()
    sch = Schedule(program)
    sch.compute_inline("B")
    same_result(sch, program, *SHAPES)


@pytest.mark.parametrize("step", ["compute_at", "compute_inline"])
def test_longer_reductions_without_init_are_refused(step, refused):
    sch = Schedule(stages(3))
    message = 'block "B" has the reduce iter vi, so it is not a complete block; all must be spatial'
    args = [sch.get_loops("C")[0]] if step == "compute_at" else []
    block = "D" if step == "compute_at" else "B"
    refused(sch, message, lambda: getattr(sch, step)(block, *args))


def with_unit_loop(extent: int = 1):
    """The outer loop of a split sum, k_0, is around the sum and what reads it."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), D: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((4,))
    C = T.alloc_buffer((4,))
    for i, k_0 in T.grid(4, {extent}):
        for k_1 in range({6 // extent}):
            with T.block("P"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.reduce(6, k_0 * {6 // extent} + k_1)
                with T.init():
                    P[vi] = 0.0
                P[vi] += A[vi, vk]
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = P[vi] * 2.0
    for i in range(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = C[vi] + 1.0
""")


STEPS = {
    "compute_at": lambda sch: sch.compute_at("C", sch.get_loops("D")[0]),
    "reverse_compute_at": lambda sch: sch.reverse_compute_at("D", sch.get_loops("C")[1]),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_loop_of_one_iteration_runs_the_whole_sum(step, same_result):
    program = with_unit_loop()
    sch = Schedule(program)
    step(sch)
    same_result(sch, program, ((4, 6), "float32"), ((4,), "float32"))
    assert sch.verify()


def test_a_loop_of_more_iterations_does_not(refused):
    sch = Schedule(with_unit_loop(2))
    message = 'block "C" reads P during the reduction of block "P" over loop k_0'
    refused(sch, message, lambda: STEPS["compute_at"](sch))
