"""What `build` for a GPU gives: PTX with the lines of the program, files, states of each stage, warnings."""

from __future__ import annotations

import re
import warnings

import pytest
from programs import gpu_programs
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.passes.lower import LoweringWarning, pipeline
from tir_mlir.targets import cuda


def test_the_assembly_is_ptx_for_the_chip():
    text = build(gpu_programs.added(64), target="nvidia/tesla-p100").assembly
    assert ".target sm_60" in text and ".visible .entry f_kernel(" in text and ".maxntid 16, 1, 1" in text


def test_lines_of_the_program_and_of_the_schedule():
    text = build(gpu_programs.transposed(64), target="sm_80").assembly
    assert re.search(r'\.file\t\d "<script>"', text) and re.search(r'\.file\t\d ".*gpu_programs\.py"', text)
    before = text.partition("ld.shared")[0].splitlines()
    assert [line for line in before if ".loc" in line][-1].split()[1] == "1"  # the program's file, not the schedule's


def test_files(tmp_path):
    lib = build(gpu_programs.added(64), target="sm_80")
    (path,) = lib.export(tmp_path / "added.ptx")
    assert path.read_text() == lib.assembly
    with pytest.raises(
        BuildError, match=r'added.so: a file .so is not for code of a GPU; fix: lib.export\("added.ptx"\)'
    ):
        lib.export(tmp_path / "added.so")


def test_a_state_after_each_stage(tmp_path):
    build(gpu_programs.added(64), target="sm_80", dump=tmp_path)
    names = [path.stem.partition("-")[2] for path in sorted(tmp_path.iterdir())]
    assert names[0] == "input" and names[1 : 1 + len(pipeline.GPU_PASSES)] == list(pipeline.GPU_PASSES)
    assert "tir-lower-gpu-cp-async" in names and "convert-gpu-to-nvvm" in names


def test_a_local_buffer_in_memory_is_told():
    text = main("A:64x4 B:64", each("B i:64", "B[vi] = A[vi, 0] + 1.0"), name="f")
    sch = Schedule(parse(text))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(sch, target="sm_80")
    with pytest.warns(LoweringWarning, match="kernel k keeps 48 bytes of local buffers a thread in memory"):
        cuda.warn_of_local_memory(".visible .entry k(\n\t.local .align 16 .b8 \t__local_depot0[48];")


@pytest.mark.parametrize(
    ("key", "value", "instead"),
    [
        ("async_scope", 1, "pipeline of the loop around gives the buffer planes"),
        ("prefetch", {"A": 16}, "a copy in shared or local memory"),
    ],
)
def test_an_annotation_that_a_gpu_ignores_is_said_to_be_ignored(key, value, instead):
    sch = gpu_programs.row_sums_by_threads(4, 64)
    sch.annotate(sch.get_loops("B")[1], key, value)
    with pytest.warns(LoweringWarning, match=f'annotation "{key}" has no effect on a GPU; {instead}'):
        build(sch, target="sm_80")
