"""The page of a search."""

import sys
from types import SimpleNamespace

import pytest

from tir_mlir.tune.report.search_plots import MOST_COLUMNS, Search, SearchPlots, importance, study_of

ROWS = {2: 3.0, 4: 2.0, 8: 1.0}
"""Milliseconds by the rows of a tile; the unroll factor changes nothing."""


def trial(number, rows, unroll=1, failed=False):
    return SimpleNamespace(
        number=number, decisions={"C.rows": rows, "C.unroll": unroll}, status="crashed" if failed else "ok",
        stages={"schedule": 0.125, "build.compile": 0.25}, median=None if failed else 1e-3 * ROWS[rows],
        reason="signal <11>" if failed else "", origin="tpe",
    )  # fmt: skip


TRIALS = [trial(n, rows, unroll) for n, (rows, unroll) in enumerate((r, u) for u in (1, 2, 4) for r in ROWS)]
FACTS = (("machine", "a <machine>"),)


@pytest.fixture(scope="module")
def plots():
    return SearchPlots({"": Search("main", TRIALS, 3e-3, FACTS)})


def test_the_history_has_times_the_best_so_far_and_the_library(plots):
    told = plots.history.description
    assert "a candidate: 0 3 ms, 1 2 ms, 2 1 ms, 3 3 ms" in told
    assert "the best so far: 0 3 ms, 1 2 ms, 2 1 ms, 3 1 ms" in told
    assert "library's schedule: 0 3 ms" in told and "<title>trial 1, tpe: a candidate 2 ms</title>" in plots.history.svg


def test_a_decision_that_matters_is_important(plots):
    assert plots.importance.description == "C.rows: 100%; C.unroll: 0%"


def test_the_importance_needs_no_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert dict(importance(TRIALS))["C.rows"] > 0.9


def test_few_candidates_have_no_importance():
    assert importance(TRIALS[:3]).startswith("It takes 4 measured candidates")
    plots = SearchPlots({"": Search("main", TRIALS[:3])})
    assert plots.importance is None and plots.charts[""]["importance"].note.startswith("It takes 4")


def test_decisions_that_were_never_varied_have_no_importance():
    assert isinstance(importance([trial(n, 2) for n in range(8)]), str)


def test_the_time_is_shown_by_stage_in_words(plots):
    told = plots.stages.description
    assert "generating machine code: 2.25 s" in told and "applying the schedule: 1.12 s" in told


def test_failed_and_missing_trials_keep_the_numbers(tmp_path):
    plots = SearchPlots({"": Search("main", [trial(0, 2), trial(1, 4, failed=True), trial(4, 8)])})
    assert "a candidate: 0 3 ms, 4 1 ms" in plots.history.description
    text = plots.save(tmp_path / "search.html").read_text()
    assert "Without a time: 1: 1 crashed." in text and "crashed: signal &lt;11&gt;" in text


def test_a_search_without_a_measured_candidate_is_drawn():
    plots = SearchPlots({"": Search("main", [trial(0, 2, failed=True)])})
    assert plots.history is None and plots.charts[""]["history"].note == "No candidate was measured."


def test_decisions_are_places_among_the_values():
    assert [t.params["C.rows"] for t in study_of(TRIALS[:3]).trials] == [0, 1, 2]


def test_the_page_is_complete_and_small(tmp_path):
    many = SearchPlots({"": Search("main", [trial(n, 2) for n in range(1500)], 3e-3, FACTS)})
    page = many.save(tmp_path / "search.html")
    text = page.read_text(encoding="utf-8")
    assert (
        text.startswith("<!doctype html>") and "<title>Search of main</title>" in text and "a &lt;machine&gt;" in text
    )
    assert 'src="' not in text and "default-src 'none'" in text and len(text) < 500_000
    assert many.stages.svg.count("<title>trials ") == MOST_COLUMNS


def test_a_notebook_shows_it(plots):
    assert plots._repr_html_().count("CPU seconds") >= 1


def test_a_page_ends_in_html(plots, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.html, not 'x\.png'"):
        plots.save(tmp_path / "x.png")


def test_the_functions_of_a_module_have_their_sections(tmp_path):
    plots = SearchPlots({"f<1>": Search("f<1>", TRIALS), "g": Search("g", TRIALS)})
    assert list(plots.history) == ["f<1>", "g"]
    assert "<h2>f&lt;1&gt;</h2>" in plots.save(tmp_path / "search.html").read_text()
