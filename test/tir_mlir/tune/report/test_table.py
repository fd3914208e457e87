"""The table of a result."""

from types import SimpleNamespace

import pytest

from tir_mlir.tune.report.table import WIDTH, duration, table_of


def result(**more):
    given = {
        "decisions": {"C.rows": 6}, "seconds": 0.5e-3, "library_seconds": 1e-3, "verified": "checked", "notes": [],
        "references": {"NumPy": 2e-3}, "statuses": ["ok", "ok", "crashed"],
    }  # fmt: skip
    return SimpleNamespace(**given | more)


def test_the_table_compares_with_the_library():
    assert table_of(result()).splitlines() == [
        "program                     time    gain",
        "library's schedule          1 ms    1.00",
        "best found                500 us    2.00",
        "NumPy                       2 ms    0.50",
        "",
        "decisions: C.rows=6",
        "trials: 3: 2 ok, 1 crashed",
        "verified: checked",
    ]


def test_what_was_not_measured_or_verified_is_told():
    text = table_of(result(library_seconds=None, verified="", notes=["the finals were skipped"]))
    assert "library's schedule  not measured" in text
    assert text.endswith("not verified\nnote: the finals were skipped")


def test_long_decisions_are_wrapped():
    lines = table_of(result(decisions={f"C.parameter_{n}": n for n in range(20)})).splitlines()
    assert max(map(len, lines)) <= WIDTH and sum("C.parameter" in line for line in lines) == 4


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "not measured"), (2.5, "2.5 s"), (1.23456e-3, "1.235 ms"), (5e-7, "0.5 us")]
)
def test_times_have_units(seconds, text):
    assert duration(seconds) == text
