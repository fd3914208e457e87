"""`tune.tune_model`: the functions of a graph are searched, the model is built of what was found."""

import numpy as np
import pytest
from harness.graphs import graph_of
from programs.matmul import matmul

from tir_mlir import build, tune
from tir_mlir.dialect.diagnostics import TuneError, TuneWarning
from tir_mlir.graph.compile import compile_graph
from tir_mlir.tune.models import tune_model
from tir_mlir.tune.models.tasks import standalone_module

EXP = graph_of(lambda b, x: b.op("exp", x), (4,))


def two_functions(*shape):
    """A function that is called twice, and another one."""
    return graph_of(lambda b, x, y, z: (b.op("sqrt", x), b.op("exp", y), b.op("exp", z)), *[shape or (4, 64)] * 3)


def test_the_model_is_built_of_what_was_found(lab, tmp_path):
    inputs = [np.random.default_rng(1).random((4, 64), np.float32) for _ in range(3)]
    best = tune.tune_model(two_functions(), inputs, trials=12, work_dir=tmp_path, threads=1, seed=0, builders=1)
    for found, wanted in zip(best.model(*inputs), [np.sqrt(inputs[0]), *map(np.exp, inputs[1:])], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert [(one.name, one.calls, one.gain) for one in best.searched] == [("exp", 2, 2), ("sqrt", 1, 2)]
    assert all(one.verified for one in best.searched) and best.trials == best.searched[0].trials + 4
    with tune.Database(tmp_path):
        again = build(two_functions(), threads=1)  # one thread, as in the search
    assert all(again.schedules[one.name][0].startswith("record ") for one in best.searched)
    assert [line.split()[0] for line in str(best).splitlines()] == ["function", "exp", "sqrt", "model"]


@pytest.mark.nightly
def test_what_is_slower_in_the_model_is_not_used(lab, tmp_path, monkeypatch):
    times = {"exp": (1e-3, 1.1e-3), "sqrt": (1e-3, 1e-3)}
    monkeypatch.setattr(tune_model, "task_seconds", lambda *_: times)
    best = tune.tune_model(two_functions(), trials=8, work_dir=tmp_path, threads=1, seed=0, builders=1)
    (one,) = best.searched
    assert (one.name, one.gain, one.used) == ("exp", 2, False) and "0.91, not used" in str(best)
    assert best.gain == 1  # the model is what it was
    record = tune.Database(tmp_path, threads=1).best(
        standalone_module(compile_graph(two_functions(), "pack_weights").module, "exp")
    )
    assert record and record.verified and record.decisions["T_exp.generic"] == 0  # the library's schedule


@pytest.mark.nightly
def test_functions_of_packed_weights_are_searched(lab, tmp_path):
    weight, x = (np.random.default_rng(n).random(shape, np.float32) for n, shape in enumerate([(40, 24), (8, 24)]))

    def dense(b, x):
        return b.op("nn.dense", x, b.weight("w", weight))

    best = tune.tune_model(graph_of(dense, x.shape), [x], trials=2, work_dir=tmp_path, threads=1, seed=0, builders=1)
    (one,) = best.searched
    assert one.best and one.best.trials[1].decisions != one.best.trials[0].decisions
    with tune.Database(tmp_path):
        model = build(graph_of(dense, x.shape), threads=1)
    assert model.schedules[one.name][0].startswith("record ") and "main_weights" in model.graph.text()
    np.testing.assert_allclose(model(x), x @ weight.T, rtol=1e-5)


@pytest.mark.nightly
def test_a_search_goes_on_where_it_ended(lab, tmp_path):
    given = {"work_dir": tmp_path, "threads": 1, "seed": 0, "builders": 1}
    first = tune.tune_model(two_functions(), trials=3, **given)
    count = len(lab.started)
    more = tune.tune_model(two_functions(), trials=5, **given)
    assert (first.trials, more.trials) == (3, 5) and len(lab.started) - count == 2


def test_ctrl_c_keeps_the_best_so_far(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "stop_at", 6)
    best = tune.tune_model(two_functions(), trials=32, work_dir=tmp_path, threads=1, seed=0, builders=1)
    assert best.interrupted and best.trials < 8 and best.searched[0].verified


def test_a_function_without_a_reference_keeps_the_library_s_schedule(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "without_reference", ("exp",))
    best = tune.tune_model(two_functions(), trials=2, work_dir=tmp_path, threads=1, seed=0, builders=1)
    assert [one.name for one in best.searched] == ["sqrt"]
    assert best.notes == ["exp keeps the library's schedule: it has no result"]


def test_named_sizes_are_measured_at_those_of_the_inputs(lab, tmp_path):
    best = tune.tune_model(two_functions("n", 8), trials=2, sizes={"n": 5}, work_dir=tmp_path, threads=1, builders=1)
    assert [o.shape for o in best.model(*[np.zeros((7, 8), np.float32)] * 3)] == [(7, 8)] * 3
    with pytest.raises(TuneError, match=r"and n has none; fix: inputs=\[...\], or sizes=\{'n': ...\}"):
        tune.tune_model(two_functions("n", 8), trials=2, threads=1, builders=1)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (matmul(8, 8, 8), {}, "takes a graph, not a module of programs; fix: tune.tune"),
        (EXP, {"inputs": []}, "the model takes x0; inputs has 0"),
        (EXP, {"inputs": "x0"}, "inputs is a list of arrays, one for each of x0, not str"),
        (EXP, {"target": "neon"}, "does not run code for 'neon'; fix: tune its functions"),
        (EXP, {"target": "cuda"}, "searched for CPUs, not for 'cuda'; fix: target=None"),
        (EXP, {"sizes": {"k": 3}}, "sizes has 'k'; the sizes of the graph are numbers"),
    ],
)
def test_what_cannot_be_tuned_is_refused(lab, given, options, message):
    with pytest.raises(TuneError, match=message):
        tune.tune_model(given, trials=2, threads=1, builders=1, **options)


def test_a_record_that_no_longer_applies_is_named(lab, tmp_path):
    best = tune.tune_model(two_functions(), trials=2, work_dir=tmp_path, threads=1, builders=1)
    name = best.searched[0].name
    for path in tmp_path.glob("records/*/*/*.json"):
        path.write_text(path.read_text().replace("GetBlock", "GetNothing").replace("GetSBlock", "GetNothing"))
    with tune.Database(tmp_path, threads=1), pytest.warns(TuneWarning, match=f"{name}: record .* is passed over: its"):
        assert build(two_functions()).schedules[name][0].startswith("schedules.auto")


def test_a_graph_is_no_program_to_tune():
    with pytest.raises(TuneError, match=r"not Graph; fix: tune.tune_model searches over a graph"):
        tune.tune(EXP, trials=2)
