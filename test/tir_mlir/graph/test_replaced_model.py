"""Models that are ready soon and are replaced while calls go on: `build(graph, optimize="fast", then="full")`."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build
from tir_mlir.dialect.diagnostics import BuildError, GraphError
from tir_mlir.graph.replacing import replaced_model
from tir_mlir.graph.replacing.replaced_model import ReplacementWarning
from tir_mlir.runtime.workers import CRASHED, TaskResult
from tir_mlir.runtime.workers.messages import FAILED

X = random(3, 33)


@pytest.fixture
def by_hand(monkeypatch):
    """Models are replaced when the test says so: a list of what replaces them, given the answer of a worker."""
    steps = []

    class ByHand:
        is_lost = False

        def __init__(self, task, then):
            steps.append(then)

        def wait(self, timeout=None):
            return True

    monkeypatch.setattr(replaced_model, "Background", ByHand)
    return steps


def fast_then_full(graph, **options):
    return build(graph, threads=1, optimize="fast", then="full", **options)


def test_calls_go_on_and_give_the_same_before_and_after(by_hand):
    graph = mlp(3)
    model = fast_then_full(graph)
    before, first = model(X), model.schedules
    assert not model.is_replaced
    by_hand[0](TaskResult(FAILED))  # the worker was ended from outside: it is built here
    assert model.is_replaced
    assert model.schedules != first
    np.testing.assert_allclose(model(X), before, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model(X), run_mlp(graph, X), rtol=1e-4, atol=1e-5)


def test_another_process_builds_it_while_calls_go_on():
    model = fast_then_full(mlp(3))
    calls = 0
    while not model.wait(0):
        model(X)
        calls += 1
    assert model.is_replaced and calls
    assert all(origin.startswith("schedules.auto") for origin, _ in model.schedules.values())
    assert model.timing.cached  # by the other process


def test_without_a_cache_it_is_built_here():
    model = fast_then_full(mlp(3), cache=False)
    assert model.wait()


def test_an_error_of_the_full_build_is_told_once(by_hand):
    model = fast_then_full(mlp(3))
    before = model(X)
    by_hand[0](TaskResult(CRASHED, 0.0, b"SIGSEGV"))
    with pytest.warns(ReplacementWarning, match="goes on as it was built first, as its full build failed: .*SIGSEGV"):
        np.testing.assert_array_equal(model(X), before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(X)


def test_waiting_raises_the_error_of_the_full_build(by_hand):
    model = fast_then_full(mlp(3))
    by_hand[0](TaskResult(CRASHED, 0.0, b"SIGSEGV"))
    with pytest.raises(BuildError, match="MLIR or LLVM crashed"):
        model.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(X)


@pytest.mark.parametrize("options", [{"then": "fast", "optimize": "fast"}, {"then": "full"}, {"then": 3}])
def test_what_replaces_nothing_is_refused(options):
    with pytest.raises(GraphError, match='then="full" replaces a model of optimize="fast"; there is no then='):
        build(mlp(), **options)


def test_two_builds_have_no_dump(tmp_path):
    with pytest.raises(GraphError, match="dump is for one build"):
        fast_then_full(mlp(), dump=tmp_path)


_CHILD = """
import os, sys, numpy as np
from harness.graph_cases import mlp, random, run_mlp
from tir_mlir import build
model = build(mlp(3), threads=1, optimize="fast", then="full")
expected = model(random(3, 33))
{then}
"""
_FORK = """
child = os.fork()
if not child:
    same = np.allclose(model(random(3, 33)), expected, atol=1e-5) and model.wait() and model.is_replaced
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
assert model.wait()
"""


@pytest.mark.parametrize("then", ["", _FORK], ids=["exit", "fork"])
def test_the_process_may_end_or_fork_meanwhile(then):
    path = os.pathsep.join(part for part in sys.path if part)
    environment = {**os.environ, "PYTHONPATH": path, "TIR_WORKERS": "2"}
    command = [sys.executable, "-c", _CHILD.format(then=then)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
