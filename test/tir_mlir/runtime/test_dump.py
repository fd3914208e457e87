"""`build(..., dump=DIR)` and TIR_DUMP: the module after each stage and pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mlir import ir
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError, LoweringError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import STAGES
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.registry import LOWERINGS
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.dump import Dump
from tir_mlir.target import host

FAILING = "tir-lower-hoist-guards"
SCALE = main("A:64 B:64", each("B:64", "B[vi] = T.exp(A[vi]) * 2.0"), name="scale")


def states(folder: Path) -> list[str]:
    """The names of the states, which are numbered from 0."""
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert [int(name.split("-")[0]) for name in files] == list(range(len(files)))
    return [re.sub(r"^\d+-", "", name) for name in files]


def names_of(passes) -> list[str]:
    return [f"{name.partition('{')[0]}.mlir" for name in passes]


def test_the_state_after_each_pass(tmp_path):
    plain, lib = build(parse(SCALE)), build(parse(SCALE), dump=tmp_path)
    passes = [*pipeline.MODULE_PASSES, *pipeline.pass_names(parallel=False, bf16=False)]
    assert states(tmp_path) == ["input.mlir", *names_of(passes), "link.mlir"]
    first, *_, last = sorted(tmp_path.iterdir())
    assert first.read_text() == str(parse(SCALE).mlir)
    assert last.read_text() == lib.lowered == plain.lowered
    with enter_context():
        for path in tmp_path.iterdir():
            assert ir.Module.parse(path.read_text()).operation.verify()


def test_a_build_with_a_dump_uses_no_cache(tmp_path, monkeypatch):
    build(parse(SCALE))
    saved = []
    monkeypatch.setattr(store, "save", lambda *args: saved.append(args))
    assert not build(parse(SCALE), dump=tmp_path).timing.cached and not saved
    assert build(parse(SCALE)).timing.cached


def test_stages_of_a_graph_then_passes_of_its_function(tmp_path):
    made = GraphBuilder("model")
    x, w = made.input("x", [4, 64]), made.weight("w", np.ones((32, 64), "float32"))
    made.output(made.op("nn.relu", made.op("nn.dense", x, w)))
    model = build(made.finish(), threads=1, dump=tmp_path)
    np.testing.assert_array_equal(model(np.ones((4, 64), "float32")), np.full((4, 32), 64, "float32"))
    found = states(tmp_path)
    stages = [stage.name for stage in STAGES]
    assert found[: len(stages) + 2] == ["input.mlir", *names_of([*stages, "lower-main"])]
    assert found[len(stages) + 2 :][:: len(found)] == names_of(pipeline.MODULE_PASSES[:1]) and found[-1] == "link.mlir"
    if (tmp_path / "weights").exists():
        assert states(tmp_path / "weights")[0] == "lower-main.mlir"


def test_an_error_stands_behind_the_last_state(tmp_path, monkeypatch):
    (tmp_path / "07-of-an-earlier-build.mlir").write_text("")
    (tmp_path / "notes.txt").write_text("stays")

    def fails(module):
        raise LoweringError("no such tail")

    monkeypatch.setitem(LOWERINGS, FAILING, replace(LOWERINGS[FAILING], run=fails))
    with pytest.raises(LoweringError, match="no such tail"):
        build(parse(SCALE), dump=tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "stays"
    (tmp_path / "notes.txt").unlink()
    done = pipeline.MODULE_PASSES[: pipeline.MODULE_PASSES.index(FAILING)]
    assert states(tmp_path) == ["input.mlir", *names_of(done), "error.txt"]
    assert (tmp_path / f"{len(done) + 1:02}-error.txt").read_text() == "LoweringError: no such tail\n"


@pytest.mark.nightly
def test_a_folder_of_the_environment_has_one_for_each_build(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_DUMP", str(tmp_path))
    threads = [threading.Thread(target=build, args=(parse(SCALE),)) for _ in range(2)]
    program = (
        "import sys; from tir_mlir import build; from tir_mlir.script.parser import parse; build(parse(sys.argv[1]))"
    )
    child = subprocess.Popen([sys.executable, "-c", program, SCALE], env={**os.environ})
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert child.wait() == 0
    folders = sorted(path.name for path in tmp_path.iterdir())
    assert len(folders) == 3 and sum(f"-{child.pid}-" in name for name in folders) == 1
    assert all(re.fullmatch(r"scale-\d+-\d+", name) for name in folders)
    assert len({tuple(states(tmp_path / name)) for name in folders}) == 1


def test_a_folder_is_of_one_build_at_a_time(tmp_path):
    with (
        Dump(tmp_path),
        pytest.raises(BuildError, match=r"another build writes its states to .*; fix: a folder for each"),
    ):
        build(parse(SCALE), dump=str(tmp_path))
    build(parse(SCALE), dump=str(tmp_path))


@pytest.mark.parametrize("target", [{"driver": "tools"}, {"target": "neon", "driver": "object"}, {"target": host()}])
def test_every_driver(tmp_path, target):
    build(Schedule(parse(SCALE)["scale"]), **target, dump=tmp_path)
    assert states(tmp_path)[-1] == "link.mlir"


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError, match=r"dump: .*/file/below cannot be written: Not a directory"):
        build(parse(SCALE), dump=tmp_path / "file" / "below")
    monkeypatch.setenv("TIR_DUMP", str(tmp_path / "file"))
    with pytest.raises(BuildError, match=r"dump: .*/file/scale-\d+-\d+ cannot be written"):
        build(parse(SCALE))
    with pytest.raises(BuildError, match="dump is the path of a folder, not 3"):
        build(parse(SCALE), dump=3)  # pyright: ignore[reportArgumentType, reportCallIssue]
