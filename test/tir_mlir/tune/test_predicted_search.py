"""Searches for CPUs whose code this machine does not run: their times are predicted."""

import pytest
from programs.short import each, program

from tir_mlir import tune
from tir_mlir.errors import BuildError, TuneWarning
from tir_mlir.prediction import predict
from tir_mlir.target import host

ELSEWHERE = "neoverse_v1" if host().arch == "x86_64" else "zen4"
SMALL = program("A:16x8 B:8x32 C:16x32", each(
    "C i:16 j:32 k:8R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0"
))  # fmt: skip


def test_a_cpu_that_is_not_here_ranks_by_prediction_and_says_so():
    with pytest.warns(TuneWarning, match="times are predicted for .*, nothing was measured"):
        best = tune.tune(SMALL, target=ELSEWHERE, trials=3, threads=1, seed=0, builders=1)
    assert best.is_predicted and best.verified and best.statuses == ["ok"] * 3
    assert best.record.machine == f"predicted for {predict(best.schedule, ELSEWHERE).core.name}"
    assert best.seconds == min(trial.median for trial in best.trials)
    assert best.seconds == pytest.approx(predict(best.schedule, ELSEWHERE).likely_cycles / 3e9)


def test_a_cpu_whose_core_is_not_known_is_named():
    with pytest.raises(BuildError, match="no model of the core"):
        tune.tune(SMALL, target="wasm_simd", trials=1)
