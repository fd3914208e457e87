"""The step viewers of tutorial schedules (`Schedule.history.html`), generated when the site is built.

A tutorial has a viewer, `steps/NAME.html`, if it links to it; its schedule is the variable `sch` after the last block
of code that names it has run. Blocks behind it, which measure and search, do not run.
"""

from __future__ import annotations

import contextlib
import os
import re
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
    blocks = [f for f in fences(page.read_text(encoding="utf-8")) if f.title != OUTPUT]
    blocks = [f for f in blocks if f.title or f.language == "python"]
    last = max((n for n, fence in enumerate(blocks) if re.search(rf"\b{SCHEDULE}\b", fence.text)), default=-1)
    for fence in blocks[: last + 1]:
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
