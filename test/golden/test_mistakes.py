"""The complete messages for mistakes of learners: plain, in a terminal, in a notebook."""

import html
import re

import pytest
from golden.mistakes import FOLDER, error_of, names

from tir_mlir.dialect.computation import intrinsics
from tir_mlir.dialect.diagnostics import ScheduleError, color


def test_there_are_twenty_at_least():
    assert len(names()) >= 20 and {p.stem for p in FOLDER.glob("*.txt")} == set(names())


@pytest.mark.parametrize("name", names())
def test_whole_text(name, monkeypatch):
    monkeypatch.setattr(intrinsics, "_known", {})  # other tests registered intrinsics with names like those here
    error = error_of(name)
    text = f"{type(error).__name__}: {error}"
    assert text + "\n" == (FOLDER / f"{name}.txt").read_text(), "make golden writes it anew"
    assert re.sub(r"\x1b\[[\d;]*m", "", color.terminal(text)) == text
    assert html.unescape(re.sub(r"<[^>]*>", "", error._repr_html_())) == text
    if isinstance(error, ScheduleError):
        assert f"<{name}.py>" in text
        assert "\x1b[" in "".join(error._render_traceback_())
