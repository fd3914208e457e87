"""Blocks with a reduce iter of extent 1 and no init; sums of which a loop of one iteration runs all."""

from __future__ import annotations

import pytest
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule


def stages(extent: int = 1):
    """B is left over from a reduction of extent 1: it has no init, and stores each element once."""
    return program(
        f"A:{extent}x8 C:8; B:8 D:8",
        nest(
            f"i:{extent}",
            nest("j:8", sblock("B", "RS i j", "B[vj] = A[vi, vj] + 1.0")),
            each("D j:8", "D[vj] = B[7 - vj] + B[vj]"),
        ),
        each("C", "C[vi] = D[vi] * 2.0"),
    )


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
    return program(
        "A:4x6 D:4; P:4 C:4",
        nest(
            f"i:4 k_0:{extent}",
            nest(
                f"k_1:{6 // extent}",
                sblock("P", f"vi:4=i vk:6R=k_0 * {6 // extent} + k_1", "P[vi] += A[vi, vk]", init="P[vi] = 0.0"),
            ),
            sblock("C", "vi:4=i", "C[vi] = P[vi] * 2.0"),
        ),
        each("D:4", "D[vi] = C[vi] + 1.0"),
    )


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
