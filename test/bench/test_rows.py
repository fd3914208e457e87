"""The rows of bench.json: their form, fractions, goals and means."""

import json

import numpy as np
import pytest

import readme_table
import report
import rows
from contest import Contest, Contestant, Goal, Work, WrongResult, check
from measure import Stats
from roofline import Point, Roofs
from rows import KEYS, Row

ROOFS = Roofs({("float32", 1): 50e9}, {1: [Point(1 << 10, 9e9, 10e9)]})


def work(unit="GFLOP/s", goals=(), group=""):
    return Work("product", "8x8", "float32", 1, unit, 1e9, 600.0, 300.0, lambda: Contest(np.zeros(1)), goals, group)


def timed(seconds):
    return Stats.of([seconds])


def test_a_row_has_figures_in_billions_a_second_and_its_share_of_the_roof():
    row = rows.row(work(), {"ours": timed(0.04), "mkl": timed(0.025)}, {"torch": "not there"}, ROOFS)
    assert row.ours == pytest.approx(25.0) and row.peers == {"mkl": pytest.approx(40.0)}
    assert row.peak == pytest.approx(50.0) and row.fraction == pytest.approx(0.5)
    assert tuple(row.plain()) == KEYS


def test_a_row_in_bytes_is_bounded_by_memory():
    row = rows.row(work("GB/s"), {"ours": timed(1.0)}, {}, Roofs({}, ROOFS.curves))
    assert row.ours == pytest.approx(900e-9) and row.peak == pytest.approx(9.0)


def test_missing_rates_are_null_for_ours_and_omitted_for_peers(tmp_path):
    row = rows.row(work(), {"mkl": timed(0.02)}, {"ours": "no schedule", "numpy": "gone"}, ROOFS)
    details = rows.write(tmp_path / "bench.json", [row], {"cpu": "one"})
    (plain,) = json.loads((tmp_path / "bench.json").read_text())
    assert plain["ours"] is None and plain["fraction"] is None and plain["peers"] == {"mkl": pytest.approx(50.0)}
    more = json.loads(details.read_text())
    assert more["machine"] == {"cpu": "one"} and more["rows"][0]["missing"]["numpy"] == "gone"


def test_faster_peers_are_named_with_their_ratio(tmp_path):
    took = {"ours": timed(0.04), "mkl": timed(0.02), "torch": timed(0.01), "numpy": timed(0.05)}
    row = rows.row(work(), took, {}, ROOFS)
    assert report.beaten([row]) == ["beaten: product 8x8, threads 1: torch 4.00x, mkl 2.00x"]
    details = rows.write(tmp_path / "bench.json", [row], {})
    assert json.loads(details.read_text())["rows"][0]["beaten_by"] == pytest.approx({"torch": 4.0, "mkl": 2.0})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ours": 0.0}, "ours must be a positive number, got 0"),
        ({"peers": {"mkl": float("inf")}}, "mkl must be a positive number, got inf"),
        ({"peers": {"mkl": None}}, "left out"),
        ({"extra": 1}, "must have the keys"),
    ],
)
def test_malformed_rows_are_not_written(change, message):
    plain = rows.row(work(), {"ours": timed(0.04)}, {}, ROOFS).plain()
    rows.check([plain])
    with pytest.raises(ValueError, match=message):
        rows.check([{**plain, **change}])


def test_a_goal_is_relative_to_the_fastest_of_its_peers():
    goal = Goal(0.95, ("mkl", "numpy"))
    assert goal.met(95.0, {"mkl": 100.0, "numpy": 20.0}) is True
    assert goal.met(94.0, {"mkl": 100.0, "numpy": 20.0}) is False
    assert goal.met(94.0, {"torch": 1.0}) is None and goal.met(None, {"mkl": 1.0}) is None
    assert Goal(100.0, ()).met(101.0, {}) is True


def test_a_group_ends_with_its_geometric_mean():
    def row(ours, mkl):
        took = {"mkl": timed(1 / mkl)} if ours is None else {"ours": timed(1 / ours), "mkl": timed(1 / mkl)}
        return rows.row(work(group="layers"), took, {}, ROOFS)

    *_, mean = rows.with_means([row(2.0, 1.0), row(8.0, 1.0)])
    assert mean.ours == pytest.approx(4.0) and mean.shape == "geometric mean of 2" and mean.peers["mkl"] == 1.0
    assert rows.with_means([row(2.0, 1.0), row(None, 4.0)])[-1].ours is None


def test_a_wrong_result_is_found_and_a_right_one_passes():
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = expected * (1 + 1e-6)
    check("near", Contestant(lambda: None, lambda: result), expected)
    with pytest.raises(WrongResult, match=r"far differs from NumPy by 0.01"):
        check("far", Contestant(lambda: None, lambda: expected + np.float32(0.01)), expected)
    with pytest.raises(WrongResult, match=r"returns shape \(3,\)"):
        check("flat", Contestant(lambda: None, lambda: expected[0]), expected)
    with pytest.raises(WrongResult, match="differs"):
        check("nan", Contestant(lambda: None, lambda: expected * np.nan), expected)
    with pytest.raises(WrongResult, match="differs"):
        check("off by one", Contestant(lambda: None, lambda: np.array([2])), np.array([1], np.int32))


def test_each_reason_is_printed_once():
    row = Row("w", "1", "float32", 1, "GB/s", None, {}, None, missing={"tvm": "not there"})
    other = Row("w", "2", "float32", 1, "GB/s", None, {}, None, missing={"tvm": "not there"})
    assert report.reasons([row, other]) == ["tvm: not there [w 1 and 1 more]"]
    assert report.cell(None, 1.0) == "-" and report.cell(50.0, 100.0) == "50.0 (50%)"


def test_the_table_of_the_readme_has_the_peers_that_ran_and_means_for_groups():
    one = Row("w", "8x8", "float32", 2, "GFLOP/s", 25.0, {"mkl": 40.0}, 50.0)
    layer = Row("layers", "1", "float32", 1, "GFLOP/s", None, {"torch": 1.0}, None, group="layers")
    assert readme_table.table([one, layer]).splitlines() == [
        "| What | Size | Threads | ours | mkl | torch | roof | ours / roof | unit |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|",
        "| w | 8 x 8 | 2 | 25.0 | 40.0 |  | 50.0 | 50% | GFLOP/s |",
    ]
