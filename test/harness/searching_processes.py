"""Processes that search together: `python searching_processes.py URL STUDY PROCESSES TRIALS [stuck]`.

Copies of one process, since starting Python with all its modules takes seconds. Each prints how many trials it ran. A
stuck one prints the number of its trial, which does not end.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from typing import Any

SPREAD = (0, 1, 2, 3)
GRACE = 1
PATIENCE = 600
"""A grace that no process passes that stands still on a busy machine."""
SLOWLY = "TEST_SEARCH_SLOWLY"
"""The variable of the environment with the path of a file: while it is there, `paced` takes its time."""
PACE = 3.0
"""Seconds."""


def space(sch: Any) -> None:
    """65536 candidates."""
    for n in range(8):
        sch.sample_categorical(SPREAD, [1 / len(SPREAD)] * len(SPREAD), name=f"B.x{n}")


def paced(sch: Any) -> None:
    """The same; a search in it does not end soon while the file `SLOWLY` is there, however fast the machine is."""
    if os.path.exists(os.environ.get(SLOWLY, "")):
        time.sleep(PACE)
    space(sch)


def seconds(decisions: dict[str, int]) -> float:
    """The cheap objective."""
    return 1e-3 * (1 + sum(decisions.values()))


def searching(url: str, study: str, trials: int, seed: int, grace: int = GRACE, **options: Any) -> Any:
    """A session of a study in a database. grace: seconds without a sign of life until a trial counts as left."""
    from harness.searches import FakeLab, session

    from tir_mlir.tune.search.ledger import Ledger, open_database

    ledger = Ledger(open_database(url, grace, grace), study, "test")
    made = session(space, lab=FakeLab(seconds), trials=trials, sampler="random", seed=seed, ledger=ledger, **options)
    made.resume()
    return made


def _search(url: str, study: str, trials: int, seed: int) -> None:
    made = searching(url, study, trials, seed, PATIENCE)
    made.run()
    os.write(1, f"{len(made.lab.asked)}\n".encode())  # whole: processes share the pipe


def _stick(url: str, study: str) -> None:
    made = searching(url, study, 1, 1)
    candidate = made.proposals.next_candidate()
    print(made.ledger.start(candidate.choices, candidate.decisions, "random"), flush=True)
    time.sleep(600)


def main(url: str, study: str, processes: int, trials: int) -> int:
    """Search in so many processes; 1 if one of them failed."""
    import harness.searches

    assert harness.searches
    children = []
    for seed in range(processes):
        if (child := os.fork()) == 0:
            code = 1
            try:
                _search(url, study, trials, seed)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(child)
    return int(any(os.waitpid(child, 0)[1] for child in children))


if __name__ == "__main__":
    tests = os.path.dirname(sys.path[0])
    sys.path[:1] = [os.path.dirname(tests), tests]  # the package before the folder of its tests, which has its name
    if sys.argv[5:] == ["stuck"]:
        _stick(*sys.argv[1:3])
    sys.exit(main(*sys.argv[1:3], *map(int, sys.argv[3:5])))
