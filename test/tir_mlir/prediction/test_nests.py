"""Loops of code beside those of the program."""

from dataclasses import replace

from programs.products import product

from tir_mlir import Schedule
from tir_mlir.prediction.executions import CodePiece
from tir_mlir.prediction.nests import LoopNest, loop_nests, name_of, with_runs_of_nests

NESTS = [LoopNest(("k", "j", "i"), (288, 14, 11))]


RUNS = 288 * 14 * 11


def piece(trips, executions, known, certain=True):
    return CodePiece("main", "bb1", 3, trips, executions, ("nop",), True, known, "", certain)


def test_what_llvm_did_not_count_runs_as_often_as_the_loop_of_the_program():
    (found,) = with_runs_of_nests([piece(144, 10.0, False)], NESTS)
    assert found.executions == 288 * 14 * 11 / 2  # two iterations in one
    two = with_runs_of_nests([piece(288, 30.0, False), piece(288, 10.0, False)], NESTS)
    assert [p.executions for p in two] == [288 * 14 * 11 * 0.75, 288 * 14 * 11 * 0.25]


def test_code_of_full_and_partial_tiles_shares_the_loops_of_the_program():
    full, part = with_runs_of_nests([piece(144, 90.0, False), piece(96, 6.0, False)], NESTS)
    assert 2 * full.executions + 3 * part.executions == RUNS and full.executions == 15 * part.executions


def test_code_without_a_trip_count_is_the_loops_that_remain():
    lost = replace(piece(8, 10.0, False), counted=False)
    inner = LoopNest(("k", "j"), (255, 7))
    nests = [LoopNest(("j",), (7,)), inner, LoopNest(("x",), (100,))]
    assert [p.executions for p in with_runs_of_nests([lost, piece(100, 5.0, True)], nests)] == [inner.runs, 5.0]


def test_what_a_branch_may_skip_runs_what_is_left():
    _, part = with_runs_of_nests([piece(288, RUNS * 0.75, True), piece(96, RUNS / 2, True, certain=False)], NESTS)
    assert part.executions == RUNS / 4 / 3


def test_what_a_branch_may_skip_does_not_run_where_other_code_has_all_iterations():
    whole = piece(288, float(RUNS), True)
    assert with_runs_of_nests([whole, piece(288, RUNS / 2, True, certain=False)], NESTS) == [whole]


def test_code_without_a_trip_count_fills_no_buffer():
    lost, copied = replace(piece(8, 10.0, False), counted=False), LoopNest(("y", "x"), (50, 3))
    (found,) = with_runs_of_nests([lost], [LoopNest(("i", "j"), (4, 64), fills=True), copied])
    assert found.executions == copied.runs


def test_a_loop_that_stores_zeros_fills():
    sch = Schedule(product(8, 8, 8))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    assert [nest.fills for nest in loop_nests(sch.mod.mlir)] == [True, True, False, False, False]


def test_counted_code_is_of_the_loop_that_runs_as_often():
    rows = LoopNest(("i",), (50,))  # 25 iterations are a half of these, too
    one = piece(25, 175 * 14 * 11 / 7, True, certain=False)
    nests = [rows, LoopNest(("k", "j", "i"), (175, 14, 11))]
    assert with_runs_of_nests([one], nests) == [one]


def test_what_is_counted_exactly_is_no_part_of_what_is_not():
    _, rest = with_runs_of_nests([piece(288, RUNS * 0.75, True), piece(288, 30.0, False)], NESTS)
    assert rest.executions == RUNS / 4


def test_what_is_counted_or_is_no_loop_of_the_program_stays():
    for one in (piece(144, 10.0, True), piece(100, 10.0, False)):
        assert with_runs_of_nests([one], NESTS) == [one]


def test_names():
    assert name_of(piece(144, 144 * 14 * 11, True), NESTS) == "k (288 times) in j"
    assert name_of(piece(144, 5.0, True), NESTS) == "%bb1 (144 times)"
