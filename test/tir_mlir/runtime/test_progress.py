"""What a build tells while it runs: to a person at a terminal, to a program, to nobody."""

from __future__ import annotations

import contextlib
import io
import logging
import time

import pytest

from tir_mlir.runtime import progress
from tir_mlir.runtime.timing import Timing
from tir_mlir.runtime.workers import Task, run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch):
    """A terminal, and a build that takes longer than the patience."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return Terminal()


def build(terminal: io.StringIO | None = None, until: str = "") -> Timing:
    """A build of two functions that ends when the terminal shows the text."""
    timing = Timing()
    with contextlib.redirect_stderr(terminal), progress.follow_build("build of net") as followed:
        timing.follow(followed)
        with timing.clock("compile"):
            payloads = {"conv": b"2 a", "relu": b"1"}
            run([Task("harness.worker_tasks:process", p, "code", "", label) for label, p in payloads.items()])
            followed.expect(3)
            end = time.monotonic() + 30
            while terminal is not None and until not in terminal.getvalue() and time.monotonic() < end:
                time.sleep(0.01)
    return timing


def test_a_long_build_shows_its_stage_on_a_terminal_and_takes_it_away(shown):
    build(shown, "build of net: compile")
    assert shown.getvalue().endswith("\x1b[2K")


@pytest.mark.parametrize("reason", ["short", "piped", "turned off"])
def test_silence(shown, monkeypatch, reason):
    if reason == "short":
        monkeypatch.setattr(progress, "PATIENCE", 60.0)
    elif reason == "piped":
        monkeypatch.setattr(shown, "isatty", lambda: False)
    else:
        monkeypatch.setenv("TIR_PROGRESS", "0")
    build(shown)
    assert shown.getvalue() == ""


def test_the_timing_lists_the_functions_the_slowest_first():
    timing = build()
    assert [(done.label, done.kind) for done in timing.functions] == [("conv", "code"), ("relu", "code")]
    assert "conv (code)" in repr(timing) and timing.functions[0].seconds >= 2e-3


def test_programs_get_records_of_stages_and_functions(caplog):
    with caplog.at_level(logging.DEBUG, "tir_mlir"):
        build()
    told = [(record.levelname, record.getMessage().rpartition(": ")[0]) for record in caplog.records]
    assert told[-1] == ("INFO", "build of net: compile") and ("DEBUG", "build of net: code conv") in told


def test_a_part_of_a_build_is_told_as_the_build():
    with progress.follow_build("build of net") as whole, progress.follow_build("build of part") as part:
        assert part is whole and part.title == "build of net"
    assert progress.current() is None


def test_verifications_tell_their_stages(caplog):
    from tir_mlir import Schedule
    from tir_mlir.examples.matmul import matmul

    with caplog.at_level(logging.INFO, "tir_mlir"):
        assert Schedule(matmul(8, 8, 8)).verify()
    told = [record.getMessage() for record in caplog.records]
    assert [text for text in told if text.startswith("verification of main: at full size: ")]
