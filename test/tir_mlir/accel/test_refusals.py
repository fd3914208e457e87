"""Inputs that a machine cannot take: each is refused by name, or right."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from programs.parsed import parse
from programs.systolic import schedule_product, systolic

from tir_mlir import Schedule, accel, build
from tir_mlir.accel import upto
from tir_mlir.accel.addresses import place_buffers
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.checks.verify_program import verify_program
from tir_mlir.accel.configuration import configure
from tir_mlir.accel.limits import check_limits
from tir_mlir.accel.program import Allocate, For, Issue, MachineBuffer, MachineProgram, Node, TileAddress, When
from tir_mlir.errors import LoweringError, MachineError, ScheduleError, ScriptError
from tir_mlir.script import tir as T


def small(zero: bool = True, fast: int | None = None) -> accel.Machine:
    """zero: whether there is an instruction that clears; fast: the cycles of a second one that computes."""
    m = accel.Machine("small")
    sp = m.memory("sp", rows=256, row=(16, "int8"))
    acc = m.memory("acc", rows=64, row=(16, "int32"))
    unit = m.unit("unit")

    @m.instruction(unit, call="load({D}, {R.row}, {rows}, {cols})", cycles=16)
    def load(D: m.host("int8"), R: sp, rows: upto(16), cols: upto(16)):
        for i, j in T.grid(16, 16):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    if zero:

        @m.instruction(unit, call="zero({C.row})", cycles=16)
        def zero(C: acc):
            for i, j in T.grid(16, 16):
                C[i, j] = 0

    @m.instruction(unit, call="compute({A.row}, {B.row}, {C.row})", cycles=16)
    def compute(A: sp, B: sp, C: acc):
        for i, j, k in T.grid(16, 16, 16):
            C[i, j] = C[i, j] + T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    if fast is not None:

        @m.instruction(unit, call="fast({A.row}, {B.row}, {C.row})", cycles=fast)
        def fast(A: sp, B: sp, C: acc):
            for i, j, k in T.grid(16, 16, 16):
                C[i, j] = C[i, j] + T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    @m.instruction(unit, call="store({D}, {C.row}, {rows}, {cols})", cycles=16)
    def store(C: acc, D: m.host("int32"), rows: upto(16), cols: upto(16)):
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                D[i, j] = C[i, j]

    return m


def product(m: int, n: int, k: int, dtype: str = "int8"):
    @T.prim_func
    def main(A: T.Buffer((m, k), dtype), B: T.Buffer((k, n), dtype), C: T.Buffer((m, n), "int32")):
        for i, j, r in T.grid(m, n, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])

    return main


def test_a_machine_that_cannot_clear_its_accumulator_is_named() -> None:
    machine = small(zero=False)
    with pytest.raises(MachineError, match=r"no instruction sets a tile of acc to its start value, 0$"):
        accel.map(product(16, 16, 16), machine)


@pytest.mark.parametrize(
    ("cycles", "chosen", "other"), [(8, "fast", "compute"), (16, "compute", "fast"), (32, "compute", "fast")]
)
def test_of_two_instructions_that_match_the_cheaper_one_is_taken(cycles: int, chosen: str, other: str) -> None:
    mapping = accel.map(product(32, 32, 32), small(fast=cycles))
    assert f"small.{chosen} computes tiles" in str(mapping)
    assert f"small.{other} does the same, and is not cheaper" in str(mapping)


def test_where_no_instruction_matches_the_nearest_is_named_with_its_differences() -> None:
    with pytest.raises(MachineError, match=r"nearest is small\.compute: .* needs int8, A is int16"):
        accel.map(product(16, 16, 16, "int16"), small())


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 16, 17), (15, 1, 127)])
def test_a_size_of_one_is_right(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    main = accel.map(product(m, n, k), small()).function
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    c = np.zeros((m, n), np.int32)
    main(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b)
    assert main.verify()


def test_a_size_of_zero_is_named() -> None:
    with pytest.raises(MachineError, match="block C computes nothing: vi, vk has size 0"):
        accel.map(product(0, 16, 0), small())


def test_a_size_that_a_call_decides_is_named() -> None:
    machine = small()
    sch = Schedule(
        parse("""
@T.prim_func
def main(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 16), "int8")
    for i, j in T.grid(n, 16):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.int8(0)
""")
    )
    with pytest.raises(
        LoweringError, match=r"a statement of the CPU at .* uses A, whose size a call decides; fix: tens"
    ):
        build(sch, target=machine)


def test_a_tile_of_one_row_too_many_is_named() -> None:
    small()
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((17, 16), "int8")):
    P = T.alloc_buffer((17, 16), "int8", scope="global.sp")
    for i, j in T.grid(17, 16):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj]
""")
    )
    with pytest.raises(
        ScheduleError, match=re.escape("the intrinsic needs i: 16 spatial, j: 16 spatial; the block has vi_i: 17")
    ):
        sch.tensorize(sch.get_loops("P")[0], "small.load")


def copied(node: Node, buffers: dict[MachineBuffer, MachineBuffer], number: int) -> Node:
    """A node with buffers of its own."""
    if isinstance(node, Allocate):
        old = node.buffer
        buffers[old] = MachineBuffer(f"{old.name}_{number}", old.shape, old.dtype, old.memory)
        return Allocate(buffers[old])
    if isinstance(node, Issue):
        tiles = {n: TileAddress(buffers.get(t.buffer, t.buffer), t.start, t.strides) for n, t in node.tiles.items()}
        return Issue(node.instruction, tiles, dict(node.numbers), node.line)
    assert isinstance(node, For | When)
    body = [copied(n, buffers, number) for n in node.body]
    if isinstance(node, When):
        return When(node.conditions, body)
    return For(node.var, node.low, node.highs, body)


def seconds(times: int, main: MachineFunction) -> tuple[float, int]:
    """How long a program of so many copies takes, and its nodes."""
    program = main._scheduled()
    body: list[Node] = []
    for number in range(times):
        buffers: dict[MachineBuffer, MachineBuffer] = {}
        body += [copied(node, buffers, number) for node in program.body]
    large = MachineProgram("main", program.machine, program.params, body)
    start = time.process_time()
    placed = place_buffers(check_limits(configure(large)))
    assert verify_program(placed, large)
    return time.process_time() - start, sum(1 for _ in placed.program.nodes())


def test_a_program_of_ten_thousand_nodes_takes_no_quadratic_time() -> None:
    machine = systolic()
    main = build(schedule_product(machine, 16, 16, 16, (1, 1, 1), False), target=machine).main
    small_time, _ = seconds(100, main)
    large_time, nodes = seconds(500, main)
    assert nodes > 10_000
    assert large_time < 12 * small_time  # five times as many; 25 would be quadratic


def test_cycles_that_do_not_take_the_numbers_are_refused_where_they_are_described() -> None:
    m = accel.Machine("slow")
    unit, sp = m.unit("unit"), m.memory("sp", rows=16, row=(16, "int8"))
    with pytest.raises(ScriptError, match=r"the numbers of the instruction, rows, scale: .* 'scale'; fix: cycles=lam"):

        @m.instruction(unit, call="load({D}, {R.row}, {rows}, {scale})", cycles=lambda rows: rows)
        def load(D: m.host("int8"), R: sp, rows: upto(16), scale: T.int32):
            for i, j in T.grid(rows, 16):
                R[i, j] = D[i, j] + T.Cast("int8", scale)

    assert not m.instructions
