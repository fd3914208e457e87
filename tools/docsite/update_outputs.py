"""Update the output blocks and pictures of pages: `python tools/docsite/update_outputs.py [--measured] PAGE.md ...`

Blocks that still match stay as written, with what they leave out. Others are replaced as a whole. `--measured` also
replaces blocks and pictures that vary from run to run, all by those of this run. Review the diff: a page may have shown
less on purpose, and where a figure stands, its machine stands, too.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

from docsite import page_pictures  # noqa: E402
from docsite.examples import PageRun, matches  # noqa: E402
from docsite.fences import Fence, fences  # noqa: E402


class _Update(PageRun):
    """Run a page and collect the changed outputs, by the line of their block."""

    def __init__(self, page: str, folder: Path, measured: bool):
        super().__init__(page, folder)
        self.changed: dict[int, tuple[Fence, str]] = {}
        self.measured = measured

    def compare(self, fence: Fence) -> None:
        if not matches(fence, self.printed) or (self.measured and fence.varying):
            self.changed[fence.line] = fence, self.printed
        self.printed = ""


def update(path: Path, measured: bool = False) -> int:
    """Update the outputs and pictures of a page; return how many changed. Errors: PageError if a block fails."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.chdir(folder)
        run = _Update(path.relative_to(ROOT).as_posix(), folder, measured)
        for fence in fences(text):
            run.block(fence)
        os.chdir(ROOT)
        pictures = [p for p in page_pictures.drawn(text, folder) if not p.is_shown or (measured and p.varies)]
        for picture in pictures:
            shutil.copy(picture.file, page_pictures.IMAGES / picture.name)
    lines = text.split("\n")
    for line, (fence, printed) in sorted(run.changed.items(), reverse=True):
        start = line - 1
        lines[start : start + fence.text.count("\n")] = printed.strip("\n").splitlines()
    path.write_text("\n".join(lines), encoding="utf-8")
    return len(run.changed) + len(pictures)


if __name__ == "__main__":
    given = [name for name in sys.argv[1:] if name != "--measured"]
    for name in given:
        print(f"{name}: {update(Path(name).resolve(), '--measured' in sys.argv)} outputs and pictures updated")
