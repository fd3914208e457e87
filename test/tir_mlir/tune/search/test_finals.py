"""The finals: measured in turns, verified, never slower than the library's choice."""

import numpy as np
import pytest
from harness.searches import Copy, FakeLab, bowl, three_by_four

from tir_mlir.errors import NotChecked, TuneError, TuneWarning
from tir_mlir.tune.records.comparison import ScheduleDiffers, verify_schedule
from tir_mlir.tune.search.candidates import draw_candidate
from tir_mlir.tune.search.finals import LIBRARY, NO_GAIN, finals, gain_of
from tir_mlir.tune.spaces.deciders import Defaults, Fixed
from tir_mlir.tune.trials.outcome import Outcome, Status


def candidate(number, x, y):
    made = draw_candidate(Copy, three_by_four, Fixed({"B.x": x, "B.y": y}))
    made.number = number
    return made


def library():
    return draw_candidate(Copy, three_by_four, Defaults(), origin=LIBRARY)


def checked(schedule):
    return "checked"


def test_all_are_measured_in_turns_at_once():
    lab = FakeLab()
    found = finals([candidate(5, 2, 20), candidate(3, 2, 10)], library(), lab, 4, checked)
    together, confirmed = lab.compared
    assert [tuple(d.values()) for d in together] == [(1, 10), (2, 20), (2, 10)]
    assert [tuple(d.values()) for d in confirmed] == [(2, 20), (1, 10)]
    assert {name: len(seconds) for name, seconds in found.seconds.items()} == {LIBRARY: 8, "trial 5": 8, "trial 3": 4}


def test_the_fastest_of_the_finals_wins():
    found = finals([candidate(3, 2, 10), candidate(5, 2, 20)], library(), FakeLab(), 4, checked)
    assert (found.winner.number, found.best, found.library, found.verified) == (5, 1e-3, 3e-3, "checked")


@pytest.mark.parametrize(("factor", "number"), [(1.2, None), (1.0, None), (0.995, None), (0.98, 5)])
def test_what_is_not_faster_than_the_library_loses(factor, number):
    lab = FakeLab(lambda d: 1e-3 * (factor if d["B.x"] == 2 else 1))
    assert finals([candidate(5, 2, 20)], library(), lab, 4, checked).winner.number == number


class LuckyLab(FakeLab):
    """Rounds scatter by 5 %; what is compared first is lucky when all are compared, except for the library's choice."""

    def compare(self, schedules, rounds):
        draw, lucky = np.random.default_rng(len(self.compared)), not self.compared
        times = np.array(super().compare(schedules, rounds)) * draw.normal(1, 0.05, (len(schedules), rounds))
        return [list(row * (0.9 if lucky and n == 1 else 1)) for n, row in enumerate(times)]


@pytest.mark.parametrize(("factor", "number"), [(1.0, None), (0.98, None), (0.85, 5)])
def test_a_gain_within_the_noise_is_none(factor, number):
    lab = LuckyLab(lambda d: 1e-3 * (factor if d["B.x"] == 2 else 1))
    found = finals([candidate(5, 2, 20)], library(), lab, 15, checked)
    assert found.winner.number == number and found.best <= found.library
    (note,) = found.notes or [NO_GAIN]
    assert note.startswith(NO_GAIN) and ("trial 5 is" in note) == (number is None)


def test_the_gain_is_that_of_rounds_in_turns():
    waves = 1 + np.sin(np.arange(30)) / 2
    gain, least = gain_of(1e-3 * waves, 1.2e-3 * waves)
    assert gain == pytest.approx(1.2) and least == pytest.approx(1.2)
    gain, least = gain_of(np.linspace(1, 2, 30), np.linspace(2, 1, 30))
    assert least < gain and least < 1


def test_a_winner_that_fails_verification_is_dropped_and_the_next_one_taken():
    def verify(schedule):
        if bowl({c.name: c.value for c in schedule.executor.decider.choices}) == 1e-3:
            raise ScheduleDiffers("B[3] differs")
        return "checked"

    with pytest.warns(TuneWarning, match=r"trial 5 is not equal to the program: B\[3\] differs; the next one is taken"):
        found = finals([candidate(5, 2, 20), candidate(3, 2, 10)], library(), FakeLab(), 4, verify)
    assert found.winner.number == 3 and found.seconds["trial 5"]


def test_if_none_passes_there_is_no_winner():
    def verify(schedule):
        raise ScheduleDiffers("B[3] differs")

    with pytest.warns(TuneWarning), pytest.raises(TuneError, match=r"neither the library's choice nor .* B.3. differs"):
        finals([candidate(5, 2, 20)], library(), FakeLab(), 4, verify)


def test_what_cannot_be_verified_is_told():
    def verify(schedule):
        raise NotChecked("erf has no exact semantics")

    found = finals([candidate(5, 2, 20)], library(), FakeLab(), 4, verify)
    assert (found.winner.number, found.verified) == (5, "")
    assert found.notes == ["trial 5 is not verified: erf has no exact semantics; its results were compared on data"]


def test_a_finalist_that_fails_is_out():
    lab = FakeLab(lambda d: Outcome(Status.CRASHED) if d["B.y"] == 20 else bowl(d))
    assert finals([candidate(5, 2, 20), candidate(3, 2, 10)], library(), lab, 4, checked).winner.number == 3


def test_without_a_candidate_that_runs_there_is_an_error():
    lab = FakeLab(lambda d: Outcome(Status.CRASHED))
    with pytest.raises(TuneError, match="none of the best candidates could be run again"):
        finals([candidate(5, 2, 20)], library(), lab, 4, checked)


def test_verification_is_that_of_the_schedule():
    made = candidate(1, 1, 10)
    assert verify_schedule(made.schedule).startswith("checked at copy")


def test_what_cannot_be_scaled_is_verified_at_its_own_sizes(monkeypatch):
    made, asked = candidate(1, 1, 10), []
    whole = made.schedule.verify

    def verify(sizes):
        asked.append(sizes)
        if sizes == "scaled":
            raise NotChecked("no smaller program has the same kinds of guards")
        return whole(sizes)

    monkeypatch.setattr(made.schedule, "verify", verify)
    assert verify_schedule(made.schedule).startswith("checked at copy") and asked == ["scaled", "auto"]
