"""reverse_compute_at under a loop that computes an element several times: only the last run counts."""

from __future__ import annotations

import pytest
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleWarning


def repeated(use: str = "P[vi] + 1.0", guard: str = ""):
    """Every element of P is computed once an iteration of t, with another value each time; the last ones count."""
    return program(
        "A:3x8 C:8 ; P:8", each("P t:3O i:8", f"{guard}", "P[vi] = A[vt, vi] * 2.0"), each("C", f"C[vi] = {use}")
    )


SHAPES = [((3, 8), "float32"), ((8,), "float32")]
EARLY = 'also runs on values of block "P" that are not final; only its last run has the final values'


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("guard", ["", "T.where(i + 4 * t < 9)"])
def test_the_last_run_has_final_values(level, guard, same_result):
    program = repeated(guard=guard)
    sch = Schedule(program)
    with pytest.warns(ScheduleWarning, match=EARLY):
        sch.reverse_compute_at("C", sch.get_loops("P")[level])
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_elements_of_other_iterations_at_the_outer_loop(same_result):
    program = repeated("P[vi] + P[7 - vi]")
    sch = Schedule(program)
    with pytest.warns(ScheduleWarning, match=EARLY):
        sch.reverse_compute_at("C", sch.get_loops("P")[0])
    same_result(sch, program, *SHAPES)


def test_elements_that_no_iteration_has_written_yet_are_refused(refused):
    sch = Schedule(repeated("P[vi] + P[7 - vi]"))
    message = r'block "C" reads P\[1\], which is not written yet at t = 0, i = 0'
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("P")[1]))


def test_early_values_are_no_divisors(refused):
    sch = Schedule(repeated('T.Cast("float32", 7 // T.Cast("int32", P[vi]))'))
    message = 'under loop t block "P" is not final yet; block "C" computes arith.*, which may trap'
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("P")[0]))


def softmax_rows():
    """T is computed from the maximum M, which the loop k is still accumulating."""
    return program(
        "A:5x7 C:5x7; M:5 S:5x7",
        nest(
            "i:5 k:7",
            sblock("M", "SR i k", "M[vi] = T.max(M[vi], A[vi, vk])", init="M[vi] = T.min_value('float32')"),
            nest("j:7", sblock("S", "SS i j", "S[vi, vj] = A[vi, vj] - M[vi]")),
        ),
        each("C:5x7", "C[vi, vj] = S[vi, vj] * 2.0"),
    )


@pytest.mark.parametrize("level", [1, 2])
def test_what_depends_on_a_sum_that_is_not_finished(level, same_result):
    program = softmax_rows()
    sch = Schedule(program)
    with pytest.warns(ScheduleWarning, match='values of block "S" that are not final'):
        sch.reverse_compute_at("C", sch.get_loops("S")[level])
    same_result(sch, program, ((5, 7), "float32"), ((5, 7), "float32"))
    assert sch.verify()
