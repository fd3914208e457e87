"""The site builds without a warning, with the notebooks, the step viewer and the pages of the API in it."""

import pytest
from harness.site import built


@pytest.mark.nightly
@pytest.mark.slow
def test_site_builds_strictly(tmp_path_factory):
    site = built(tmp_path_factory)
    assert len(list((site / "notebooks").glob("*.ipynb"))) >= 6
    steps = (site / "steps" / "tensorize.html").read_text()
    assert "decompose_reduction" in steps and "prefers-color-scheme" in steps
    assert "decompose_reduction" in (site / "reference" / "api" / "schedule" / "index.html").read_text()
    assert "tir-lower-vectorize" in (site / "reference" / "lowering-passes" / "index.html").read_text()
