"""The programs that the pages of docs/programs define, with their inputs, references and schedules."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def page(name: str) -> dict[str, Any]:
    """Run the Python blocks of docs/programs/NAME.md; return the names that they define. Errors: PageError."""
    sys.path.insert(0, str(ROOT / "tools"))
    from docsite.examples import PageRun
    from docsite.fences import fences

    path = ROOT / "docs" / "programs" / f"{name}.md"
    run = PageRun(path.relative_to(ROOT).as_posix(), ROOT)
    for fence in fences(path.read_text(encoding="utf-8")):
        if fence.language == "python" and not fence.title:
            run.python(fence)
    return run.names
