"""A machine: its instructions on a schedule, their addresses and registers, the model that runs them, and C."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from programs.parsed import parse
from programs.systolic import schedule_product, systolic

from tir_mlir import Schedule, accel, build, interpret
from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.program import For, Issue, Node, When, walk
from tir_mlir.errors import BuildError, IntrinError, MachineError, ScheduleError, ScriptError
from tir_mlir.runtime.tools import c_tools
from tir_mlir.script import IRModule
from tir_mlir.script import tir as T

SHAPES = [(16, 16, 16), (48, 64, 80), (15, 17, 1), (33, 100, 47)]


def data(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8), np.zeros((m, n), np.int8)


def expected(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    scaled = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32) * np.float32(2.0**-9)
    return np.clip(np.round(scaled), 0, 127).astype(np.int8)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.few(4)
def test_the_model_computes_what_the_program_does(shape: tuple[int, int, int], ahead: bool) -> None:
    machine = systolic()
    a, b, c = data(*shape)
    build(schedule_product(machine, *shape, (2, 2, 2), ahead), target=machine)(a, b, c)
    np.testing.assert_array_equal(c, expected(a, b))


def test_numbers_and_masks_of_instructions_are_verified() -> None:
    sch = schedule_product(systolic(), 33, 20, 17, (2, 2, 1), True)
    assert sch.verify()
    a, b, c = data(33, 20, 17)
    interpret(sch, a, b, c)
    np.testing.assert_array_equal(c, expected(a, b))


@pytest.mark.slow
def test_its_c_runs_on_another_model(tmp_path: Path) -> None:
    machine = systolic()
    lib = build(schedule_product(machine, 33, 100, 47, (2, 2, 2), True), target=machine)
    (source,) = lib.export(tmp_path / "product.c")
    c_tools.compile_c(source, tmp_path / "product.o", "-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Werror")
    c_tools.link_shared([str(tmp_path / "product.o")], str(tmp_path / "product.so"), [])
    a, b, c = data(33, 100, 47)
    ctypes.CDLL(str(tmp_path / "product.so")).product(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))
    np.testing.assert_array_equal(c, expected(a, b))


def test_registers_are_set_where_they_change() -> None:
    machine = systolic()
    same = build(schedule_product(machine, 64, 64, 64, (2, 2, 2), False), target=machine).main.timeline.issued
    other = build(schedule_product(machine, 64, 32, 64, (2, 2, 2), False), target=machine).main.timeline.issued
    assert (same["config_ld"], same["config_st"]) == (1, 1)
    assert (other["config_ld"], other["config_st"]) == (8, 1)  # two strides in each of 2 * 1 * 2 iterations


def test_copies_ahead_make_it_faster() -> None:
    machine = systolic()
    plain, ahead = (
        build(schedule_product(machine, 64, 64, 128, (4, 4, 1), way), target=machine).main for way in (False, True)
    )
    assert ahead.cycles < plain.cycles
    assert ahead.timeline.busy["execute"] == plain.timeline.busy["execute"]


def test_buffers_that_do_not_fit_are_refused() -> None:
    machine = systolic(rows=100)
    with pytest.raises(MachineError, match=r"memory sp has 100 rows; 128 are in use at once: .* may have 36"):
        build(schedule_product(machine, 64, 64, 64, (2, 2, 2), False), target=machine)


FAULTS: dict[str, tuple[Callable[[PlacedProgram], None], str]] = {
    "a copy is missing": (
        lambda placed: drop(placed.program.body, "mvin"),
        r"compute at .*: row \d+ of sp \(.*, operand A\) is read before it is written",
    ),
    "a register is not set": (
        lambda placed: drop(placed.program.body, "config_ld"),
        r"mvin at .*: register ld.stride was never set; it needs 64",
    ),
    "two buffers meet": (
        lambda placed: placed.rows.update({b: 1 for b in placed.rows if b.name == "B_global_sp"}),
        r"compute at .*: row \d+ of sp \(A_global_sp, operand A\) has an element of B_global_sp, written by mvin at",
    ),
    "an address is beyond the memory": (
        lambda placed: placed.rows.update({b: 1020 for b in placed.rows if b.name == "B_global_sp"}),
        r"mvin at .*: operand R ends at row \d+; sp has 1024",
    ),
}


def drop(body: list[Node], name: str) -> None:
    """Remove the first instruction of a name."""
    for node in list(body):
        if isinstance(node, Issue) and node.instruction.name == name:
            body.remove(node)
            return
        if isinstance(node, For | When) and any(
            isinstance(n, Issue) and n.instruction.name == name for n in walk(node.body)
        ):
            drop(node.body, name)
            return


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_where_it_happens(fault: str) -> None:
    plant, message = FAULTS[fault]
    machine = systolic()
    main = build(schedule_product(machine, 64, 64, 64, (2, 2, 2), True), target=machine).main
    plant(main.placed)
    with pytest.raises(MachineError, match=message):
        main(*data(64, 64, 64))


def test_a_register_without_a_setter_is_named() -> None:
    machine = accel.Machine("unset")
    pad = machine.memory("pad", rows=32, row=(16, "int8"))
    dma = machine.unit("dma")
    ld = machine.state("ld", stride="int32")

    @machine.instruction(dma, call="load({D}, {R.row})")
    def load(D: machine.host("int8"), R: pad):
        T.assume(D.strides[0] == ld.stride)
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @T.prim_func
    def main(A: T.Buffer((16, 64), "int8")):
        P = T.alloc_buffer((16, 16), "int8", scope="global.pad")
        for i, j in T.grid(16, 16):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = A[vi, vj]

    sch = Schedule(main)
    sch.tensorize(sch.get_loops("P")[0], "unset.load")
    with pytest.raises(MachineError, match=re.escape('no instruction of Machine("unset") sets ld.stride')):
        build(sch, target=machine)


def test_a_size_beyond_the_instruction_is_refused() -> None:
    machine = accel.Machine("sized")
    pad = machine.memory("pad", rows=64, row=(16, "int8"))

    @machine.instruction(machine.unit("dma"), call="load({D}, {R.row}, {rows})")
    def load(D: machine.host("int8"), R: pad, rows: accel.upto(8)):
        for i, j in T.grid(rows, 16):
            R[i, j] = D[i, j]

    def tile(rows: int) -> Schedule:
        @T.prim_func
        def main(A: T.Buffer((64, 16), "int8")):
            P = T.alloc_buffer((64, 16), "int8", scope="global.pad")
            for i, j in T.grid(64, 16):
                with T.block("P"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    P[vi, vj] = A[vi, vj]

        sch = Schedule(main)
        i, _ = sch.get_loops("P")
        sch.tensorize(sch.split(i, [None, rows])[1], "sized.load")
        return sch

    assert build(tile(4), target=machine).main.timeline.issued == {"load": 16}
    with pytest.raises(ScheduleError, match=r'parameter rows of "sized\.load" is at most 8; in .* it is not: it is 16'):
        tile(16)


def copy_machine() -> tuple[accel.Machine, accel.MachineInstruction]:
    """A machine that reverses rows, and has a register whose fields two instructions need, each another one."""
    machine = accel.Machine("mirror")
    pad = machine.memory("pad", rows=32, row=(16, "int8"))
    dma = machine.unit("dma")
    way = machine.state("way", load="int32", save="int32")

    @machine.instruction(dma, sets=way, call="set_way({load}, {save})")
    def set_way(load: T.int32, save: T.int32): ...

    @machine.instruction(dma, call="load({D}, {R.row})")
    def load(D: machine.host("int8"), R: pad):
        T.assume(D.strides[0] == way.load)
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, 15 - j]

    @machine.instruction(dma, call="save({D}, {R.row})")
    def save(R: pad, D: machine.host("int8")):
        T.assume(D.strides[0] == way.save)
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    return machine, load


def mirrored(name: str) -> str:
    """A program that reverses the rows of two halves of a matrix."""
    return f"""
@T.prim_func
def {name}(A: T.Buffer((16, 32), "int8"), B: T.Buffer((16, 64), "int8")):
    for h in range(2):
        P = T.alloc_buffer((16, 16), "int8", scope="global.pad")
        for i, j in T.grid(16, 16):
            with T.block("P"):
                vh, vi, vj = T.axis.remap("OSS", [h, i, j])
                P[vi, vj] = A[vi, vh * 16 + 15 - vj]
        for i, j in T.grid(16, 16):
            with T.block("B"):
                vh, vi, vj = T.axis.remap("OSS", [h, i, j])
                B[vi, vh * 16 + vj] = P[vi, vj]
"""


def schedule_mirror(name: str = "main") -> Schedule:
    sch = Schedule(parse(mirrored(name)))
    sch.tensorize(sch.get_loops("P")[1], "mirror.load")
    sch.tensorize(sch.get_loops("B")[1], "mirror.save")
    return sch


def test_an_index_that_goes_down_has_its_extent() -> None:
    _, load = copy_machine()
    assert [tile.shape for tile in load.tiles] == [(16, 16), (16, 16)]


def test_a_field_that_an_instruction_leaves_alone_keeps_its_value() -> None:
    machine, _ = copy_machine()
    main = build(schedule_mirror(), target=machine).main
    a, b = np.arange(512, dtype=np.int16).astype(np.int8).reshape(16, 32), np.zeros((16, 64), np.int8)
    main(a, b)
    np.testing.assert_array_equal(b[:, :32], a.reshape(16, 2, 16)[:, :, ::-1].reshape(16, 32))
    assert main.timeline.issued == {"set_way": 1, "load": 2, "save": 2}


def test_a_file_has_the_functions_of_a_library(tmp_path: Path) -> None:
    machine, _ = copy_machine()
    (one,) = build(schedule_mirror(), target=machine).export(tmp_path / "turn.c")
    assert "void turn(const int8_t *A, int8_t *B)" in one.read_text()
    with pytest.raises(BuildError, match="'a-b' is not the name of a function of C"):
        build(schedule_mirror(), target=machine).export(tmp_path / "a-b.c")
    with pytest.raises(BuildError, match=r"turn\.so: the library of a machine is written as C"):
        build(schedule_mirror(), target=machine).export(tmp_path / "turn.so")
    both = IRModule({"first": schedule_mirror("first").mod["first"], "second": schedule_mirror("second").mod["second"]})
    (file,) = build(both, target=machine).export(tmp_path / "both.c")
    text = file.read_text()
    assert text.count("#include <stdint.h>") == 1 and "void first(" in text and "void second(" in text


def test_the_states_of_a_build_are_dumped(tmp_path: Path) -> None:
    machine, _ = copy_machine()
    build(schedule_mirror(), target=machine, dump=tmp_path)
    assert any("compact" in path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: m.memory("pad", rows=0, row=(16, "int8")), "rows and their elements are positive numbers"),
        (lambda m: m.memory("pad", rows=8, row=(16, "int9")), "'int9' is not a type"),
        (
            lambda m: m.memory("pad", rows=8, row=(16, "int8"), alignment=0),
            "to a positive number of rows, not to 0",
        ),
        (lambda m: m.memory("pad", rows=8, row=(16, "bfloat16")), "has no bfloat16"),
        (lambda m: m.host("bits"), "'bits' is not a type"),
        (lambda m: m.unit("a b"), "the name of a unit is a word"),
        (lambda m: (m.unit("dma"), m.unit("dma")), "has something called dma already"),
        (lambda m: m.instruction(None, call="f()"), "None is not a unit of machine m"),
    ],
)
def test_a_wrong_part_is_named(make, message: str) -> None:
    with pytest.raises(IntrinError, match=message):
        make(accel.Machine("m"))


def test_an_operand_without_annotation_is_named_at_its_line() -> None:
    machine = accel.Machine("m")
    with pytest.raises(ScriptError, match="operand D needs an annotation"):

        @machine.instruction(machine.unit("dma"), call="f({D})")
        def load(D):
            for i in range(16):
                D[i] = 0
