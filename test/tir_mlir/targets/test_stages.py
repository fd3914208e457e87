"""Back ends: one for each kind of target, the order of stages, what each target answers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import pytest
from harness import ROOT
from programs import gpu_programs
from project.test_layers import syntax

from tir_mlir import build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.target import CUDA, NAMES, OPENCL, ROCM, AnyTarget, OpenCL, host, named
from tir_mlir.targets import BuildOptions, Compilation, back_end_of
from tir_mlir.targets.kernels import device_options

GPUS = (CUDA("sm_90"), CUDA(emulated=True), OPENCL, OpenCL(spirv=True), ROCM())
KINDS = {"CUDA", "ROCM", "OpenCL", "GPU", "Target"}


@pytest.mark.parametrize("target", [host(), *NAMES.values(), *GPUS], ids=lambda t: type(t).__name__)
def test_a_target_has_a_back_end_and_answers(target: AnyTarget):
    back_end = back_end_of(target)
    with enter_context():
        options = BuildOptions(target=target, driver="object" if target.is_cpu and target.as_cpu().triple else "jit")
        module = gpu_programs.added(64).mod.mlir
        stages = back_end.stages(Compilation(program=module, source="", signatures=(), options=options))
    assert stages[-1].yields and len({stage.yields for stage in stages}) > 1
    assert target.memories["global"].seen_by == "program"
    assert target.runs_here == (target.hindrance is None) or (target.is_cpu and not target.as_cpu().triple)
    assert ("driver" in back_end.takes) == target.is_cpu


def test_the_limits_of_kernels_are_the_memory_of_the_target():
    limits = device_options(CUDA("sm_90", shared_static=1 << 10))["tir-lower-gpu-kernels"]
    assert limits == {"threads": 1024, "shared_static": 1 << 10, "shared": 227 << 10, "chip": "sm_90"}
    limits = device_options(OPENCL)["tir-lower-gpu-kernels"]
    assert limits["shared_static"] == limits["shared"] == OPENCL.shared


def test_a_kind_without_a_back_end_is_refused():
    @dataclass(frozen=True)
    class Unknown(AnyTarget):
        kind = "unknown"

    with pytest.raises(BuildError, match=r"unknown has no back end; fix: targets.register\('unknown', "):
        build(gpu_programs.added(64), target=Unknown())


def test_an_emulated_gpu_has_the_stages_of_both_in_its_timing():
    timing = build(gpu_programs.added(64), target="cuda-emulated", cache=False).timing
    assert {"tir-lower-gpu-barriers", "tir-lower-vectorize"} <= timing.passes.keys()
    assert list(timing)[:2] == ["key", "lower"] and "compile" in timing and named("cuda-emulated").runs_here


def test_only_targets_are_asked_for_their_class():
    """Elsewhere a target is asked a question, so that a new kind is not a change of many files."""
    wrong = []
    for path in [p for top in ("tir_mlir", "dialect", "passes") for p in (ROOT / top).rglob("*.py")]:
        place = path.relative_to(ROOT)
        if "/target/" in str(place) or "/targets/" in str(place):
            continue
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                names = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                wrong += [f"{place}:{node.lineno}"] * bool(names & KINDS)
    assert not wrong
