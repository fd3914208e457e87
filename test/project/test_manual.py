"""The reference manual: every primitive has a page, and every page says what a run says today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

from tir_mlir.passes.schedule import PRIMITIVES

PAGES = ROOT / "passes" / "manual"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    done = subprocess.run([sys.executable, ROOT / "tools" / "manual", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_primitive_has_a_page(made):
    assert {p.stem for p in made.glob("*.md")} == {*PRIMITIVES, "README"}


def test_the_pages_are_those_of_today(made):
    old = [p.name for p in made.iterdir() if not (PAGES / p.name).exists()]
    old += [p.name for p in PAGES.iterdir() if not (made / p.name).exists()]
    old += [
        p.name for p in made.iterdir() if (PAGES / p.name).exists() and p.read_bytes() != (PAGES / p.name).read_bytes()
    ]
    assert not old, f"make manual writes them anew: {sorted(set(old))}"
