"""The plots of a search."""

import sys
from types import SimpleNamespace

import pytest

from tir_mlir.errors import TuneError
from tir_mlir.tune.report.search_plots import SearchPlots, plots_of, study_of

ROWS = {2: 3.0, 4: 2.0, 8: 1.0}
"""Milliseconds by the rows of a tile; the unroll factor changes nothing."""


def trial(number, rows, unroll=1, failed=False):
    return SimpleNamespace(
        number=number, decisions={"C.rows": rows, "C.unroll": unroll}, status="crashed" if failed else "ok",
        stages={"schedule": 0.125, "build.compile": 0.25}, median=None if failed else 1e-3 * ROWS[rows],
    )  # fmt: skip


TRIALS = [trial(n, rows, unroll) for n, (rows, unroll) in enumerate((r, u) for u in (1, 2, 4) for r in ROWS)]


@pytest.fixture(scope="module")
def plots():
    return SearchPlots({"": plots_of(TRIALS, 3e-3)})


def test_the_history_has_times_and_the_best_so_far(plots):
    times, best, *_ = plots.history.data
    assert list(times.y) == [3.0, 2.0, 1.0] * 3 and list(best.y) == [3.0, 2.0, *[1.0] * 7]


def test_the_history_has_a_line_for_the_library(plots):
    assert plots.history.layout.shapes[0].y0 == 3.0
    assert plots.history.layout.annotations[0].text == "library's schedule"


def test_a_decision_that_matters_is_important(plots):
    (bars,) = plots.importance.data
    assert dict(zip(bars.y, bars.x, strict=True))["C.rows"] > 0.9


def test_the_importance_needs_no_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert plots_of(TRIALS)["importance"].data


def test_few_candidates_have_no_importance():
    figure = plots_of(TRIALS[:3])["importance"]
    assert not figure.data and "takes 4 measured candidates" in figure.layout.annotations[0].text


def test_decisions_that_were_never_varied_have_no_importance():
    assert not plots_of([trial(n, 2) for n in range(8)])["importance"].data


def test_the_time_is_shown_by_stage(plots):
    assert [bar.name for bar in plots.stages.data] == ["schedule: 1.12 s", "build.compile: 2.25 s"]


def test_failed_and_missing_trials_keep_the_numbers():
    history = plots_of([trial(0, 2), trial(1, 4, failed=True), trial(4, 8)])["history"]
    assert list(history.data[0].x) == [0, 4]


def test_a_search_without_a_measured_candidate_is_drawn():
    assert len(plots_of([trial(0, 2, failed=True)])) == 3


def test_decisions_are_places_among_the_values():
    assert [t.params["C.rows"] for t in study_of(TRIALS[:3]).trials] == [0, 1, 2]


def test_the_page_is_complete(plots, tmp_path):
    page = plots.save(tmp_path / "search.html")
    text = page.read_text(encoding="utf-8")
    assert page.name == "search.html" and text.startswith("<!DOCTYPE html>")
    assert 'src="http' not in text and text.count('class="plotly-graph-div"') == 3


def test_a_notebook_shows_it(plots):
    assert "Importance of decisions" in plots._repr_html_()


def test_a_page_ends_in_html(plots, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.html, not 'x\.png'"):
        plots.save(tmp_path / "x.png")


def test_the_functions_of_a_module_have_their_sections():
    plots = SearchPlots({"f<1>": plots_of(TRIALS), "g": plots_of(TRIALS)})
    assert list(plots.history) == ["f<1>", "g"] and "<h2>f&lt;1&gt;</h2>" in plots._repr_html_()


def test_without_plotly_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(TuneError, match=r"plots need plotly; fix: pip install"):
        plots_of(TRIALS)
