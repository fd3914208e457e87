"""Predicted cycles of works on all CPUs, beside `golden/predicted.txt`: what makes one worse shows there before it is
merged. `make predicted` writes the file anew; the commit that changes it says why."""

import re
from pathlib import Path

import pytest

import predicted
from predicted import CPUS, GOLDEN, Cell, predict_work, row, works

FILE = Path(__file__).parents[1] / "golden" / "predicted.txt"
BEFORE_A_MERGE = ("haswell", "zen4", "neoverse_v2")


def columns(cpus):
    """The rows of the file, with the columns of some CPUs."""
    lines = FILE.read_text().splitlines()
    assert lines[0] == predicted.header(CPUS), "make predicted writes it anew"
    cells = {line[: predicted.NAME].strip(): line[predicted.NAME :].split() for line in lines[1:]}
    return {name: [values[CPUS.index(cpu)] for cpu in cpus] for name, values in cells.items()}


def check(work, cpus):
    cells = [str(cell) if isinstance(cell, Cell) else cell for _, cell in predict_work(work, cpus)]
    name = row(work, [])[: predicted.NAME].strip()
    assert dict(zip(cpus, cells, strict=True)) == dict(zip(cpus, columns(cpus)[name], strict=True)), (
        "make predicted writes it anew"
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [work.name for work in works(GOLDEN)])
def test_before_a_merge(name):
    (work,) = [work for work in works(GOLDEN) if work.name == name]
    check(work, BEFORE_A_MERGE)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [work.name for work in works(GOLDEN)])
def test_all_cpus(name):
    (work,) = [work for work in works(GOLDEN) if work.name == name]
    check(work, CPUS)


def test_patterns_choose_together(monkeypatch):
    monkeypatch.setattr(predicted, "predict_work", lambda work, cpus: [])
    lines = predicted.table([GOLDEN, re.compile("softmax.* 1 thread")], (), lambda line: None)
    assert [line.split()[0] for line in lines] == ["work", "softmax"]


def test_no_row_is_missing():
    assert list(columns(CPUS)) == [row(work, [])[: predicted.NAME].strip() for work in works(GOLDEN)]
