"""Records for the tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tir_mlir.tune.records.program_identity import ProgramIdentity
from tir_mlir.tune.records.record import Record, Subject


def a_record(
    program: str = "a", sizes: tuple[int, ...] = (8, 8), target: str = "t", machine: str = "m", **changes
) -> Record:
    """A record that could be one of a search."""
    about = ProgramIdentity(program * 32, "c" * 32, sizes)
    found = {"space": "library", "decisions": {"C.rows": 4}, "trace": [["Split", ["l0"], [], []]]}
    found |= {"seconds": (0.002, 0.001, 0.003), "stages": {"build.lower": 0.1}, "when": "2026-01-02T03:04:05+00:00"}
    of_search = Subject(about, target, {"tir_mlir": "0.1.0", "llvm": "22.1.8"}, machine, [["f", [], [], []]])
    return of_search.record(**(found | changes))


@pytest.fixture
def record() -> Callable[..., Record]:
    return a_record
