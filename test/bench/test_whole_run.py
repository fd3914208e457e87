"""`make bench` to its end: table, bench.json, its details, bench.md and the plot."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import machine
import report
import run
from contest import OURS, Contest, Contestant, Work
from roofline import Point, Roofs

ROOFS = Roofs({("float32", 1): 50e9}, {1: [Point(1 << 10, 9e9, 10e9)]})
ROOT = Path(__file__).resolve().parents[2]


def doubled(work, names):
    """A work that each of the contestants does."""
    x, result = np.arange(64, dtype="float32"), np.empty(64, "float32")

    def contestant():
        return Contestant(lambda: np.multiply(x, 2, out=result), lambda: result.copy())

    make = lambda: Contest(x * 2, {name: contestant() for name in names})  # noqa: E731
    return Work(work, "64", "float32", 1, "GFLOP/s", 64.0, 256.0, 256.0, make)


def written(out):
    """The works in bench.json, and the text of the plot."""
    plot = out.with_suffix(".svg").read_text()
    assert out.with_suffix(".md").exists() and out.with_name("bench-details.json").exists()
    return [(row["work"], sorted(row["peers"])) for row in json.loads(out.read_text())], plot


def test_two_rows_to_the_end(tmp_path, monkeypatch, capsys):
    works = [doubled("doubled by all", (OURS, *report.PEERS)), doubled("doubled by NumPy", ("numpy",))]
    monkeypatch.setattr(run, "all_works", lambda threads: works)
    monkeypatch.setattr(machine, "roofs", lambda *_: ROOFS)
    out = tmp_path / "bench.json"
    monkeypatch.setattr(
        sys, "argv", ["bench", "--only", "double", "--threads", "1", "--seconds", ".01", "--out", str(out)]
    )
    assert run.main(ROOT) == 0
    found, plot = written(out)
    assert found == [(works[0].work, sorted(report.PEERS)), (works[1].work, ["numpy"])]
    assert f"drawn in {out.with_suffix('.svg')}" in capsys.readouterr().out
    for name in (OURS, *report.PEERS):
        assert f">{name}</text>" in plot


@pytest.mark.nightly
def test_the_command(tmp_path):
    out = tmp_path / "bench.json"
    command = [sys.executable, ROOT / "tools" / "bench", "--threads", "1", "--seconds", "0.1", "--out", out]
    subprocess.run([*command, "--only", "symbolic sizes 127x127x127|^softmax"], check=True)
    found, plot = written(out)
    assert [len(peers) > 0 for _, peers in found] == [True, True] and "constant</text>" in plot
