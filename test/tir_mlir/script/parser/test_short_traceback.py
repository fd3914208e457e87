"""The traceback of a script error has the user's frames, and at most two of the package's."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import tir_mlir
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import ir as I
from tir_mlir.script import parse
from tir_mlir.script import tir as T

PACKAGE = str(Path(tir_mlir.__file__).parent)


def _function() -> object:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("A"):
                vi = T.axis.spatial(16, i)
                A[vi] = A[vi] + T.exq(A[vi])

    return main


def _with_arguments() -> object:
    @T.prim_func(private=True)
    def main(A: T.Buffer((16,), "float32")):
        A[0] = unknown  # noqa: F821

    return main


def _class() -> object:
    @I.ir_module
    class Module:
        @T.prim_func
        def main(A: T.Buffer((16,), "float32")):
            for i in range(17):
                with T.block("A"):
                    vi = T.axis.spatial(16, i)
                    A[vi] = T.float32(1)

    return Module


def _text() -> object:
    return parse("@T.prim_func\ndef main(A: T.Buffer((16,), 'float32')):\n    A[0] = A[1] +* 2\n")


def _failing_text() -> object:
    return parse("N = 1 // 0\n\n@T.prim_func\ndef main(A: T.Buffer((16,), 'float32')):\n    A[0] = A[1]\n")


@pytest.mark.parametrize("entry", [_function, _with_arguments, _class, _text, _failing_text])
def test_a_script_error_shows_the_frames_of_the_user(entry: Callable[[], object]):
    with pytest.raises(ScriptError) as caught:
        entry()
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [f for f in frames if f.filename.startswith(PACKAGE)]
    assert len(own) <= 2
    assert frames[1].name == entry.__name__  # the frame after that of the test
    text = "".join(traceback.format_exception(caught.value))
    assert text.count("Traceback") == 1
    assert linecache.getline(__file__, frames[1].lineno or 0).strip() in text


def test_the_origin_of_an_error_is_its_context():
    with pytest.raises(ScriptError) as caught:
        _failing_text()
    assert isinstance(caught.value.__context__, ZeroDivisionError)
    assert caught.value.__suppress_context__


def test_a_variable_keeps_all_frames(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TIR_FULL_TRACEBACK", "1")
    with pytest.raises(ScriptError) as caught:
        _function()
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 10
