"""Many processes that search together in one PostgreSQL database: no trial is lost, the storage has no errors."""

import subprocess
import sys
import time
from collections import Counter

import pytest
from harness import searching_processes
from harness.searching_processes import searching

from tir_mlir.tune.search import session
from tir_mlir.tune.search.ledger import DECISIONS, OUTCOME, Ledger, open_database

pytestmark = pytest.mark.slow


def processes(*arguments):
    command = [sys.executable, searching_processes.__file__, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def together(url, name, count, trials):
    """Run so many processes; check that each trial that one of them ran is in the study with its result."""
    running = processes(url, name, count, trials)
    out, err = running.communicate(timeout=3600)
    assert running.returncode == 0 and not err, err
    kept = Ledger(open_database(url), name, "test").trials()
    assert Counter(t.state.name for t in kept) == {"COMPLETE": len(kept)}
    assert sum(map(int, out.split())) == len(kept) and trials <= len(kept) < trials + count
    assert [t.number for t in kept] == list(range(len(kept)))
    assert all(t.user_attrs[OUTCOME]["seconds"] == [t.value] for t in kept)
    return kept


def test_processes_lose_no_trial(database):
    together(database, "few", 3, 9)


@pytest.mark.nightly
def test_twelve_processes_of_a_hundred_trials(database):
    start = time.monotonic()
    kept = together(database, "nightly", 12, 1200)
    took = time.monotonic() - start
    print(f"{len(kept)} trials in {took:.0f} s, {1e3 * took / len(kept):.0f} ms each")


def test_the_trial_of_a_killed_process_is_run_again(database):
    running = processes(database, "killed", 1, 1, "stuck")
    number = int(running.stdout.readline())
    with running:
        running.kill()
    search = searching(database, "killed", 3, 2)
    left = search.ledger.trials()[number]
    assert left.state.name == "FAIL"
    search.run()
    assert left.user_attrs[DECISIONS] in search.lab.asked
    assert Counter(t.state.name for t in search.ledger.trials()) == {"FAIL": 1, "COMPLETE": 3}


def test_the_trial_of_another_machine_without_a_sign_of_life_is_run_again(database, monkeypatch):
    """While it has signs of life it is waited for."""
    monkeypatch.setattr(session, "LOOK", 0.2)
    other = searching(database, "lost", 1, 1)
    other.ledger.token = "another machine:1:1:x"
    candidate = other.proposals.next_candidate()
    number = other.ledger.start(candidate.choices, candidate.decisions, "random")

    search = searching(database, "lost", 3, 2)
    assert search.ledger.trials()[number].state.name == "RUNNING"
    other.ledger.heartbeats.close()
    search.run()
    assert search.ledger.trials()[number].state.name == "FAIL"
    assert candidate.decisions in search.lab.asked and len(search.lab.asked) == 3


def test_a_trial_that_was_given_up_and_ends_yet_does_not_count_twice(database, monkeypatch):
    monkeypatch.setattr(session, "LOOK", 0.2)
    slow = searching(database, "paused", 1, 1)
    slow.ledger.token = "another machine:1:1:x"
    candidate = slow.proposals.next_candidate()
    number = slow.ledger.start(candidate.choices, candidate.decisions, "random")
    slow.ledger.heartbeats.close()
    search = searching(database, "paused", 2, 2)
    search.run()
    slow.ledger.finish(number, 1.0, {"status": "ok"})
    assert search.ledger.trials()[number].state.name == "FAIL"


def test_two_processes_do_not_take_up_the_same_trial(database):
    dead = searching(database, "twice", 1, 1).ledger
    dead.start([], {}, "random")
    dead.close()
    ledgers = [Ledger(open_database(database), "twice", "test") for _ in range(2)]
    assert sorted(len(ledger.claim()) for ledger in ledgers) == [0, 1]
