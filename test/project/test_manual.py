"""The generated reference pages: every primitive has one, and all are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

from tir_mlir.passes.schedule import PRIMITIVES

PAGES = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    done = subprocess.run([sys.executable, ROOT / "tools" / "manual", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_primitive_has_a_page(made):
    assert {p.stem for p in (made / "primitives").glob("*.md")} == {*PRIMITIVES, "index"}


def test_every_step_says_what_it_proved(made):
    """Those without a sentence have nothing to prove, or are unsafe; `make manual` raises for others."""
    steps = [name for name, primitive in PRIMITIVES.items() if not primitive.pure]
    silent = {name for name in steps if "after proving that" not in _text(made / "primitives" / f"{name}.md")}
    none = {"add_unit_loop", "annotate", "annotate_buffer_access", "unannotate"}
    assert silent == none | {name for name in steps if name.startswith("unsafe_")}
    assert none == {name for name in none if not PRIMITIVES[name].proves}


def test_the_pages_are_up_to_date(made):
    fresh = {p.relative_to(made) for p in made.rglob("*.md")}
    kept = {p.relative_to(PAGES) for p in (PAGES / "primitives").glob("*.md")}
    old = [p for p in fresh | kept if _text(made / p) != _text(PAGES / p)]
    assert not old, f"make manual writes them again: {sorted(map(str, old))}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
