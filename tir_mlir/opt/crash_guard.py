"""Run the driver in a child process, so that an abort in MLIR becomes an error message and exit code 1."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tir_mlir.opt.pipeline_text import PassInstance
from tir_mlir.processes import status
from tir_mlir.processes.forked import run_in_copy

JOURNAL = "TIR_OPT_JOURNAL"


def run_guarded(work: Callable[[], int]) -> int:
    """Run `work` in a child process. Returns its exit code, or 1 if a signal killed it.

    Must be called before an MLIR context is created. `note` records what the child is doing, for the message.
    """
    if not hasattr(os, "fork"):
        return work()
    path = _journal()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # None: closed by the caller
            stream.flush()
    code = run_in_copy(partial(_work_noted, work, path))
    doing = text = ""
    if path:
        doing, _, text = _read_and_delete(Path(path)).partition("\n")
    return code if code >= 0 else _report_crash(code, doing, text)


def _work_noted(work: Callable[[], int], journal: str) -> int:
    os.environ[JOURNAL] = journal
    return work()


def _read_and_delete(journal: Path) -> str:
    """Read and delete the journal; "" if it is gone."""
    try:
        text = journal.read_text(encoding="utf-8", errors="replace")
        journal.unlink()
    except OSError:
        return ""
    return text


def is_guarded() -> bool:
    """Whether this process is a guarded child, whose crash is reported by the parent."""
    return JOURNAL in os.environ


def note(doing: str, text: str = "") -> None:
    """Record the next operation (`FILE:LINE:COL: what`) and its reproducer."""
    path = os.environ.get(JOURNAL)
    if path:
        with contextlib.suppress(OSError):  # best effort
            Path(path).write_text(f"{doing}\n{text}", encoding="utf-8")


def _journal() -> str:
    """A new file for `note`; "" if no temporary file can be created."""
    try:
        handle, path = tempfile.mkstemp(prefix="tir-opt-journal-")
    except OSError:
        return ""
    os.close(handle)
    return path


def _report_crash(code: int, doing: str, text: str) -> int:
    location, _, what = doing.partition(": ")
    print(f"{location or 'tir-opt'}: error: MLIR crashed ({status(code)}) {what}", file=sys.stderr)
    if text:
        print(f"tir-opt: a reproducer is in {save(text)}: run tir-opt on it", file=sys.stderr)
    return 1


_HEAD = "// tir-opt reproducer; `tir-opt THIS_FILE` runs the pipeline of the next line."
_PIPELINE = re.compile(r"// pipeline: (.*)")


def content(module_text: str, steps: Sequence[PassInstance]) -> str:
    """The text of a reproducer."""
    names = ",".join(step.text for step in steps)
    return f"{_HEAD}\n// pipeline: builtin.module({names})\n{module_text}"


def save(text: str, path: str | None = None) -> str:
    """Write a reproducer to a path, or to a new temporary file; the path."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
        return path
    with tempfile.NamedTemporaryFile("w", prefix="tir-opt-", suffix=".mlir", delete=False, encoding="utf-8") as file:
        file.write(text)
    return file.name


def pipeline_of(text: str) -> str | None:
    """The pipeline that a reproducer carries; None for any other text."""
    if not text.startswith(_HEAD):
        return None
    match = _PIPELINE.match(text[len(_HEAD) + 1 :])
    return match[1].strip() if match else None
