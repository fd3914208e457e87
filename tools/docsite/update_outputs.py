"""Update the output blocks of pages: `python tools/docsite/update_outputs.py PAGE.md ...`

Blocks that still match stay as written, with their `...`. Others are replaced as a whole; the header of a printed
module becomes `...`, and long lines are truncated. Review the diff: a page may have shown less on purpose.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

from docsite.examples import PageRun, pattern  # noqa: E402
from docsite.fences import Fence, fences  # noqa: E402

WIDTH = 108


class _Update(PageRun):
    """Run a page and collect the changed outputs, by the line of their block."""

    def __init__(self, page: str, folder: Path):
        super().__init__(page, folder)
        self.changed: dict[int, tuple[Fence, str]] = {}

    def compare(self, fence: Fence) -> None:
        if not pattern(fence.text).fullmatch(self.printed.strip() + "\n"):
            self.changed[fence.line] = fence, self.printed
        self.printed = ""


def update(path: Path) -> int:
    """Update the outputs of a page; return how many changed. Errors: PageError if a block fails."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run = _Update(path.relative_to(ROOT).as_posix(), Path(folder))
        for fence in fences(text):
            run.block(fence)
        os.chdir(ROOT)
    lines = text.split("\n")
    for line, (fence, printed) in sorted(run.changed.items(), reverse=True):
        start = line - 1
        lines[start : start + fence.text.count("\n")] = shortened(printed)
    path.write_text("\n".join(lines), encoding="utf-8")
    return len(run.changed)


def shortened(printed: str) -> list[str]:
    """Return the lines of an output as shown on a page."""
    lines = printed.strip("\n").splitlines()
    if lines and lines[0].startswith("# from tvm.script"):
        start = next((n for n, line in enumerate(lines) if 'T.block("root")' in line), 5)
        lines = ["...", *lines[start + 1 :]]
    return [line if len(line) <= WIDTH + 10 else line[:WIDTH].rpartition(" ")[0] + " ..." for line in lines]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {update(Path(name).resolve())} outputs updated")
