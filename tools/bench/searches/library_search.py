"""A search by `tir_mlir` of one of the ten programs, in a process of its own:

python -m searches.library_search NUMBER TRIALS FOLDER

It writes the best schedule, the library's choice, and what was found to the folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from searches.ten_programs import TEN
from tir_mlir import Schedule, schedules, tune
from tir_mlir.dialect.ir import held_module
from tir_mlir.script.module import module_text


def main(number: int, trials: int, folder: Path) -> None:
    program = TEN[number].make()
    folder.mkdir(parents=True, exist_ok=True)
    best = tune.tune(program, trials=trials, threads=1, builders=1, seed=1)
    (folder / "best.mlir").write_text(_text(best.schedule))
    library = Schedule(program)
    schedules.auto(library, threads=1)
    (folder / "library.mlir").write_text(_text(library))
    found = {"trials": len(best.trials), "seconds": best.seconds, "what": "tir_mlir"}
    (folder / "found.json").write_text(json.dumps(found))


def _text(schedule: Schedule) -> str:
    module = held_module(schedule)
    assert module is not None
    return module_text(module)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
