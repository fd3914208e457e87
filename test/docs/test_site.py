"""The site builds without a warning, with the notebooks, the step viewer and the pages of the API in it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
@pytest.mark.slow
def test_site_builds_strictly(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "notebooks").glob("*.ipynb"))) >= 6
    steps = (tmp_path / "steps" / "tensorize.html").read_text()
    assert "decompose_reduction" in steps and "prefers-color-scheme" in steps
    assert "decompose_reduction" in (tmp_path / "reference" / "api" / "schedule" / "index.html").read_text()
    assert "tir-lower-vectorize" in (tmp_path / "reference" / "lowering-passes" / "index.html").read_text()
