"""Loops of code beside those of the program."""

from dataclasses import replace

from tir_mlir.prediction.executions import CodePiece
from tir_mlir.prediction.nests import LoopNest, name_of, with_runs_of_nests

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
