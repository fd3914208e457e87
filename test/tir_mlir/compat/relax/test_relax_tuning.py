"""Searches over graphs in TVM's spellings: of 2022, and of today."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir import Schedule, tune
from tir_mlir.compat.relax import tuning
from tir_mlir.dialect.diagnostics import GraphError, TuneError
from tir_mlir.tune.records.record import subject

PROGRAM = """
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R

@tvm.script.ir_module
class Net:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            gv = R.exp(x)
            R.output(gv)
        return gv
"""
TARGET = "llvm --num-cores=1"


@pytest.fixture
def net(tvm):
    notebook = Notebook("program")
    notebook.run(PROGRAM)
    return notebook["Net"]


@pytest.fixture
def searches(monkeypatch):
    """Searches that find that the rows of every program are split by two."""
    asked = []

    def found(prepared, goal, inputs, sizes, options, progress=None):
        asked.append(options)
        for name, function in prepared.module.prim_funcs.items():
            sch = Schedule(function.isolated_module)
            (block,) = sch.get_child_blocks(sch.get_block("root", name))
            sch.split(sch.get_loops(block)[0], [None, 2])
            record = subject(function.isolated_module, threads=options.threads).record(
                space="library", decisions={}, trace=sch.trace.as_json(), seconds=(1e-3,)
            )
            tune.Database(options.work_dir).add(record)

    monkeypatch.setattr(tuning, "search_functions", found)
    monkeypatch.setattr("tir_mlir.tune.models.tune_model.search_functions", found)
    return asked


def check(tvm, ex):
    x = np.random.default_rng(0).random((4, 8), np.float32)
    made = tvm.relax.VirtualMachine(ex, tvm.cpu())["main"](tvm.nd.array(x)).numpy()
    np.testing.assert_allclose(made, np.exp(x), rtol=1e-6)
    (origin,) = [how for how, _ in ex.models["main"].schedules.values()]
    assert origin.startswith("record "), origin


def test_a_database_of_a_module_compiles_it(tvm, net, searches, tmp_path):
    from tvm import meta_schedule as ms  # type: ignore[import-not-found]

    database = ms.relax_integration.tune_relax(
        mod=net, params={}, target=TARGET, work_dir=str(tmp_path), max_trials_global=8
    )
    assert (searches[0].trials, searches[0].threads) == (8, 1)
    check(tvm, ms.relax_integration.compile_relax(database, net, TARGET, {}))


def test_the_form_of_2022_returns_what_is_compiled(tvm, net, searches, tmp_path):
    from tvm import meta_schedule as ms  # type: ignore[import-not-found]

    check(tvm, ms.tune_relax(net, target=TARGET, config=ms.TuneConfig(8), work_dir=str(tmp_path)))


def test_a_pipeline_searches_and_applies(tvm, net, searches, tmp_path):
    pipeline = tvm.relax.get_pipeline("static_shape_tuning", target=TARGET, total_trials=8, work_dir=str(tmp_path))
    tuned = pipeline(net)
    assert "T.grid(2, 2, 8)" in tuned.script() or "range(2)" in tuned.script()
    check(tvm, tvm.compile(tuned, target="llvm"))


def test_a_database_in_force_is_applied(tvm, net, searches, tmp_path):
    legal = tvm.relax.transform.LegalizeOps()(net)
    with tvm.target.Target(TARGET):
        tvm.relax.transform.MetaScheduleTuneIRMod({}, str(tmp_path), 8)(legal)
        with tune.Database(tmp_path):
            tuned = tvm.relax.transform.MetaScheduleApplyDatabase()(legal)
    assert tuned.script() != legal.script()
    check(tvm, tvm.relax.build(tuned))


def test_what_is_missing_is_told(tvm, net, tmp_path):
    with pytest.raises(TuneError, match="has no database; fix: its work_dir"):
        tvm.relax.transform.MetaScheduleApplyDatabase()(net)
    with pytest.raises(TuneError, match="params has arrays by name, not 'llvm'; fix: name the arguments"):
        tuning.tune_relax(net, "llvm")  # pyright: ignore[reportArgumentType]
    with pytest.raises(GraphError, match="no pipeline 'one'; fix: one of zero, default, static_shape_tuning"):
        tvm.relax.get_pipeline("one")
