"""The chapter's schedule at a size for the interpreter: tiled, and with its instruction, it computes the product."""

import re

import numpy as np
import pytest
from harness import extract
from harness.notebook import Notebook

from tir_mlir import interpret
from tir_mlir.script import IRModule

SIZE = 64


@pytest.fixture
def shown(monkeypatch):
    """The modules that the program shows, in order, each a copy."""
    seen: list[IRModule] = []
    monkeypatch.setattr(IRModule, "show", lambda self: seen.append(self.clone()))
    return seen


def test_the_chapter_in_python(seed, tvm, shown):
    notebook = Notebook("document 001")
    for piece in extract.markdown(seed("001")):
        if piece.kind == "code":
            tiles = re.sub(r"\b64\b", str(SIZE // 16), piece.text)
            notebook.run(tiles.replace("1024", str(SIZE)), piece.line)
    assert len(shown) == 7
    a, b = (np.random.default_rng(n).integers(-4, 5, (SIZE, SIZE)).astype(np.float32) for n in (0, 1))
    for module in (shown[3], notebook["sch"].mod):
        c = np.full((SIZE, SIZE), np.nan, np.float32)
        report = interpret(module, a, b, c, unset=["C"])
        np.testing.assert_array_equal(c, a @ b.T)
        assert report.total.flops == 2 * SIZE**3
    assert "T.call_extern" in notebook["sch"].mod.script()
