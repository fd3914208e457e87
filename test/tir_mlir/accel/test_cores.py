"""Machines with several cores: the loop over them, memories of each and shared ones, time, and C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tir_mlir import Schedule, accel, build
from tir_mlir.accel.cores import check_cores
from tir_mlir.accel.program import Allocate, For, MachineProgram
from tir_mlir.errors import IntrinError, MachineError, ScheduleError
from tir_mlir.script import tir as T


def two_cores(shared: bool = False, cores: int = 2, one_dma: bool = False) -> accel.Machine:
    """Cores that copy tiles; shared: whether they have one memory; one_dma: whether they have one unit."""
    m = accel.Machine("duo", cores=cores)
    pad = m.memory("pad", rows=96, row=(16, "int32"), shared=shared, alignment=32)
    dma = m.unit("dma", queue=4, shared=one_dma)
    ld = m.state("ld", stride="int32")

    @m.instruction(dma, sets=ld, call="set_ld({stride})")
    def set_ld(stride: T.int32): ...

    @m.instruction(dma, call="load({R.row}, {D})", cycles=16)
    def load(D: m.host("int32"), R: pad):
        T.assume(D.strides[0] == ld.stride)
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(dma, call="store({D}, {R.row}, {D.strides[0]})", cycles=16)
    def store(R: pad, D: m.host("int32")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    return m


@T.prim_func
def copy(A: T.Buffer((96, 32), "int32"), B: T.Buffer((96, 32), "int32")):
    P = T.alloc_buffer((96, 32), "int32", scope="global.pad")
    for i, j in T.grid(96, 32):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj]
    for i, j in T.grid(96, 32):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = P[vi, vj]


def schedule_copy(at: int = 1, bound: int | None = 0, cores: int = 2) -> Schedule:
    """Copies; at: the loop into which the first one moves; bound: the one that is over the cores."""
    sch = Schedule(copy)
    i, j = sch.get_loops("B")
    core, i, i_1 = sch.split(i, [cores, None, 16])
    j, j_1 = sch.split(j, [None, 16])
    sch.reorder(core, i, j, i_1, j_1)
    if at >= 0:
        sch.compute_at("P", (core, i, j)[at])
    if bound is not None:
        sch.bind((core, i, j)[bound], "core")
    x, y = sch.get_loops("P")[-2:]
    (x, x_1), (y, y_1) = sch.split(x, [None, 16]), sch.split(y, [None, 16])
    sch.reorder(x, y, x_1, y_1)
    sch.transform_layout("P", ("write", 0), lambda x, y: (x // 16, y // 16, x % 16, y % 16))
    sch.tensorize(x_1, "duo.load")
    sch.tensorize(i_1, "duo.store")
    return sch


def run(sch: Schedule, machine: accel.Machine) -> accel.MachineFunction:
    a, b = np.arange(96 * 32, dtype=np.int32).reshape(96, 32), np.zeros((96, 32), np.int32)
    main = build(sch, target=machine).main
    main(a, b)
    np.testing.assert_array_equal(b, a)
    assert main.verify()
    return main


def test_cores_run_beside_each_other() -> None:
    machine = two_cores()
    one = run(schedule_copy(bound=None), machine)
    two = run(schedule_copy(), machine)
    assert one.cycles < 2 * two.cycles < one.cycles + 8
    assert two.timeline.busy == {"dma 0": 193, "dma 1": 193}


def test_each_core_sets_its_registers() -> None:
    assert run(schedule_copy(), two_cores()).timeline.issued == {"set_ld": 2, "load": 12, "store": 12}


def test_cores_share_a_unit() -> None:
    machine = two_cores(one_dma=True)
    timeline = run(schedule_copy(), machine).timeline
    assert timeline.busy == {"dma": 386}
    assert timeline.cycles >= 386


def test_each_core_has_a_part_of_a_shared_memory() -> None:
    machine = two_cores(shared=True)
    main = run(schedule_copy(at=2), machine)
    (buffer,) = main.placed.rows
    assert buffer.shape == (2, 32, 16)  # 16 rows for each core, aligned to 32


def test_c_has_the_number_of_the_core() -> None:
    machine = two_cores()
    source = build(schedule_copy(), target=machine).source
    assert "void main(int32_t core, const int32_t *A, int32_t *B)" in source
    assert "if (core < 2) {\n    const int32_t i_0 = core;\n    set_ld(32);" in source


def test_the_binding_is_printed_and_parsed() -> None:
    two_cores()
    sch = schedule_copy()
    assert 'T.thread_binding(2, thread="core")' in sch.mod.script()
    assert sch.verify()


def test_more_iterations_than_cores_are_refused() -> None:
    machine = two_cores()
    with pytest.raises(MachineError, match=r"loop i_0 has 3 iterations; .* has 2 cores; fix: split it, \[2, None\]"):
        build(schedule_copy(cores=3), target=machine)


def test_a_loop_over_cores_inside_of_another_is_refused() -> None:
    machine = two_cores()
    with pytest.raises(MachineError, match="loop j_0 over the cores is inside of another loop; fix: reorder"):
        build(schedule_copy(bound=2), target=machine)


def test_a_statement_beside_the_loop_over_cores_is_refused() -> None:
    machine = two_cores()
    with pytest.raises(MachineError, match=r"duo\.load\(D, R\) is beside loop i_0_ over the cores, .* fix: compute_at"):
        build(schedule_copy(at=-1), target=machine)


def test_a_buffer_in_the_memories_of_two_cores_is_refused() -> None:
    machine = two_cores()
    main = build(schedule_copy(), target=machine).main
    program = main.placed.program
    (loop,) = program.body
    assert isinstance(loop, For)
    (allocate,) = [n for n in program.nodes() if isinstance(n, Allocate)]
    (inner,) = [n for n in loop.body if isinstance(n, For)]
    moved = replace(loop, body=[replace(inner, body=[n for n in inner.body if n is not allocate])])
    other = MachineProgram(program.name, machine, program.params, [allocate, moved])
    with pytest.raises(MachineError, match=r"use one buffer P; each core has a memory pad of its own; fix: compute_at"):
        check_cores(other)


def test_iterations_that_depend_on_each_other_are_not_bound() -> None:
    @T.prim_func
    def running(A: T.Buffer((2, 16), "int32")):
        for i, j in T.grid(2, 16):
            with T.block("A"):
                vi, vj = T.axis.remap("OS", [i, j])
                A[vi, vj] = A[1 - vi, vj]

    sch = Schedule(running)
    with pytest.raises(ScheduleError, match="loop i cannot be bound to core: two of its iterations depend"):
        sch.bind(sch.get_loops("A")[0], "core")


def test_a_number_of_cores_is_positive() -> None:
    with pytest.raises(IntrinError, match="cores is a positive number, not 0"):
        accel.Machine("none", cores=0)
