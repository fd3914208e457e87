"""Run the code blocks of a page and compare their output with the output blocks.

`fences.py` defines the info strings, and how a page says what of an output is different in each run. A line of an
output that is only `...` matches any number of lines: what a page leaves out of a long output.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from docsite.fences import EVERYTHING, NUMBERS, OUTPUT, Fence, fences
from docsite.page_pictures import drawn

ROOT = Path(__file__).resolve().parents[2]
_NUMBER = r" *\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)? *"  # with the spaces that keep a column straight
SHOWN = {"", "text", "c", "js", "toml", "json"}


class PageError(AssertionError):
    """A block fails, or its output differs from the page; names the page and the line."""


@contextlib.contextmanager
def _importable(files: Sequence[Path]) -> Iterator[None]:
    """The files that a page has written can be imported, as by a program beside them; no other page finds them."""
    folders = {str(file.parent) for file in files}
    sys.path[:0] = folders
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)
        written = {str(file) for file in files}
        for name in [name for name, module in sys.modules.items() if getattr(module, "__file__", None) in written]:
            del sys.modules[name]


def run_page(path: Path, folder: Path) -> None:
    """Run all blocks of a page in `folder`, which must be the current directory. Errors: PageError."""
    run = PageRun(path.relative_to(ROOT).as_posix(), folder)
    page = path.read_text(encoding="utf-8")
    for fence in fences(page):
        run.block(fence)
    run.expect_nothing("the end of the page")
    for picture in drawn(page, folder):
        if not picture.is_shown:
            update = f"python tools/docsite/update_outputs.py {run.page}"
            raise PageError(f"{run.page}: the code draws another {picture.name} than docs/images has: {update}")


class PageRun:
    """The state between the blocks of a page: its namespace, and output not yet matched with an output block."""

    def __init__(self, page: str, folder: Path):
        self.page = page
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "__docs__"}
        self.printed = ""
        self.written: list[Path] = []

    def block(self, fence: Fence) -> None:
        if fence.title == OUTPUT:
            self.compare(fence)
        elif fence.title:
            self.written.append(self.folder / fence.title)
            self.written[-1].write_text(fence.text, encoding="utf-8")
        elif fence.language == "python":
            self.expect_nothing(f"line {fence.line}")
            self.printed = self.python(fence)
        elif fence.language == "sh":
            self.expect_nothing(f"line {fence.line}")
            self.printed = "".join(self.command(fence, line) for line in _commands(fence))
        elif fence.language == "mlir":
            self.parse(fence)
        elif fence.language not in SHOWN:
            raise PageError(f"{self.page}:{fence.line}: blocks of the language {fence.language!r} are not supported")

    def python(self, fence: Fence) -> str:
        """Run one block, whose text is put into linecache for the TVMScript parser. Return its output."""
        filename = f"<{self.page.rsplit('/')[-1]}:{fence.line}>"
        linecache.cache[filename] = (len(fence.text), None, fence.text.splitlines(keepends=True), filename)
        code = compile(fence.text, filename, "exec", dont_inherit=True)
        with _importable(self.written):
            return self.captured(fence, lambda: exec(code, self.names))

    def command(self, fence: Fence, line: str) -> str:
        """Run one command of a shell block if it has no effect outside the folder; otherwise check that it exists."""
        words = shlex.split(line, comments=True)
        if words[:1] == ["tir-opt"]:
            from tir_mlir.opt.driver import main

            return self.captured(fence, lambda: self.expect(fence, line, main(words[1:]) == 0))
        if words[:2] == ["python", "-m"]:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
            done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, env=environment)
            self.expect(fence, f"{line}: {done.stderr}", done.returncode == 0)
            return done.stdout
        self.expect(fence, line, _exists(words))
        return ""

    def parse(self, fence: Fence) -> None:
        from tir_mlir.script import IRModule

        self.captured(fence, lambda: IRModule.from_mlir(fence.text))

    def captured(self, fence: Fence, call: Callable[[], object]) -> str:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                call()
        except Exception as error:
            raise PageError(f"{self.page}:{fence.line}: {type(error).__name__}: {error}") from error
        return out.getvalue()

    def compare(self, fence: Fence) -> None:
        if not matches(fence, self.printed):
            raise PageError(f"{self.page}:{fence.line}: the page shows\n{fence.text}\nbut it prints\n{self.printed}")
        self.printed = ""

    def expect_nothing(self, where: str) -> None:
        if self.printed.strip():
            raise PageError(f"{self.page}: output before {where} that the page does not show:\n{self.printed}")

    def expect(self, fence: Fence, what: str, holds: bool) -> None:
        if not holds:
            raise PageError(f"{self.page}:{fence.line}: fails: {what}")


def matches(fence: Fence, printed: str) -> bool:
    """Return whether an output block shows what is printed."""
    if EVERYTHING in fence.varying:
        return True
    return pattern(fence.text, fence.varying).fullmatch(printed.strip() + "\n") is not None


def pattern(text: str, varying: Sequence[object] = ()) -> re.Pattern[str]:
    """Return a regular expression for an output block, of which `varying` is different in each run."""
    quoted = sorted((part for part in varying if isinstance(part, str)), key=len, reverse=True)
    texts = [re.escape(part) for part in quoted]
    if NUMBERS in varying:
        texts.append(_NUMBER)
    marks = re.compile("|".join(texts) or "(?!)")
    lines = []
    for line in text.strip().splitlines():
        parts = [re.escape(part) for part in marks.split(line.rstrip())]
        lines.append("(?:.*\n)*?" if line.strip() == "..." else "[^\n]*?".join(parts) + "[ ]*\n")
    return re.compile("".join(lines))


def _commands(fence: Fence) -> list[str]:
    lines = fence.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def _exists(words: list[str]) -> bool:
    """Return whether a command that is not run names an existing Makefile target, extra of the package, or known
    program."""
    if words[0] == "make":
        return re.search(rf"^{re.escape(words[1])}:", (ROOT / "Makefile").read_text(), re.M) is not None
    if words[:2] == ["pip", "install"]:
        project = (ROOT / "pyproject.toml").read_text()
        extras = [extra for word in words for extra in re.findall(r"\[([\w,]+)\]", word)]
        return all(re.search(rf"^{name} = \[", project, re.M) for extra in extras for name in extra.split(","))
    return words[0] in ("git", "cd", "apt", "gcc", "cc")
