"""Loops of code beside those of the program."""

from tir_mlir.prediction.executions import CodePiece
from tir_mlir.prediction.nests import LoopNest, name_of, with_runs_of_nests

NESTS = [LoopNest(("k", "j", "i"), (288, 14, 11))]


def piece(trips, executions, known):
    return CodePiece("main", "bb1", 3, trips, executions, ("nop",), True, known)


def test_what_llvm_did_not_count_runs_as_often_as_the_loop_of_the_program():
    (found,) = with_runs_of_nests([piece(144, 10.0, False)], NESTS)
    assert found.executions == 288 * 14 * 11 / 2  # two iterations in one
    two = with_runs_of_nests([piece(288, 30.0, False), piece(288, 10.0, False)], NESTS)
    assert [p.executions for p in two] == [288 * 14 * 11 * 0.75, 288 * 14 * 11 * 0.25]


def test_what_is_counted_or_is_no_loop_of_the_program_stays():
    for one in (piece(144, 10.0, True), piece(100, 10.0, False)):
        assert with_runs_of_nests([one], NESTS) == [one]


def test_names():
    assert name_of(piece(144, 144 * 14 * 11, True), NESTS) == "k (288 times) in j"
    assert name_of(piece(144, 5.0, True), NESTS) == "%bb1 (144 times)"
