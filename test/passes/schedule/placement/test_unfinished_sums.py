"""reverse_compute_at under the loop of a sum: only the last run of the consumer has final values."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.reduction import scaled_row_sums

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleWarning

PARTIAL = 'also runs on partial sums of block "S"'


def sums(use: str, more: str = "", n: str = "7", dtype: str = "float32") -> str:
    """A sum S over k of rows of length `n`, a block C with the value `use`, and more stages."""
    return f"""
@T.prim_func
def main(h_A: T.handle, h_C: T.handle, h_D: T.handle):
    n = T.int32()
    A = T.match_buffer(h_A, (6, {n}), "{dtype}")
    C = T.match_buffer(h_C, (6,), "{dtype}")
    D = T.match_buffer(h_D, (6,), "{dtype}")
    S = T.alloc_buffer((6,), "{dtype}")
    for i, k in T.grid(6, {n}):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.{dtype}(0)
            S[vi] = S[vi] + A[vi, vk]
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = {use}
{more}"""


def program(*args: str, **options: str):
    text = sums(*args, **options)
    return parse(text if 'n="' in text or "(6, n)" in text else text.replace("    n = T.int32()\n", ""))


SHAPES = [((6, 7), "float32"), ((6,), "float32"), ((6,), "float32")]
READER = """
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[5 - vi]
"""


def test_below_the_sum_of_its_own_element(same_result):
    module = scaled_row_sums(8, 16)
    sch = Schedule(module)
    with pytest.warns(ScheduleWarning, match=PARTIAL):
        sch.reverse_compute_at("C", sch.get_loops("S")[1])
    assert [sch.get(lp).name for lp in sch.get_loops("C")] == ["i", "k"]
    same_result(sch, module, ((8, 16), "float32"), ((8,), "float32"))
    assert sch.verify()


@pytest.mark.parametrize("n", [5, 15, 17])
def test_below_the_outer_part_of_a_sum(n, same_result):
    module = scaled_row_sums(5, n)
    sch = Schedule(module)
    i, k = sch.get_loops("S")
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(k_0, i, k_1)
    with pytest.warns(ScheduleWarning, match=PARTIAL):
        sch.reverse_compute_at("C", k_0)
    assert [sch.get(lp).name for lp in sch.get_loops("C")] == ["k_0", "ax0"]
    same_result(sch, module, ((5, n), "float32"), ((5,), "float32"))


def test_a_reader_outside_the_loops_sees_final_values(same_result):
    module = program("S[vi] * 2.0", READER)
    sch = Schedule(module)
    with pytest.warns(ScheduleWarning, match=PARTIAL):
        sch.reverse_compute_at("C", sch.get_loops("S")[1])
    same_result(sch, module, *SHAPES)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [1, 3, 4])
def test_a_loop_of_one_iteration_finishes_the_sum(n, same_result):
    module = scaled_row_sums(8, n)
    sch = Schedule(module)
    i, k = sch.get_loops("S")
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(k_0, i, k_1)
    sch.reverse_compute_at("C", k_0)
    same_result(sch, module, ((8, n), "float32"), ((8,), "float32"))


def test_a_reader_after_the_sum_in_the_same_row_sees_final_values(same_result):
    module = program("S[vi] * 2.0", READER.replace("5 - vi", "vi"))
    sch = Schedule(module)
    i, k = sch.get_loops("S")
    sch.reverse_compute_at("C", i)
    sch.reverse_compute_at("D", i)
    with pytest.warns(ScheduleWarning, match=PARTIAL):
        sch.reverse_compute_at("C", k)
    assert sch.get_loops("C") == [i, k] and sch.get_loops("D") == [i]
    same_result(sch, module, *SHAPES)


def test_refuses_to_divide_by_a_partial_sum(refused):
    sch = Schedule(program("100 // S[vi]", dtype="int32"))
    message = 'is not finished: .* block "C" computes arith.*, which may trap or go out of bounds on partial sums'
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("S")[1]))


def test_refuses_to_index_by_a_partial_sum(refused):
    sch = Schedule(program("A[S[vi], 0]", dtype="int32"))
    message = 'is not finished: .* block "C" computes memref.load'
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("S")[1]))


def test_refuses_a_sum_of_partial_sums(refused):
    """A reduction would add each partial sum."""
    text = sums("S[vi]").replace(
        """    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = S[vi]
""",
        """    for i in range(6):
        with T.block("C"):
            vo = T.axis.spatial(1, 0)
            vi = T.axis.reduce(6, i)
            with T.init():
                C[vo] = 0.0
            C[vo] = C[vo] + S[vi]
""",
    )
    sch = Schedule(parse(text.replace("    n = T.int32()\n", "")))
    refused(sch, "would be accumulated twice", lambda: sch.reverse_compute_at("C", sch.get_loops("S")[1]))


def test_refuses_a_sum_that_may_be_empty(refused):
    """Without an iteration of k, C would not run at all."""
    sch = Schedule(program("S[vi] * 2.0", n="n"))
    message = r"would not run on the final values, as .*vi=0"
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("S")[1]))


def test_refuses_two_rows_of_which_one_is_not_final(refused):
    """In the last iteration of k, row 5 is written after C[0] has run."""
    sch = Schedule(program("S[vi] + S[5 - vi]"))
    sch.reorder(*reversed(sch.get_loops("S")))
    _, i = sch.get_loops("S")
    refused(sch, "not finished|not written yet|would not run", lambda: sch.reverse_compute_at("C", i))
