"""compute_at past a loop that runs the block's reduction part by part: it runs in full each time, if only the results
of the last time count.
"""

from __future__ import annotations

import pytest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleWarning

COPY = """
                with T.block("D"):
                    vi, vu = T.axis.remap("SS", [i, u])
                    D[vi, vu] = P[vi] + B[vu]
"""
SHAPES = [((6, 7), "float32"), ((3,), "float32"), ((6, 3), "float32")]
AGAIN = 'block "P" runs all of its reduction in each iteration of loop k, which ran it part by part'


def summed(users: str, extent: str = "7", source: str = "A[vi, vk]", before: str = "", guard: str = ""):
    """A sum over k whose parts are used under k."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((3,), "float32"), D: T.Buffer((6, 3), "float32")):
    P = T.alloc_buffer((6,))
    E = T.alloc_buffer((6, 3))
    A_c = T.alloc_buffer((6, 7))
    for i in range(6):
        for k in range({extent}):{before}
            with T.block("P"):
                vi, vk = T.axis.remap("SR", [i, k])
                {guard}
                with T.init():
                    P[vi] = 0.0
                P[vi] += {source}
            for u in range(3):{users}
""")


def moved(program, again: str = AGAIN) -> Schedule:
    sch = Schedule(program)
    with pytest.warns(ScheduleWarning, match=again):
        sch.compute_at("P", sch.get_loops("D")[2])
    return sch


def test_a_reader_that_runs_again_after_the_last_part(same_result):
    program = summed(COPY)
    sch = moved(program)
    same_result(sch, program, *SHAPES)
    assert sch.verify()


NESTED = """
                with T.block("D"):
                    vi, vu = T.axis.remap("SS", [i, u])
                    for e in range(2):
                        with T.block("inner"):
                            ve = T.axis.spatial(2, e)
                            {guard}
                            D[vi, vu] = {value}
"""


def test_a_reader_of_nested_blocks_that_runs_again_after_the_last_part(same_result):
    program = summed(NESTED.format(guard="T.where(e < 1)", value="P[vi] + B[vu]"))
    sch = moved(program)
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_a_reader_of_nested_blocks_that_keeps_a_part_is_refused(refused):
    program = summed(NESTED.format(guard="T.where(e < 1)", value="D[vi, vu] + P[vi]"))
    sch = Schedule(program)
    refused(sch, "part by part", lambda: sch.compute_at("P", sch.get_loops("D")[2]))


def test_a_chain_of_readers(same_result):
    program = summed("""
                with T.block("E"):
                    vi, vu = T.axis.remap("SS", [i, u])
                    E[vi, vu] = P[vi] * 2.0
                with T.block("D"):
                    vi, vu = T.axis.remap("SS", [i, u])
                    D[vi, vu] = E[vi, vu] + B[vu]
""")
    sch = moved(program)
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_inputs_that_are_complete_in_the_first_iteration(same_result):
    before = """
            for c in range(7):
                with T.block("A_c"):
                    vi, vc = T.axis.remap("SS", [i, c])
                    A_c[vi, vc] = A[vi, vc] * 3.0"""
    program = summed(COPY, source="A_c[vi, vk]", before=before)
    same_result(moved(program), program, *SHAPES)


def test_inputs_that_come_part_by_part_too_are_refused(refused):
    before = """
            with T.block("A_c"):
                vi, vc = T.axis.remap("SS", [i, k])
                A_c[vi, vc] = A[vi, vc] * 3.0"""
    sch = Schedule(summed(COPY, source="A_c[vi, vk]", before=before))
    refused(sch, "over vk part by part", lambda: sch.compute_at("P", sch.get_loops("D")[2]))


def test_a_part_that_is_kept_is_refused(refused):
    kept = """
                with T.block("D"):
                    vi, vu, vk = T.axis.remap("SSS", [i, u, k])
                    T.where(k == u)
                    D[vi, vu] = P[vi] + B[vu]
"""
    sch = Schedule(summed(kept))
    refused(sch, "over vk part by part", lambda: sch.compute_at("P", sch.get_loops("D")[2]))


def test_a_reader_of_what_is_overwritten_later_is_refused(refused):
    used = COPY.replace('"D"', '"E"').replace("D[vi, vu]", "E[vi, vu]")
    used += """
                with T.block("D"):
                    vi, vu = T.axis.remap("SS", [i, u])
                    T.where(k == u)
                    D[vi, vu] = E[vi, vu]
"""
    sch = Schedule(summed(used))
    refused(sch, "over vk part by part", lambda: sch.compute_at("P", sch.get_loops("E")[2]))


def test_a_sum_of_the_parts_is_refused(refused):
    total = """
                with T.block("D"):
                    vi, vu, vk = T.axis.remap("SSR", [i, u, k])
                    with T.init():
                        D[vi, vu] = 0.0
                    D[vi, vu] += P[vi] * B[vu]
"""
    sch = Schedule(summed(total))
    refused(sch, "over vk part by part", lambda: sch.compute_at("P", sch.get_loops("D")[2]))


def test_a_reader_under_a_condition_on_data_is_refused(refused):
    asked = COPY.replace("D[vi, vu] = P", "if P[vi] < 1.0:\n                        D[vi, vu] = P")
    sch = Schedule(summed(asked))
    refused(sch, "over vk part by part", lambda: sch.compute_at("P", sch.get_loops("D")[2]))


def test_ragged_parts(same_result):
    program = summed(COPY)
    sch = Schedule(program)
    sch.split(sch.get_loops("P")[1], [None, 2])
    with pytest.warns(ScheduleWarning, match="in each iteration of loop k_0"):
        sch.compute_at("P", sch.get_loops("D")[3])
    same_result(sch, program, *SHAPES)
    assert sch.verify()
