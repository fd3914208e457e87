"""Every block of the README: Python is run, in order, in one namespace; outputs are compared; commands exist."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import linecache
import re
import shlex
from dataclasses import dataclass

import pytest
from harness import ROOT

from tir_mlir.intrin import TensorIntrin
from tir_mlir.intrin.kernels import _kernels
from tir_mlir.passes.schedule import PRIMITIVES

README = ROOT / "README.md"
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
_LANGUAGES = {"", "sh", "python", "python output", "mlir output", "text output"}


@dataclass(frozen=True)
class Piece:
    """A fenced block: its info string, text, and the line of its first text."""

    info: str
    text: str
    line: int


def pieces() -> list[Piece]:
    text = README.read_text()
    return [Piece(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in _FENCE.finditer(text)]


@pytest.fixture
def undone():
    """What the README registers is gone afterwards."""
    from tir_mlir.dialect import intrinsics

    tables = (PRIMITIVES, _kernels, intrinsics._known)
    before = [dict(table) for table in tables]
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)
    assert "axpy16" not in TensorIntrin.list()


def test_blocks_are_of_a_known_kind():
    assert {p.info for p in pieces()} <= _LANGUAGES


def test_python_runs_and_prints_what_is_shown(undone):
    names: dict[str, object] = {"__name__": "readme"}
    said = ""
    for piece in pieces():
        if piece.info == "python":
            assert said == "", f"README.md:{piece.line}: the block before prints: {said}"
            said = _run(piece, names)
        elif piece.info.endswith("output"):
            assert _shown(piece.text).fullmatch(said.strip() + "\n"), f"README.md:{piece.line}: it prints\n{said}"
            said = ""
    assert said == ""


def _run(piece: Piece, names: dict[str, object]) -> str:
    """Run one block; the parser finds its text in linecache. Returns what it printed."""
    filename = f"<README.md:{piece.line}>"
    linecache.cache[filename] = (len(piece.text), None, piece.text.splitlines(keepends=True), filename)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(piece.text, filename, "exec", dont_inherit=True), names)
    return out.getvalue()


def _shown(text: str) -> re.Pattern[str]:
    """An expected output as a pattern: `...` on a line stands for anything in it, a line `...` for any lines."""
    lines = []
    for line in text.strip().splitlines():
        parts = [re.escape(part) for part in line.rstrip().split("...")]
        lines.append("(?:.*\n)*?" if line == "..." else "[^\n]*".join(parts) + "[ ]*\n")
    return re.compile("".join(lines))


def commands() -> list[str]:
    return [line for p in pieces() if p.info == "sh" for line in p.text.splitlines()]


@pytest.mark.parametrize("command", commands())
def test_commands_exist(command, tmp_path, monkeypatch):
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M)
    elif words[0] == "python":
        assert words[1] == "-m" and importlib.util.find_spec(words[2]) is not None
    elif words[0] == "tir-opt":
        from tir_mlir.opt import main

        (tmp_path / "matmul.py").write_text(pieces()[0].text)
        monkeypatch.chdir(tmp_path)
        assert main(words[1:]) == 0
    else:
        assert words[:2] == ["pip", "install"]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (ROOT / target).exists(), target


def test_named_files_exist():
    named = re.findall(r"`((?:dialect|passes|tir_mlir|test|tools)/[\w/.]*)`", README.read_text())
    missing = [name for name in named if not (ROOT / name).exists() and name.split("/")[-1] != "NAME.py"]
    assert not missing
