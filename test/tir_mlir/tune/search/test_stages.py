"""Stages: blocks by their work, then all together."""

import pytest
from harness.searches import FakeLab, session

from tir_mlir.tune.search.stages import SearchStage, stages
from tir_mlir.tune.search.suggestions import SpaceChoice
from tir_mlir.tune.spaces.deciders import Defaults


def choices(*names):
    return [SpaceChoice(name, 0, 3, 0) for name in names]


def test_blocks_have_trials_by_their_work_then_all_are_searched():
    work = {"C": 900.0, "D": 100.0}
    found = stages(choices("D.rows", "C.rows", "C.depth"), work.__getitem__, 64, 4)
    assert found == [SearchStage("C.", 43), SearchStage("D.", 49), SearchStage("", 64)]


@pytest.mark.parametrize("names", [("C.rows", "C.depth"), ("C.rows", "tile(i)"), ("tile(i)", "tile(j)"), ()])
def test_without_blocks_to_tell_apart_there_is_one_stage(names):
    assert stages(choices(*names), lambda _: 1.0, 64, 1) == [SearchStage("", 64)]


def test_few_trials_are_not_split():
    assert stages(choices("C.rows", "D.rows"), lambda _: 1.0, 6, 1) == [SearchStage("", 6)]


def test_a_block_without_a_choice_has_no_stage():
    only = [*choices("C.rows"), SpaceChoice("D.rows", 0, 1, 0)]
    assert stages(only, lambda _: 1.0, 64, 1) == [SearchStage("", 64)]


def two_blocks(sch):
    for name in ("P.a", "P.b", "Q.a"):
        sch.sample_categorical([0, 1, 2, 3], [0.4, 0.2, 0.2, 0.2], name=name)


def away(decisions):
    """Least at 3, 3, 2."""
    return 1e-3 * (1 + abs(decisions["P.a"] - 3) + abs(decisions["P.b"] - 3) + abs(decisions["Q.a"] - 2))


def run(trials, planned):
    lab = FakeLab(away)
    search = session(two_blocks, trials=trials, lab=lab)
    search.proposals.enqueue(Defaults(), "library")
    search.begin_stages(planned)
    search.run()
    return search, lab


def test_in_the_stage_of_a_block_the_others_keep_their_best():
    _, lab = run(12, [SearchStage("P.", 8), SearchStage("Q.", 11), SearchStage("", 12)])
    assert {d["Q.a"] for d in lab.asked[:8]} == {0}
    best = min(lab.asked[:8], key=away)
    assert all((d["P.a"], d["P.b"]) == (best["P.a"], best["P.b"]) for d in lab.asked[8:11])


def test_a_block_that_has_no_more_candidates_leaves_its_trials_to_the_others():
    search, lab = run(20, [SearchStage("Q.", 10), SearchStage("P.", 18), SearchStage("", 20)])
    assert len(search.results) == 20
    assert [d["Q.a"] for d in lab.asked[:4]].count(0) == 1 and {d["P.a"] for d in lab.asked[:4]} == {0}
    assert {d["Q.a"] for d in lab.asked[4:18]} == {2}


def test_together_the_sampler_knows_all_results():
    search, _ = run(20, [SearchStage("P.", 10), SearchStage("Q.", 14), SearchStage("", 20)])
    known = search.proposals.study.get_trials(deepcopy=False)
    assert sum(t.state.name == "COMPLETE" and len(t.params) == 3 for t in known) >= 20
