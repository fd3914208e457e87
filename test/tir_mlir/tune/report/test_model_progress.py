"""The live table of a search over a model."""

from __future__ import annotations

import io

from rich.console import Console

from tir_mlir.tune.report.model_progress import MOST, ModelProgress


def shown(progress: ModelProgress) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(progress.render())
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_functions_and_trials_are_shown():
    progress = ModelProgress(Console(file=io.StringIO()))
    progress.functions("dense", [("dense", 2e-3, 1e-3, 8), ("softmax", 1e-3, 1e-3, 0)], 32)
    progress.report_trial(None, None)
    progress.phase("search")
    lines = shown(progress).splitlines()
    assert "9 of 32 trials" in lines[0] and "dense: search" in lines[0]
    assert lines[2].split() == ["dense", "2", "ms", "1", "ms", "2.00", "8"]
    assert lines[-1].split() == ["all", "3", "ms", "2", "ms", "1.50", "9"]


def test_few_of_many_functions_are_shown():
    progress = ModelProgress(Console(file=io.StringIO()))
    progress.functions("f0", [(f"f{n}", 1e-3, 1e-3, 0) for n in range(MOST + 5)], 8)
    assert "5 more" in shown(progress)
