"""Items that are fine, wrong, dead or hung; the same every time; made small."""

import re
import time
from types import SimpleNamespace

import pytest
from harness import planted

from fuzzing import worker
from fuzzing.items import item
from fuzzing.kinds import Kind
from fuzzing.run import Run

LINE = r"pairs (\d+): wrong (\d+), refused \d+; inputs (\d+): aborted (\d+), hung (\d+)"


def _run(count, jobs=2, limit=1.0, shrink=0.0, what="input", **kinds):
    kinds = {f"{what}: {name}" if what == "input" else what: kind for name, kind in kinds.items()}
    run = Run(kinds, jobs, limit, shrink, seed=3)
    return run.all((item(what, n, 3, kinds) for n in range(count)), count)


def test_fine_items_and_the_same_again(capsys):
    one, other = (_run(60, jobs, fine=Kind(planted.fine), more=Kind(planted.fine, 3)) for jobs in (1, 2))
    assert one.words == other.words and {k for _, k, _ in one.words} == {"fine", "more"}
    assert one.line == "pairs 0: wrong 0, refused 0; inputs 60: aborted 0, hung 0" and one.code == 0
    assert capsys.readouterr().out == ""


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "verdict"), [("raises", "wrong"), ("crashes", "wrong"), ("aborts", "aborted")])
def test_failures_are_counted_and_shrunk(name, verdict, capsys):
    tally = _run(4, shrink=20.0, **{name: planted.KINDS[name]})
    failed = [f for f in tally.failures if f.verdict == verdict]
    assert tally.ran["input"] == 4 and failed == tally.failures and tally.code == 1
    match = re.fullmatch(LINE, tally.line)
    assert match and match.groups() == ("0", "0", "4", str(len(failed)), "0")
    found = [x for p in failed[0].item.play for x in p.drawn]
    assert found == [1, 2]  # one letter, the bracket
    told = capsys.readouterr().out
    assert f"--seed 3 --only {failed[0].item.name}" in told
    assert {"raises": "'('", "crashes": "ZeroDivisionError", "aborts": "SIGABRT"}[name] in told


@pytest.mark.nightly
def test_a_hang_is_killed_reported_and_shrunk(capsys):
    tally = _run(2, limit=0.5, shrink=6.0, hangs=planted.KINDS["hangs"])
    assert tally.code == 1 and tally.line.endswith(f"aborted 0, hung {len(tally.failures)}")
    assert "planted.py" in capsys.readouterr().out  # where it hung


def test_time_in_which_a_worker_has_no_core_does_not_count(monkeypatch):
    begun = time.monotonic() - 9
    one = SimpleNamespace(ready=False, started=begun, waited=1.0, child=SimpleNamespace(id=1))
    monkeypatch.setattr(worker, "START", 5.0)
    monkeypatch.setattr(worker, "waited", lambda pid: 4.0)
    assert worker.Worker.left.fget(one) < 0  # 9 seconds, 3 of them without a core
    monkeypatch.setattr(worker, "waited", lambda pid: 9.5)
    assert worker.Worker.left.fget(one) > 0


@pytest.mark.nightly
def test_a_primitive_without_guards_is_found_and_shrunk(capsys):
    tally = _run(16, limit=60, shrink=4.0, what="pair", lost=Kind(planted.guards_lost))
    assert tally.code == 1 and int(re.fullmatch(LINE, tally.line).group(2)) == len(tally.failures) > 0
    small = min((f.text for f in tally.failures), key=len)
    assert small.count("with T.block") <= 4 and "split" in small
