"""The step viewers of tutorial schedules (`Schedule.history.html`), generated when the site is built.

A tutorial has a viewer, `steps/NAME.html`, if it links to it; its schedule is the variable `sch` after the page has
run.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docsite.examples import ROOT, PageRun
from docsite.fences import OUTPUT, fences
from docsite.notebooks import tutorials

SCHEDULE = "sch"


def linking() -> list[Path]:
    """Return the tutorials that link to their step viewer."""
    return [page for page in tutorials() if f"(../{name(page)})" in page.read_text(encoding="utf-8")]


def name(page: Path) -> str:
    """Return the path of the step viewer relative to the root of the site."""
    return f"steps/{page.stem}.html"


def text(page: Path) -> str:
    """Return the HTML of the step viewer. Errors: PageError if the code of the tutorial fails."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with _working_directory(folder):
            schedule = _schedule(page, folder)
        return schedule.history.html(folder / "steps.html").read_text(encoding="utf-8")


def _schedule(page: Path, folder: Path) -> Any:
    run = PageRun(page.relative_to(ROOT).as_posix(), folder)
    for fence in fences(page.read_text(encoding="utf-8")):
        if fence.title != OUTPUT and (fence.title or fence.language == "python"):
            run.printed = ""
            run.block(fence)
    return run.names[SCHEDULE]


@contextlib.contextmanager
def _working_directory(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
