"""Every primitive and every lowering pass that tir-opt can run has a FileCheck test that runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import ROOT

from tir_mlir.opt.graph_passes import GRAPH_PASSES
from tir_mlir.opt.pipeline_text import pass_name
from tir_mlir.passes.linalg import CONVERSIONS
from tir_mlir.passes.lower import LOWERINGS, pipeline
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.targets.cuda import nvvm_passes
from tir_mlir.targets.opencl import TO_SPIRV, spirv_passes

PASSES = ROOT / "test" / "lit" / "passes"
STEPS = sorted(p.name for p in PRIMITIVES.values() if not p.pure)
CHOICES = sorted(p.name for p in PRIMITIVES.values() if p.samples or p.name == "enter_postproc")  # no passes


def _files(folder: str) -> list[Path]:
    """The tests of a folder and of the families in it."""
    return [f for f in (PASSES / folder).rglob("*") if f.suffix in (".mlir", ".py") and f.parent.name != "Inputs"]


def _run_lines(folder: str, stem: str) -> list[str]:
    found = [f for f in _files(folder) if f.stem == stem]
    assert found, f"test/lit/passes/{folder}/FAMILY/{stem}.mlir or .py is missing"
    return [line for f in found for line in f.read_text(encoding="utf-8").splitlines() if "RUN:" in line]


@pytest.mark.parametrize("name", STEPS)
def test_a_primitive_has_its_file_with_refusals(name: str) -> None:
    runs = _run_lines("schedule", name)
    assert any(pass_name(name) in line and "FileCheck" in line for line in runs)
    assert any("--verify-diagnostics" in line or "not tir-opt" in line for line in runs), "no refusal is checked"


@pytest.mark.parametrize("name", CHOICES)
def test_a_step_that_only_chooses_has_its_file(name: str) -> None:
    assert any("%python" in line and "FileCheck" in line for line in _run_lines("schedule", name))


@pytest.mark.parametrize("name", sorted(LOWERINGS))
def test_a_lowering_pass_has_its_file(name: str) -> None:
    stem = name.removeprefix("tir-lower-").removeprefix("gpu-").replace("-", "_")
    assert any(name in line and "FileCheck" in line for line in _run_lines("lower", stem))


def test_a_lowering_pass_is_called_as_its_file():
    """`tir-lower-X` is in `X.py`, `tir-lower-gpu-X` in `X.py` of the folder `gpu`; further passes of a file
    have a word more: `tir-lower-bf16-moves`."""
    own = {n: p for n, p in LOWERINGS.items() if p.run.__module__.startswith("tir_mlir.")}  # a page adds one
    for name, one in own.items():
        folder, _, stem = one.run.__module__.removeprefix("tir_mlir.passes.lower.").replace("_", "-").rpartition(".")
        stem = f"gpu-{stem}" if folder.partition(".")[0] == "gpu" else stem
        assert f"{name}-".startswith(f"tir-lower-{stem}-"), f"{name} is in {one.run.__module__}"


def test_every_lowering_pass_has_a_position():
    """But for those that only a checked build runs, before the others, and an emulated one, after them."""
    own = {n for n, p in LOWERINGS.items() if p.run.__module__.startswith("tir_mlir.")}
    run = {
        *pipeline.MODULE_PASSES,
        *pipeline.GPU_PASSES,
        *nvvm_passes(32),
        *spirv_passes(32),
        TO_SPIRV,
        *pipeline.pass_names(parallel=True),
    }
    assert own - run == {"tir-lower-checks-mark", "tir-lower-gpu-emulation"}


@pytest.mark.parametrize("name", sorted(CONVERSIONS))
def test_a_pass_to_or_from_linalg_has_its_file_with_refusals(name: str) -> None:
    runs = _run_lines("linalg", name.removeprefix("tir-").replace("-", "_"))
    assert any(name in line and "FileCheck" in line for line in runs)
    assert any("--verify-diagnostics" in line for line in runs)


def test_each_pass_on_graphs_has_its_file():
    """With a refusal, but for the one that runs the others."""
    found = {f.stem: f for f in (ROOT / "test" / "lit" / "graph").iterdir() if f.suffix in (".mlir", ".py")}
    wanted = {name.removeprefix("tir-graph-").replace("-", "_"): name for name in GRAPH_PASSES}
    assert sorted(found) == sorted(wanted)
    for stem, name in wanted.items():
        text = found[stem].read_text(encoding="utf-8")
        assert any("RUN:" in line and name in line for line in text.splitlines()), name
        assert "expected-error" in text or "RUN: not tir-opt" in text or name == "tir-graph-compile", name


@pytest.mark.parametrize("folder", ["schedule", "lower"])
def test_no_file_is_left_behind(folder: str) -> None:
    known = (
        {*STEPS, *CHOICES}
        if folder == "schedule"
        else {n.removeprefix("tir-lower-").removeprefix("gpu-").replace("-", "_") for n in LOWERINGS}
    )
    known |= {"whole_way"} if folder == "lower" else set()
    stems = [f.stem for f in _files(folder)]
    assert sorted(stems) == sorted(known)
