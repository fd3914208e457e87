"""Units without interlocks: the waits that a program gets, and what is refused of those that it has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from programs.parsed import parse
from programs.systolic import schedule_product, systolic

from tir_mlir import Schedule, accel, build
from tir_mlir.accel.program import For, Issue, MachineProgram, Node, When
from tir_mlir.accel.timing.conditions import ranges, subset
from tir_mlir.dialect.symbolic import Constant, evaluate
from tir_mlir.errors import IntrinError, LoweringError, MachineError
from tir_mlir.runtime.library import Library
from tir_mlir.script import tir as T


def waiting(most: int = 63, **options: str) -> accel.Machine:
    """The systolic array without interlocks."""
    machine = systolic(interlocks="none", **options)
    for unit in machine.units.values():
        machine.wait(unit, call=f"wait_{unit.name}({{left}})", most=most)
    return machine


def waits_of(program: MachineProgram) -> list[tuple[str, int]]:
    """The waits in the text, and how many instructions each leaves."""
    issues = [n for n in program.nodes() if isinstance(n, Issue) and n.instruction.waits]
    return [(n.instruction.name, int(str(n.numbers["left"]))) for n in issues]


@pytest.mark.parametrize("shape", [(64, 64, 128), (15, 17, 127), (17, 33, 47)])
@pytest.mark.parametrize("ahead", [False, True])
def test_a_program_gets_its_waits(shape: tuple[int, int, int], ahead: bool) -> None:
    m, n, k = shape
    machine = waiting()
    main = build(schedule_product(machine, m, n, k, (1, 1, 2), ahead), target=machine).main
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    c = np.zeros((m, n), np.int8)
    main(a, b, c)
    scaled = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32) * np.float32(2.0**-9)
    np.testing.assert_array_equal(c, np.clip(np.round(scaled), 0, 127).astype(np.int8))
    assert any(name == "wait_load" for name, _ in waits_of(main.placed.program))


def test_copies_ahead_may_be_left() -> None:
    """Of each iteration the 8 copies and 2 registers of the next one run on, but in the last iteration."""
    machine = waiting()
    main = build(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), target=machine).main
    assert [left for name, left in waits_of(main.placed.program) if name == "wait_load"] == [10, 2]


def test_no_more_may_be_left_than_the_instruction_can_say() -> None:
    machine = waiting(most=3)
    main = build(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), target=machine).main
    assert {left for name, left in waits_of(main.placed.program) if name == "wait_load"} <= {2, 3}


def test_waits_are_before_the_loops() -> None:
    """One wait serves the 8 products of an iteration."""
    machine = waiting()
    timeline = build(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), target=machine).main.timeline
    assert (timeline.issued["compute"], timeline.issued["wait_load"]) == (128, 16)


def each_wait(program: MachineProgram) -> list[Issue]:
    return [n for n in program.nodes() if isinstance(n, Issue) and n.instruction.waits]


def without(body: list[Node], one: Issue) -> list[Node]:
    return [replace(n, body=without(n.body, one)) if isinstance(n, For | When) else n for n in body if n is not one]


@pytest.mark.parametrize("ahead", [False, True])
def test_no_wait_is_superfluous_and_none_may_leave_more(ahead: bool) -> None:
    machine = waiting()
    main = build(schedule_product(machine, 32, 32, 64, (2, 2, 2), ahead), target=machine).main
    arrays = [np.zeros((32, 64), np.int8), np.zeros((64, 32), np.int8), np.zeros((32, 32), np.int8)]
    original = main.placed
    for wait in each_wait(original.program):
        main.placed = replace(original, program=replace(original.program, body=without(original.program.body, wait)))
        with pytest.raises(MachineError, match=r"nothing waits for unit|may not be complete"):
            main(*arrays)
        main.placed = original
        left = wait.numbers["left"]
        wait.numbers["left"] = Constant(int(str(left)) + 2)
        with pytest.raises(MachineError, match=r"may still|may not be complete|waits for no instruction"):
            main(*arrays)
        wait.numbers["left"] = left


def test_a_race_is_told_with_both_instructions_their_row_and_lines() -> None:
    machine = waiting()
    main = build(schedule_product(machine, 32, 32, 64, (2, 2, 2), True), target=machine).main
    main.placed = replace(main.placed, program=replace(main.placed.program, body=without(
        main.placed.program.body, next(w for w in each_wait(main.placed.program) if w.instruction.name == "wait_load")
    )))  # fmt: skip
    text = (
        r"compute at .*r_0_0 = 1.* reads row \d+ of sp, which mvin at .* may still write: nothing waits for unit load; "
        r"fix: a wait for it, or tokens\n  .*systolic\.py.*\n  .*systolic\.py"
    )
    with pytest.raises(MachineError, match=text):
        main(np.zeros((32, 64), np.int8), np.zeros((64, 32), np.int8), np.zeros((32, 32), np.int8))


def test_a_machine_without_waits_is_refused() -> None:
    machine = systolic(interlocks="none")
    with pytest.raises(
        MachineError, match=r'has no instruction that waits for unit .*; fix: m\.wait\(\w+, call="\.\.\."\)'
    ):
        build(schedule_product(machine, 32, 32, 64, (2, 2, 2), True), target=machine)


# -- waits of the program ----------------------------------------------------------------------------------------------


def dma_machine(latency: int = 20, overflow: str = "wait") -> accel.Machine:
    m = accel.Machine("dmam")
    pad = m.memory("pad", rows=64, row=(16, "int8"))
    dma, out = m.unit("dma", queue=2, interlocks="none", overflow=overflow), m.unit("out")
    m.wait(dma, call="dma_wait({left})", most=3)

    @m.instruction(dma, call="load({D}, {R.row})", cycles=4, latency=latency)
    def load(D: m.host("int8"), R: pad):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(out, call="save({D}, {R.row})", cycles=4)
    def save(R: pad, D: m.host("int8")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    return m


def copies(wait: str, before: str = "") -> Schedule:
    """Four tiles come in and go out again, with a call of the user before each goes out, and one before all."""
    block = """
        with T.block("{name}"):
            vt = T.axis.opaque(4, t)
            T.reads()
            T.writes()
            T.evaluate(T.call_extern("int32", "dmam_wait_dma", {left}))"""
    first = f"    for t in range(4):{block.format(name='before', left=before)}\n" if before else ""
    sch = Schedule(parse(f'''
@T.prim_func
def main(A: T.Buffer((64, 16), "int8"), B: T.Buffer((64, 16), "int8")):
    P = T.alloc_buffer((64, 16), "int8", scope="global.pad")
{first}    for t in range(4):
        for i, j in T.grid(16, 16):
            with T.block("P"):
                vi = T.axis.spatial(64, t * 16 + i)
                vj = T.axis.spatial(16, j)
                P[vi, vj] = A[vi, vj]
    for t in range(4):{block.format(name="wait", left=wait) if wait else ""}
        for i, j in T.grid(16, 16):
            with T.block("B"):
                vi = T.axis.spatial(64, t * 16 + i)
                vj = T.axis.spatial(16, j)
                B[vi, vj] = P[vi, vj]
'''))  # fmt: skip
    sch.tensorize(sch.get_loops("P")[1], "dmam.load")
    sch.tensorize(sch.get_loops("B")[1], "dmam.save")
    return sch


def built(machine: accel.Machine, wait: str, before: str = "") -> Library:
    return build(copies(wait, before), target=machine)


def test_a_wait_of_the_program_is_enough() -> None:
    main = built(dma_machine(), "3 - vt").main
    assert main.timeline.issued == {"load": 4, "wait_dma": 4, "save": 4}
    assert "dma_wait(3 - t" in main.source


def test_what_a_wait_of_the_program_leaves_open_is_added() -> None:
    main = built(dma_machine(), "").main
    assert [left for _, left in waits_of(main.placed.program)] == [3, 2, 1, 0]
    too_many = built(dma_machine(), "3").main
    assert too_many.timeline.issued["wait_dma"] == 4 + 3


def test_a_wait_for_what_was_never_started_is_refused() -> None:
    with pytest.raises(MachineError, match=r"wait_dma at t = 0 waits for no instruction of unit dma: none was started"):
        built(dma_machine(), "3 - vt", before="0")


def test_a_wait_with_other_operands_is_refused() -> None:
    with pytest.raises(LoweringError, match=r"dmam_wait_dma at .* takes left, not 2 operands"):
        built(dma_machine(), "1, vt")


def test_a_full_queue_is_waited_for_where_hardware_loses_instructions() -> None:
    main = built(dma_machine(overflow="refuse"), "").main
    lefts = [left for _, left in waits_of(main.placed.program)]
    assert lefts[0] == 1  # before each load: of two that the queue holds, one may be left
    main.placed = replace(main.placed, program=replace(main.placed.program, body=without(
        main.placed.program.body, each_wait(main.placed.program)[0]
    )))  # fmt: skip
    with pytest.raises(MachineError, match="load at t = 2 may be issued while the queue of dma is full, which holds 2"):
        main(np.zeros((64, 16), np.int8), np.zeros((64, 16), np.int8))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: m.unit("u", interlocks="some"), 'interlocks is "all", "memories" or "none", not \'some\''),
        (lambda m: m.unit("u", overflow="lose"), 'overflow is "wait" or "refuse", not \'lose\''),
        (lambda m: m.unit("u", queue=0), "a queue holds a positive number of instructions, not 0"),
        (lambda m: m.wait(accel.Machine("o").unit("u"), call="f()"), "is not a unit of machine m"),
        (lambda m: m.memory("b", rows=6, row=(4, "int8"), banks=4), "6 rows cannot be divided into 4 banks"),
        (lambda m: m.memory("b", rows=8, row=(4, "int8"), conflicts="no"), 'conflicts is "wait" or "refuse"'),
        (lambda m: m.memory("b", rows=8, row=(4, "int8"), ports=0), "a positive number of ports, not 0"),
    ],
)
def test_a_wrong_part_is_named(make: Callable[[accel.Machine], object], message: str) -> None:
    with pytest.raises(IntrinError, match=re.escape(message)):
        make(accel.Machine("m"))


# -- conditions --------------------------------------------------------------------------------------------------------


def test_the_range_of_a_loop_is_divided_where_the_values_differ() -> None:
    iterations = np.array([(i, k) for i in range(2) for k in range(5)])
    values = np.array([0, 8, 8, 8, 2] * 2)
    assert [number for _, number in ranges(("i", "k"), iterations, values)] == [0, 8, 2]


@pytest.mark.parametrize("chosen", [lambda i, k: k > 1, lambda i, k: (i, k) > (0, 1), lambda i, k: k == 2 and i < 2])
def test_iterations_are_told_from_others(chosen: Callable[[int, int], bool]) -> None:
    points = [(i, k) for i in range(3) for k in range(4)]
    found = subset(("i", "k"), np.array(points), np.array([chosen(*p) for p in points]))
    assert found is not None
    for i, k in points:
        values = {"i": i, "k": k}
        holds = [all(_holds(c, values) for c in conditions) for conditions in found]
        assert sum(holds) == chosen(i, k)


def _holds(condition: tuple, values: dict[str, int]) -> bool:
    number = evaluate(condition[0], values.__getitem__)
    return number == 0 if condition[1] else number >= 0


# -- the memory of the CPU, and cores ----------------------------------------------------------------------------------


def halves(statement: str) -> Schedule:
    """A copy through the machine, which a statement of the CPU then uses."""
    sch = Schedule(parse(f'''
@T.prim_func
def main(A: T.Buffer((64, 16), "int8"), B: T.Buffer((64, 16), "int8"), C: T.Buffer((64, 16), "int8")):
    P = T.alloc_buffer((64, 16), "int8", scope="global.pad")
    for t in range(4):
        for i, j in T.grid(16, 16):
            with T.block("P"):
                vi, vj = T.axis.spatial(64, t * 16 + i), T.axis.spatial(16, j)
                P[vi, vj] = A[vi, vj]
        for i, j in T.grid(16, 16):
            with T.block("B"):
                vi, vj = T.axis.spatial(64, t * 16 + i), T.axis.spatial(16, j)
                B[vi, vj] = P[vi, vj]
    for i, j in T.grid(64, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {statement}
'''))  # fmt: skip
    sch.tensorize(sch.get_loops("P")[1], "dmam.load")
    sch.tensorize(sch.get_loops("B")[1], "dmam.save")
    return sch


@pytest.mark.parametrize(("statement", "expected"), [("B[vi, vj] + T.int8(1)", 2), ("T.int8(3)", 1)])
def test_the_cpu_waits_for_what_it_reads(statement: str, expected: int) -> None:
    """A unit with interlocks that has a wait: before the statement, else at the end."""
    machine = dma_machine()
    machine.wait(machine.units["out"], call="out_wait()")
    main = build(halves(statement), target=machine).main
    names = [name for name, _ in waits_of(main.placed.program)]
    assert names.count("wait_out") == 1
    a, b, c = (np.arange(1024).astype(np.int8).reshape(64, 16) for _ in range(3))
    main(a, b, c)
    np.testing.assert_array_equal(c, a + np.int8(1) if expected == 2 else np.full_like(a, 3))


def test_memories_are_ordered_but_not_that_of_the_cpu() -> None:
    machine = accel.Machine("part")
    pad = machine.memory("pad", rows=64, row=(16, "int8"))
    dma = machine.unit("dma", queue=4, interlocks="memories")
    machine.wait(dma, call="wait()")

    @machine.instruction(dma, call="load({D}, {R.row})", cycles=4, latency=20)
    def load(D: machine.host("int8"), R: pad):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @machine.instruction(machine.unit("out"), call="save({D}, {R.row})", cycles=4)
    def save(R: pad, D: machine.host("int8")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    sch = Schedule(parse(TWO_COPIES))
    sch.tensorize(sch.get_loops("P")[0], "part.load")
    sch.tensorize(sch.get_loops("B")[0], "part.save")
    main = build(sch, target=machine).main
    assert main.timeline.issued == {"load": 1, "save": 1, "wait_dma": 1}  # at the end: it read the memory of the CPU


TWO_COPIES = """
@T.prim_func
def main(A: T.Buffer((16, 16), "int8"), B: T.Buffer((16, 16), "int8")):
    P = T.alloc_buffer((16, 16), "int8", scope="global.pad")
    for i, j in T.grid(16, 16):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj]
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = P[vi, vj]
"""


def test_each_core_waits_for_its_own_units() -> None:
    machine = accel.Machine("pair", cores=2)
    pad = machine.memory("pad", rows=32, row=(16, "int8"))
    dma = machine.unit("dma", queue=4, interlocks="none")
    machine.wait(dma, call="wait({left})", most=3)

    @machine.instruction(dma, call="load({D}, {R.row})", cycles=4, latency=20)
    def load(D: machine.host("int8"), R: pad):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @machine.instruction(machine.unit("out"), call="save({D}, {R.row})", cycles=4)
    def save(R: pad, D: machine.host("int8")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    sch = Schedule(parse(TWO_COPIES.replace("16, 16", "128, 16")))
    rows, tile = sch.split(sch.get_loops("B")[0], [None, 16])
    core, rows = sch.split(rows, [2, None])
    sch.compute_at("P", rows)
    sch.double_buffer("P", rows)
    sch.bind(core, "core")
    sch.tensorize(tile, "pair.save")
    sch.tensorize(sch.get_loops("P")[-2], "pair.load")
    main = build(sch, target=machine).main
    assert waits_of(main.placed.program) == [("wait_dma", 1), ("wait_dma", 0)]
    a, b = np.arange(2048).astype(np.int8).reshape(128, 16), np.zeros((128, 16), np.int8)
    main(a, b)
    np.testing.assert_array_equal(a, b)


def test_an_annotation_of_a_pipeline_is_followed_or_refused() -> None:
    machine = systolic()
    sch = schedule_product(machine, 32, 32, 32, (2, 2, 1), False)
    sch.annotate(sch.get_loops("C_o")[0], "software_pipeline_stage", [0, 0, 1])
    with pytest.raises(LoweringError, match=r'loop "i_0_0" cannot be the pipeline .* runs once'):
        build(sch, target=machine)
