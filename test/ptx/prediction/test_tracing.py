"""Blocks that are followed without values do what the machine counts."""

from __future__ import annotations

import pytest
from harness import ptx as kernels
from programs import gpu_programs, kernel_kinds, measured_products, pipelines

from tir_mlir import Schedule, build, ptx, schedules
from tir_mlir.ptx.prediction.tracing import TracedLaunch, TraceMachine, sample_blocks, trace_launch
from tir_mlir.ptx.program import LaunchRecorder, MachineDriver, sample_arguments


def launches(sch, chip: str = "sm_80") -> tuple[list[TracedLaunch], MachineDriver]:
    """The launches of a program, and a driver that has run them with all checks."""
    lib = build(sch, target=chip)
    function = lib[next(iter(lib))]
    recorder, machine = LaunchRecorder(chip=chip), MachineDriver(chip=chip)
    function.run(recorder, sample_arguments(function.signature, filled=False))
    function.run(machine, sample_arguments(function.signature))
    return recorder.launches, machine


def totals(report: ptx.Report) -> dict[str, tuple[int, ...] | int]:
    shared = report.shared_requests, report.shared_passes, report.shared_least
    return {"shared": shared, "global": (report.global_requests, report.sectors, report.sectors_least),
            "branches": report.branches, **report.instructions}  # fmt: skip


def scheduled(program) -> Schedule:
    """As the library has it."""
    sch = Schedule(program)
    schedules.auto(sch, target="sm_80")
    return sch


SCHEDULES = {
    "ragged": lambda: gpu_programs.added(40),
    "transpose": lambda: gpu_programs.transposed(32),
    "two kernels": lambda: gpu_programs.two_nests(128),
    "shuffles": lambda: gpu_programs.row_sums_by_threads(2, 48),
    "softmax": lambda: gpu_programs.softmax(3, 80),
    "product": lambda: measured_products.measured(128),
    "barriers that threads reach apart": lambda: scheduled(kernel_kinds.product(33, 40, 24)),
    "pipeline": lambda: pipelines.pipelined(3, (64, 64, 48)),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_counts_of_all_blocks_are_those_of_the_machine(name):
    traced, machine = launches(SCHEDULES[name]())
    for launch, report in zip(traced, machine.reports, strict=True):
        every = TraceMachine(launch, range(launch.blocks)).trace()
        assert totals(every.report) == totals(report)


@pytest.mark.parametrize(
    ("count", "blocks"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (6, [1, 3, 5]), (100, [16, 50, 83])]
)
def test_sampled_blocks_are_spread_over_the_grid(count, blocks):
    assert sample_blocks(count) == blocks


def trace(body: str, threads: int = 32, blocks: int = 1, shared: int = 1024):
    module = ptx.parse(kernels.module(kernels.kernel(body, 1, shared=shared), target="sm_80"))
    address = 1 << 52
    launch = TracedLaunch(
        module.kernels["k"], (blocks, 1, 1), (threads, 1, 1), 0, address.to_bytes(8, "little"), ((address, 1 << 20),)
    )
    return trace_launch(launch)


LOOP = "mov.b32 %r9, 0;\nLOOP:\n{}\nadd.s32 %r9, %r9, 1;\nsetp.lt.u32 %q1, %r9, {};\n@%q1 bra LOOP;"


def test_sectors_that_a_block_reads_again_are_distinct_once():
    load = kernels.at_thread("%p0", 4) + "\nld.global.b32 %r1, [%d63];"
    assert trace(LOOP.format(load, 10)).read == {0: (4.0, 40.0)}


def test_values_in_memory_that_decide_are_told():
    loop = kernels.at_thread("%p0", 4) + "\nld.global.b32 %r1, [%d63];\n" + LOOP.format("", "%r1")
    found = trace(loop)
    assert found.reads_values and found.report.instructions["add.s32"] == 1
    assert not trace(LOOP.format("", 4)).reads_values


def test_warps_with_paths_of_their_own_are_told():
    body = "setp.lt.u32 %q2, %t, 32;\n@%q2 bra END;\n" + LOOP.format("", 50) + "\nEND:"
    assert trace(body, threads=64).is_specialized
    assert not trace(body, threads=32).is_specialized


def test_blocks_that_do_not_end_are_a_fault(monkeypatch):
    monkeypatch.setattr("tir_mlir.ptx.prediction.tracing.TURNS", 100)
    with pytest.raises(ptx.PtxError, match="does not come to an end"):
        trace("LOOP:\nbra LOOP;")


def test_an_unknown_instruction_is_named():
    with pytest.raises(ptx.PtxError, match=r"does not know the instruction `frobnicate.b32 %r1, %r2`"):
        trace("frobnicate.b32 %r1, %r2;")
