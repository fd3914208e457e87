"""What a check compiles and loads: no more than it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.equivalence import compare, compile

CACHED = main("A:33x40 B:33x40", each("b:33x40", "B[vi, vj] = {value}"))


def cached(value: str) -> Schedule:
    sch = Schedule(parse(CACHED.format(value=value)))
    sch.cache_read("b", 0, "global")
    return sch


@pytest.fixture
def made(monkeypatch) -> list[tuple[str, bool]]:
    """The programs that are compiled: their domain, and whether they have a cache."""
    found: list[tuple[str, bool]] = []
    real = compile.compile_checked

    def compiled(module, domain, quick=True):
        found.append((domain, "A_global" in str(module)))
        return real(module, domain, quick)

    monkeypatch.setattr(compile, "compile_checked", compiled)
    monkeypatch.setattr(compare, "_program_cache", type(compare._program_cache)())
    return found


def test_without_a_nan_only_the_schedule_runs_in_floats(made):
    assert cached("A[vi, vj] + 1.0").verify()
    assert made == [("exact", False), ("exact", True), ("nan", True)]


def test_a_nan_of_the_original_is_no_fault_of_the_schedule(made):
    assert cached("T.sqrt(A[vi, vj] - 100.0)").verify()
    assert made == [("exact", False), ("exact", True), ("nan", True), ("nan", False)]


@pytest.mark.nightly
def test_linalg_is_not_imported():
    """Its Python module takes 0.1 s."""
    code = (
        "import sys\nfrom tir_mlir import Schedule\nfrom tir_mlir.examples.matmul import matmul\n"
        "sch = Schedule(matmul(32, 32, 32))\nsch.cache_read('matmul', 0, 'global')\nassert sch.verify()\n"
        "assert 'mlir.dialects.linalg' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
