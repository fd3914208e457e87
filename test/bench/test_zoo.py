"""The models of the zoo: how their results are read and told, and, nightly, each of them beside PyTorch."""

import argparse
import importlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

import zoo_page

ROOT = Path(__file__).parents[2]

RIGHT = {"model": "a/right", "import": 1.0, "build": 2.0, "error": 1e-6, "ours": 1.0, "torch": 2.0}
HEAD = {"machine": "a machine", "day": "2030-01-01", "threads": 1, "load": 0.5, "versions": {"torch": "2"}}


def test_the_page_counts_right_wrong_and_slow_models_by_their_last_line(tmp_path):
    slow, wrong = RIGHT | {"model": "a/slow", "ours": 9.0}, RIGHT | {"model": "a/wrong", "error": 0.1}
    lines = [HEAD, {"model": "a/right", "why": "died"}, slow, wrong, RIGHT, {"model": "a/dead", "why": "a | b"}]
    (tmp_path / "results").write_text("\n".join(map(json.dumps, lines)))
    page = zoo_page.page(zoo_page.read(tmp_path / "results"))
    assert "1. 4 of the" in page and "2 are right: no result is off by more than 0.0001" in page
    assert "1 of\nthese take more than 1.1" in page
    assert "a machine; load 0.5 when it began; 1 thread, CPU time; 2030-01-01; torch 2." in page
    assert "| a/right | right | 1.0e-06 | 1 | 2 | 2.00 | 1.0 | 2.0 |" in page and "| a/dead | a / b |" in page


@pytest.mark.parametrize(("ours", "says"), [(1.1e-4, "right"), (2e-4, "wrong: 1.5e-04 of its largest value")])
def test_an_error_is_that_of_rounding_when_pytorch_is_as_far_from_float64(ours, says):
    assert zoo_page.says(RIGHT | {"error": 1.5e-4, "ours off": ours, "torch off": 1e-4}) == says


def test_the_page_of_the_docs_is_that_of_the_results():
    results = zoo_page.read(ROOT / "tools" / "bench" / "zoo_results.jsonl")
    assert (ROOT / "docs" / "models.md").read_text() == zoo_page.page(results)


def test_an_interrupt_ends_the_process_of_a_model(monkeypatch, tmp_path):
    zoo, started = importlib.import_module("zoo"), tmp_path / "started"

    def interrupt_parent(*_):
        started.write_text(str(os.getpid()))
        time.sleep(0.5)  # until the parent waits: Python misses a signal just before its system call
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(1000)

    monkeypatch.setattr(zoo, "_send_facts", interrupt_parent)
    with pytest.raises(KeyboardInterrupt):
        zoo.outcome("json/model", argparse.Namespace(limit=60.0))
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.nightly
def test_the_models_that_are_installed_are_right(tmp_path):
    zoo = importlib.import_module("zoo")
    if not zoo.names():
        pytest.skip("the extra `zoo` is not installed")
    assert not zoo.main(["--out", str(tmp_path / "results"), "--threads", "1"])
