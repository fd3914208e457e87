"""`MachineFunction.verify`: programs with addresses and registers against their schedules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from programs.systolic import schedule_product, systolic

from tir_mlir import build
from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.program import For, Issue, MachineBuffer, Node, When, walk
from tir_mlir.dialect.symbolic import Constant, Dim


def placed_product(shape: tuple[int, int, int] = (64, 64, 64), ahead: bool = True):
    machine = systolic()
    return build(schedule_product(machine, *shape, (2, 2, 2), ahead), target=machine).main


def issues(placed: PlacedProgram, name: str) -> list[Issue]:
    return [n for n in walk(placed.program.body) if isinstance(n, Issue) and n.instruction.name == name]


def buffer(placed: PlacedProgram, name: str) -> MachineBuffer:
    return next(b for b in placed.rows if b.name == name)


def bodies(body: list[Node]):
    yield body
    for node in body:
        if isinstance(node, For | When):
            yield from bodies(node.body)


def remove(placed: PlacedProgram, name: str) -> None:
    for body in bodies(placed.program.body):
        body[:] = [n for n in body if not (isinstance(n, Issue) and n.instruction.name == name)]


def shift(placed: PlacedProgram, name: str, operand: str, rows: int) -> None:
    for issue in issues(placed, name)[:1]:
        issue.tiles[operand] = replace(issue.tiles[operand], start=issue.tiles[operand].start + rows)


def swap(placed: PlacedProgram, name: str, one: str, other: str) -> None:
    for issue in issues(placed, name):
        issue.tiles[one], issue.tiles[other] = issue.tiles[other], issue.tiles[one]


FAULTS: dict[str, tuple[Callable[[PlacedProgram], None], str]] = {
    "buffers overlap": (
        lambda p: p.rows.update({buffer(p, "B_global_sp"): 1}),
        r"compute at .*: row \d+ of sp \(.*, operand [AB]\) has an element of [AB]_global_sp, written by mvin at",
    ),
    "a buffer is beyond the memory": (
        lambda p: p.rows.update({buffer(p, "S_global_acc"): 250}),
        r"operand C ends at row \d+; acc has 256",
    ),
    "a register is not set": (
        lambda p: remove(p, "config_ld"),
        "mvin at .*: register ld.stride was never set; it needs 64",
    ),
    "a register has another value": (
        lambda p: issues(p, "config_st")[0].numbers.update(stride=Constant(63)),
        r"mvout at .*: register st.stride is 63; it needs 64; set by config_st",
    ),
    "a copy is missing": (lambda p: remove(p, "mvin"), "mvin of the schedule is missing"),
    "a row too far": (
        lambda p: shift(p, "compute", "A", 1),
        r"compute: operand A begins at .*, in the schedule ",
    ),
    "operands are swapped": (
        lambda p: swap(p, "compute", "A", "B"),
        r"compute: operand [AB] is in [AB]_global_sp, in the schedule in [AB]_global_sp",
    ),
    "a number is another one": (
        lambda p: issues(p, "mvout")[0].numbers.update(scale=0.25),
        "mvout: operand scale is 0.25, in the schedule 0.001953125",
    ),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault: str) -> None:
    plant, message = FAULTS[fault]
    main = placed_product()
    plant(main.placed)
    proof = main.verify()
    assert not proof and re.search(message, str(proof)), str(proof)


@pytest.mark.parametrize("shape", [(64, 64, 64), (33, 100, 47), (15, 17, 1), (16, 17, 127)])
@pytest.mark.parametrize("ahead", [False, True])
def test_what_a_schedule_says_is_done(shape: tuple[int, int, int], ahead: bool) -> None:
    proof = placed_product(shape, ahead).verify()
    assert proof and str(proof).startswith("equal to its schedule"), str(proof)


def test_what_an_earlier_iteration_wrote_is_not_there() -> None:
    main = placed_product((64, 64, 64), False)
    scheduled = main._scheduled()
    main._scheduled = lambda: scheduled
    for program in (main.placed.program, scheduled):  # the schedule copies in the first iteration only, too
        first = next(n for n in program.nodes() if isinstance(n, For)).var
        for body in list(bodies(program.body)):
            for n, node in enumerate(body):
                if isinstance(node, Issue) and node.tiles.get("R") and node.tiles["R"].buffer.name == "A_global_sp":
                    body[n] = When(((Constant(0) - Dim(first), False),), [node])
    proof = main.verify()
    assert not proof and "has what an earlier iteration wrote, written by mvin at i_0_0 = 0" in str(proof), str(proof)


def test_the_whole_of_a_large_product_is_looked_at_in_seconds() -> None:
    proof = placed_product((512, 512, 512), False).verify()
    assert proof and proof.instructions > 40_000 and proof.seconds < 3
