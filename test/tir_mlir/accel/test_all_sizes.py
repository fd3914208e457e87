"""`verify` of programs whose sizes a call decides: proofs for all of them, and faults that some have, against what is
found at numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from programs.systolic import put_product, symbolic_product, systolic

from tir_mlir import Schedule, accel, build
from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.checks.all_sizes import fault_at_some_sizes
from tir_mlir.accel.program import For, Issue, Node, When
from tir_mlir.accel.substitution import at_sizes
from tir_mlir.accel.timing.faults import first_fault
from tir_mlir.accel.timing.stream import read_stream
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.symbolic import Constant, Dim, Symbol

SIZES = [(1, 1, 1), (16, 16, 16), (17, 40, 65), (65, 17, 17)]


def product(tiles: tuple[int, int, int] = (2, 1, 2), ahead: bool = True) -> MachineFunction:
    machine = systolic()
    sch = Schedule(symbolic_product)
    put_product(sch, machine, tiles, ahead, is_ragged=True)
    main = build(sch, target=machine).main
    assert isinstance(main, MachineFunction)
    return main


@pytest.mark.few(1)
@pytest.mark.parametrize(("tiles", "ahead"), [((1, 1, 1), False), ((2, 1, 2), True), ((4, 4, 1), True)])
def test_a_program_is_right_at_all_sizes(tiles: tuple[int, int, int], ahead: bool) -> None:
    proof = product(tiles, ahead).verify()
    assert proof and proof.seconds < 5 and "instructions of the text, for all m, k, n" in str(proof), str(proof)


def test_a_mapped_program_is_right_at_all_sizes() -> None:
    assert accel.map(symbolic_product, systolic()).function.verify()


def bodies(body: list[Node]) -> Iterator[list[Node]]:
    yield body
    for node in body:
        if isinstance(node, For | When):
            yield from bodies(node.body)


def issues(placed: PlacedProgram, name: str) -> list[Issue]:
    return [n for n in placed.program.nodes() if isinstance(n, Issue) and n.instruction.name == name]


def shift(placed: PlacedProgram, name: str, operand: str, by: int) -> None:
    issue = issues(placed, name)[0]
    issue.tiles[operand] = replace(issue.tiles[operand], start=issue.tiles[operand].start + by)


def remove(placed: PlacedProgram, name: str) -> None:
    for body in bodies(placed.program.body):
        body[:] = [n for n in body if not (isinstance(n, Issue) and n.instruction.name == name)]


def wrap(placed: PlacedProgram, name: str, size: str, least: int) -> None:
    """An instruction is there only where a size is at least a number."""
    for body in list(bodies(placed.program.body)):
        for n, node in enumerate(body):
            if isinstance(node, Issue) and node.instruction.name == name:
                body[n] = When(((Symbol(size) - least, False),), [node])


def in_first_iteration(placed: PlacedProgram, name: str) -> None:
    loop = next(n for n in placed.program.nodes() if isinstance(n, For)).var
    for body in list(bodies(placed.program.body)):
        for n, node in enumerate(body):
            if isinstance(node, Issue) and node.instruction.name == name:
                body[n] = When(((Constant(0) - Dim(loop), False),), [node])


def place(placed: PlacedProgram, name: str, row: int) -> None:
    placed.rows[next(b for b in placed.rows if b.name.startswith(name))] = row


def set_number(placed: PlacedProgram, name: str, number: str, value: Constant | Symbol | float) -> None:
    issues(placed, name)[0].numbers[number] = value


FAULTS: dict[str, tuple[Callable[[PlacedProgram], object], str]] = {
    "buffers meet": (lambda p: place(p, "B_", 1), r"operand [AB], has an element of [AB]_pad_\w+, written by mvin"),
    "beyond the memory": (lambda p: place(p, "S_", 250), "S_pad_global_acc ends behind acc, which has 256 rows"),
    "a row too far": (lambda p: shift(p, "compute", "A", 128), "operand A has a row outside of A_pad_global_sp"),
    "another plane": (lambda p: shift(p, "mvin", "R", 16), "operand R|operand A is read before it is written"),
    "a column too far": (lambda p: shift(p, "mvout", "D", 1), "not provable: the elements of C that mvout uses"),
    "no copy": (lambda p: remove(p, "mvin"), "a row of operand A is read before it is written"),
    "no copy at few rows": (lambda p: wrap(p, "mvin", "m", 3), r"where m = [12], .* is read before it is written"),
    "no zeros at many columns": (lambda p: wrap(p, "zero", "n", 2), r"where .* n = 1: a row of operand C is read"),
    "copies in the first iteration": (lambda p: in_first_iteration(p, "zero"), "has what an earlier iteration wrote"),
    "no register": (lambda p: remove(p, "config_ld"), "register ld.stride was never set"),
    "another number": (
        lambda p: set_number(p, "config_st", "stride", Constant(16)),
        r"register st.stride is 16; it needs n; set by config_st",
    ),
    "another size": (
        lambda p: set_number(p, "config_ld", "stride", Symbol("m")),
        r"register ld.stride is m; it needs k; set by config_ld",
    ),
    "another float": (
        lambda p: set_number(p, "config_st", "scale", 0.001953126),
        r"register st.scale is 0.00195313; it needs 0.00195312; set by config_st",
    ),
}


def found(placed: PlacedProgram) -> str | None:
    try:
        return fault_at_some_sizes(placed)
    except NotProvable as error:
        return f"not provable: {error}"


@pytest.mark.few(4)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_some_sizes_is_named(fault: str) -> None:
    plant, message = FAULTS[fault]
    placed = product().placed
    plant(placed)
    told = found(placed)
    assert told is not None and re.search(message, told), told
    numbers = [dict(zip("mnk", size, strict=True)) for size in SIZES]
    if (at := re.search(r"where (m = \d+, k = \d+, n = \d+)", told)) is not None:
        numbers = [{name: int(n) for name, n in re.findall(r"(\w) = (\d+)", at[1])}]
    streams = [read_stream(at_sizes(placed.program, size)) for size in numbers]
    assert any(first_fault(stream, placed.rows) for stream in streams), told


def test_what_is_not_decided_says_so() -> None:
    main = product()
    remote = issues(main.placed, "mvin")[0]
    remote.tiles["D"] = replace(remote.tiles["D"], start=remote.tiles["D"].start + Symbol("k") // Symbol("m"))
    scheduled = main.placed.program
    main._scheduled = lambda: scheduled
    proof = main.verify()
    assert not proof and "not provable for all sizes: " in str(proof) and "fix: verify at some" in str(proof)
