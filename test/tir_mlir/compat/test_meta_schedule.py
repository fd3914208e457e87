"""`tvm.meta_schedule`: searches in the form of the slides and in that of a course, by `tir_mlir.tune`."""

from dataclasses import replace

import numpy as np
import pytest

from tir_mlir.dialect.diagnostics import TuneError, TuneWarning
from tir_mlir.script import parse
from tir_mlir.tune.records.record import subject

PROGRAM = """
@I.ir_module
class MyModule:
    @T.prim_func
    def main(A: T.Buffer((32, 24), "float32"), B: T.Buffer((24, 40), "float32"), C: T.Buffer((32, 40), "float32")):
        for i, j, k in T.grid(32, 40, 24):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def stochastic(sch):
    i, j, k = sch.get_loops("C")
    outer, inner = sch.split(j, sch.sample_perfect_tile(j, n=2))
    sch.reorder(i, outer, k, inner)
    sch.decompose_reduction("C", k)
    return sch


@pytest.fixture
def ms(tvm):
    from tvm import meta_schedule  # type: ignore[import-not-found]

    return meta_schedule


@pytest.fixture
def searches(monkeypatch):
    """Calls of `tune.tune`, which finds one schedule of the space without measuring."""
    from types import SimpleNamespace

    from tir_mlir import Schedule, tune

    calls = []

    def found(program, *, work_dir, space, **options):
        calls.append({"space": space, "work_dir": work_dir, **options})
        sch = Schedule(program, seed=1)
        if space is not None:
            space(sch)
        record = subject(program, threads=options["threads"]).record(
            space="mine", decisions={}, trace=sch.trace.as_json(), seconds=(1e-3,)
        )
        tune.Database(work_dir).add(record)
        plain = Schedule(program)
        if space is not None:  # the library's choice is measured, too, and here it is faster
            tune.Database(work_dir).add(replace(record, space="library", trace=plain.trace.as_json(), seconds=(1e-6,)))
        return SimpleNamespace(schedule=sch if space is None else plain)

    monkeypatch.setattr(tune, "tune", found, raising=False)
    return calls


def test_the_form_of_the_course_returns_a_database(tvm, ms, searches, tmp_path):
    mod = parse(PROGRAM)
    database = ms.tune_tir(
        mod=mod, target="llvm --num-cores=1", max_trials_global=8, num_trials_per_iter=4, work_dir=str(tmp_path / "t"),
        space=ms.space_generator.ScheduleFn(stochastic),
    )  # fmt: skip
    asked = searches[0]
    assert (asked["trials"], asked["threads"], asked["space"]) == (8, 1, stochastic)
    sch = ms.tir_integration.compile_tir(database, mod, "llvm --num-cores=1")
    sch.trace.show()
    lib = tvm.build(sch.mod, target="llvm")
    rng = np.random.default_rng(0)
    a, b = rng.random((32, 24), np.float32), rng.random((24, 40), np.float32)
    arrays = tvm.nd.array(a), tvm.nd.array(b), tvm.nd.empty((32, 40), "float32")
    assert lib.time_evaluator("main", tvm.cpu(), number=3)(*arrays).mean > 0
    np.testing.assert_allclose(arrays[2].numpy(), a @ b, rtol=1e-5)


def test_the_form_of_the_slides_returns_a_schedule(tvm, ms, searches, tmp_path):
    tuned = ms.tune_tir(
        mod=parse(PROGRAM), target="llvm", work_dir=str(tmp_path / "t"), task_name="main",
        config=ms.TuneConfig(max_trials_global=64, num_trials_per_iter=64),
    )  # fmt: skip
    assert isinstance(tuned, tvm.tir.Schedule) and searches[0]["trials"] == 64 and searches[0]["threads"] is None


@pytest.mark.parametrize("form", ["slides", "course"])
def test_the_best_of_the_given_space_is_returned(ms, searches, tmp_path, form):
    mod = parse(PROGRAM)
    given = {"space": ms.ScheduleFn(stochastic), "work_dir": str(tmp_path)}
    if form == "slides":
        sch = ms.tune_tir(mod, "llvm", ms.TuneConfig(4), **given)
    else:
        sch = ms.tir_integration.compile_tir(ms.tune_tir(mod, "llvm", max_trials_global=4, **given), mod, "llvm")
    assert "sample_perfect_tile" in sch.trace.as_python()
    assert len(ms.database.JSONDatabase(work_dir=str(tmp_path)).query_schedule(mod, "llvm").trace) == 0  # of all


def test_strategies_are_samplers(ms, searches, tmp_path):
    for strategy in ("replay_trace", "evolutionary"):
        ms.tune_tir(parse(PROGRAM), "llvm", ms.TuneConfig(4, strategy=strategy), work_dir=str(tmp_path))
    assert [asked["sampler"] for asked in searches] == ["random", "tpe"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "hexagon"}, "tuned for the CPU and for NVIDIA GPUs, not 'hexagon'; fix: target=\"llvm\""),
        ({"target": "llvm --num-cores=all"}, "num-cores is a number >= 1, not 'all'"),
        ({"max_trials_global": None}, "max_trials_global is a number of trials >= 1, not None"),
        ({"space": 3}, "space is a ScheduleFn, not 3"),
        ({"strategy": "guess"}, "unknown strategy 'guess'; known: 'replay_trace'"),
        ({"mod": 3}, "takes a module with one function, not 3"),
    ],
)
def test_what_cannot_be_asked_is_told(ms, searches, tmp_path, options, message):
    given = {"mod": parse(PROGRAM), "target": "llvm", "max_trials_global": 4, "work_dir": str(tmp_path), **options}
    with pytest.raises(TuneError, match=message):
        ms.tune_tir(**given)
    assert not searches


def test_a_database_without_a_record_has_no_schedule(ms, tmp_path):
    with pytest.warns(TuneWarning, match="has no record of this program for this target"):
        database = ms.database.JSONDatabase(work_dir=str(tmp_path))
        assert database.query_schedule(parse(PROGRAM), "llvm") is None


def test_new_and_old_homes_are_one(tvm, ms):
    from tvm.s_tir import meta_schedule as new  # type: ignore[import-not-found]

    assert new.tune_tir is ms.tune_tir is ms.tir_integration.tune_tir
    assert ms.ScheduleFn is ms.space_generator.ScheduleFn


def test_a_function_is_needed(ms):
    with pytest.raises(TuneError, match="ScheduleFn takes a function over a Schedule, not 3"):
        ms.ScheduleFn(3)


# --- real searches ----------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_search_over_a_stochastic_schedule(tvm, ms, tmp_path):
    mod = parse(PROGRAM)
    database = ms.tune_tir(
        mod=mod, target="llvm --num-cores=1", max_trials_global=3, num_trials_per_iter=3, work_dir=str(tmp_path),
        space=ms.space_generator.ScheduleFn(stochastic),
    )  # fmt: skip
    sch = ms.tir_integration.compile_tir(database, mod, "llvm --num-cores=1")
    assert "sample_perfect_tile" in sch.trace.as_python() and sch.verify()
    assert {r.space.rpartition(".")[2] for r in database.records(mod)} >= {"stochastic"}
    rng = np.random.default_rng(0)
    a, b = rng.random((32, 24), np.float32), rng.random((24, 40), np.float32)
    c = tvm.nd.empty((32, 40), "float32")
    tvm.build(sch.mod, target="llvm")["main"](tvm.nd.array(a), tvm.nd.array(b), c)
    np.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-5)
