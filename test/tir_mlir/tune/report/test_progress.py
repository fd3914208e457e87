"""Live progress."""

import io

from rich.console import Console

from tir_mlir.tune.report.progress import Progress, Silent, listener_of
from tir_mlir.tune.search.session import TrialResult


def drawn(*results, trials=4):
    shown = Progress(Console(file=io.StringIO(), width=120))
    shown.begin("mm", trials)
    shown.phase("search")
    for result in results:
        shown.report_trial(result, None)
    shown.console.print(shown.render())
    return shown.console.file.getvalue()


def ok(number, milliseconds):
    return TrialResult(number, "TPE", {"C.rows": number}, "ok", (1e-3 * milliseconds,))


def test_the_fastest_come_first():
    lines = drawn(ok(0, 3), ok(1, 1), ok(2, 2)).splitlines()
    assert lines[0].startswith("mm ") and "3 of 4 trials" in lines[0] and lines[0].endswith("search")
    assert [line.split()[0] for line in lines[3:]] == ["1", "2", "0"]
    assert lines[3].split() == ["1", "TPE", "1", "ms", "C.rows=1"]


def test_failures_are_counted():
    assert "1 ok, 1 crashed" in drawn(ok(0, 1), TrialResult(1, "TPE", {}, "crashed", reason="SIGSEGV"))


def test_without_a_terminal_nothing_is_shown(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with listener_of(None) as listener:
        assert isinstance(listener, Silent)


def test_progress_can_be_asked_for():
    with listener_of(True) as listener:
        assert isinstance(listener, Progress)
