"""The space of kernels for a GPU: every point is a schedule that runs as kernels."""

import numpy as np
import pytest
from programs.short import each, program

from tir_mlir import Schedule, build, schedules, tune
from tir_mlir.errors import BuildError, LoweringError, ScheduleError, TuneWarning
from tir_mlir.target import CUDA
from tir_mlir.tune import Database
from tir_mlir.tune.records.record import subject
from tir_mlir.tune.search.candidates import draw_candidate
from tir_mlir.tune.spaces.deciders import Defaults
from tir_mlir.tune.spaces.kernels import kernels
from tir_mlir.tune.trials.outcome import Status

PRODUCT = each("C i:48 j:40 k:24R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0")
SMALL = each("C i:32 j:32 k:8R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0")
SOFT = each("D i:48 j:40", "D[vi, vj] = C[vi, vj] * 2.0")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_products_with_what_follows(seed):
    sch = Schedule(program("A:48x24 B:24x40 D:48x40; C:48x40", PRODUCT, SOFT), seed=seed)
    kernels(sch)
    draw = np.random.default_rng(0)
    a, b = draw.random((48, 24), dtype=np.float32), draw.random((24, 40), dtype=np.float32)
    d = np.zeros((48, 40), np.float32)
    build(sch, target="cuda-emulated")(a, b, d)
    np.testing.assert_allclose(d, a @ b * 2, rtol=1e-5)


def test_the_first_choice_is_a_tile_in_shared_memory():
    sch = Schedule(program("A:48x24 B:24x40 C:48x40", PRODUCT), seed=0)
    kernels(sch)
    assert 'scope="shared"' in sch.mod.script()


def test_products_begin_with_the_tiles_of_the_library():
    """The first choice is `schedules.gemm`."""
    product = program("A:32x8 B:8x32 C:32x32", SMALL)
    by_hand = Schedule(product)
    schedules.gemm(by_hand, "C", target="sm_80")
    chosen = draw_candidate(product, kernels, Defaults())
    assert chosen.decisions["C.tile"] == 0 and chosen.schedule.mod.script() == by_hand.mod.script()


def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(BuildError, match=r"no rates are known of sm_121|kernels for sm_121 cannot be timed"):
        tune.tune(program("A:48x24 B:24x40 C:48x40", PRODUCT), target="sm_121")


@pytest.mark.skipif(CUDA("sm_80").hindrance is None, reason="there is a GPU, which measures")
def test_without_a_gpu_times_are_predicted_and_said_to_be(tmp_path):
    product = program("A:128x32 B:32x128 C:128x128", each(
        "C i:128 j:128 k:32R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0"
    ))  # fmt: skip
    with pytest.warns(TuneWarning, match="times are predicted for A100, nothing was measured"):
        best = tune.tune(product, target="sm_80", trials=3, seed=0, builders=2, work_dir=tmp_path)
    assert best.is_predicted and "times are predicted for A100" in str(best)
    assert best.record.machine == "predicted for A100" and best.statuses == ["ok"] * 3
    assert best.seconds == build(best.schedule, target="sm_80").predict().seconds
    assert best.seconds == min(trial.median for trial in best.trials)


@pytest.mark.nightly
def test_records_of_a_gpu_are_found_by_its_chip(tmp_path):
    product = program("A:32x8 B:8x32 C:32x32", SMALL)
    best = draw_candidate(product, kernels, Defaults()).schedule
    about = subject(product, "sm_80")
    Database(tmp_path).add(about.record(
        space="library", decisions={}, trace=best.trace.as_json(), status=Status.OK,
        seconds=(1e-3,), stages={}, reason="",
    ))  # fmt: skip
    with Database(tmp_path):
        assert "32x32" in str(build(product, target="sm_80")).replace(", ", "x")
        with pytest.raises(LoweringError, match="not bound to blocks or threads"):
            build(product, target="sm_90")


def test_a_program_without_loops_is_refused():
    sch = Schedule(program("A:1", '    with T.block("A"):\n        A[0] = 1.0'))
    with pytest.raises(ScheduleError, match='block "A" has no loop'):
        kernels(sch)
