"""VTA, whose units wait by the flags of instructions alone: the C in any order that its flags allow, and faults."""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from harness.machine_faults import Planted, other_end, set_number, swap_tiles
from programs.vta_product import schedule_vta

from tir_mlir import accel, build
from tir_mlir.accel import machines, upto
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.checks.verify_program import verify_program
from tir_mlir.accel.program import For, Issue, Node, TokenFlag, When
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr
from tir_mlir.errors import IntrinError, MachineError
from tir_mlir.runtime.tools import c_tools
from tir_mlir.script import tir as T

SIZES = [(8, 32, 48, 4, 1), (9, 64, 32, 3, 2), (34, 32, 16, 17, 2)]


@cache
def product(m: int, n: int, k: int, rows: int, blocks: int) -> MachineFunction:
    machine = machines.vta()  # its instructions are those of the schedule
    main = build(schedule_vta(m, n, k, rows, blocks), target=machine).main
    assert isinstance(main, MachineFunction)
    return main


def compiled(source: str, folder: Path) -> ctypes.CDLL:
    """The C of a program with the model of the machine; `set_order` decides in which order units work."""
    header = machines.c_model("vta").read_text() + "void set_order(uint32_t order) { vta_order = order; }\n"
    (folder / "vta.h").write_text(header)
    (folder / "product.c").write_text(source.replace("void main(", "void product("))
    c_tools.compile_c(folder / "product.c", str(folder / "product.o"), "-w", "-fwrapv", f"-I{folder}")
    c_tools.link_shared([str(folder / "product.o")], str(folder / "product.so"), [])
    return ctypes.CDLL(str(folder / "product.so"))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.few(1)
def test_its_c_is_right_in_each_order_that_flags_allow(sizes: tuple[int, ...], tmp_path: Path) -> None:
    m, n, k, *_ = sizes
    code = compiled(product(*sizes).source, tmp_path)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (n, k), np.int8)
    packed = np.ascontiguousarray(b.reshape(n // 16, 16, k // 16, 16).swapaxes(1, 2))
    expected = np.clip((a.astype(np.int32) @ b.T.astype(np.int32)) >> 8, 0, 127)
    for order in range(20):
        code.set_order(ctypes.c_uint32(order))
        c = np.full((m, n), -1, np.int8)
        code.product(*(ctypes.c_void_p(x.ctypes.data) for x in (a, packed, c)))
        np.testing.assert_array_equal(c, expected)


def test_flags_cost_nothing() -> None:
    """They are no instructions of their own: as many as the schedule has, and one that waits at the end."""
    issued = product(*SIZES[1]).timeline.issued
    assert issued == {"load_inp": 3, "load_wgt": 6, "gemm": 12, "store_out": 6, "finish": 1} | dict.fromkeys(
        ("reset", "shift", "least", "largest"), 6
    )


# --- planted faults ---------------------------------------------------------------------------------------------------


def issues_with(p: Planted, queue: str, puts: bool) -> list[Issue]:
    """The instructions that put tokens into a queue, or take them."""
    issues = [n for n in p.placed.program.nodes() if isinstance(n, Issue)]
    return [i for i in issues if any(is_flag(flag, queue, puts) for flag in i.flags)]


def is_flag(flag: TokenFlag, queue: str, puts: bool) -> bool:
    tokens = flag.passes.tokens
    return tokens is not None and tokens.name == queue and flag.passes.puts_token == puts


def change_flags(p: Planted, queue: str, puts: bool, change: Callable[[TokenFlag], list[TokenFlag]]) -> None:
    """Change the flags of one kind."""
    for issue in issues_with(p, queue, puts):
        issue.flags = [new for f in issue.flags for new in (change(f) if is_flag(f, queue, puts) else [f])]


def never(p: Planted, queue: str, puts: bool) -> None:
    change_flags(p, queue, puts, lambda _: [])


def twice(p: Planted, queue: str, puts: bool) -> None:
    change_flags(p, queue, puts, lambda f: [f, f])


def only_where(condition: Callable[[IntExpr], IntExpr]) -> Callable[[Planted, str, bool], None]:
    """In some of the three iterations of the outermost loop only."""

    def plant(p: Planted, queue: str, puts: bool) -> None:
        added = ((condition(Dim(p.loops()[0].var)), False),)
        change_flags(p, queue, puts, lambda f: [replace(f, conditions=(*f.conditions, *added))])

    return plant


def add_flag(p: Planted, name: str, flag: str, which: int = 0) -> None:
    """Let an instruction put or take one more token, each time."""
    passes = p.placed.program.machine.instructions[flag]
    p.issues(name)[which].flags.append(TokenFlag(passes, ()))


def move_finish(p: Planted, change: Callable[[list[Node], Issue], list[Node]]) -> None:
    (finish,) = p.issues("finish")
    p.drop("finish")
    p.placed.program.body[:] = change(p.placed.program.body, finish)


def begin_with(node: Node, one: Issue) -> Node:
    assert isinstance(node, For)
    return replace(node, body=[one, *node.body])


PAIRS = ("load_to_compute", "compute_to_load", "compute_to_store", "store_to_compute")
TOKENS: dict[str, list[Callable[[Planted], None]]] = {
    f"{'put' if puts else 'take'} of {queue}": [
        lambda p, q=queue, w=puts, change=change: change(p, q, w)
        for change in (
            never, twice, only_where(lambda i: i - 1), only_where(lambda i: 1 - i), only_where(lambda i: 0 - i)
        )
    ]
    for queue in PAIRS
    for puts in (True, False)
} | {
    "superfluous put": [
        lambda p: add_flag(p, "load_inp", "put_load_to_compute"), lambda p: add_flag(p, "reset", "put_compute_to_load"),
        lambda p: add_flag(p, "least", "put_compute_to_load"), lambda p: add_flag(p, "gemm", "put_compute_to_store"),
        lambda p: add_flag(p, "shift", "put_compute_to_store"),
    ],
    "superfluous take": [
        lambda p: add_flag(p, "load_inp", "take_compute_to_load"),
        lambda p: add_flag(p, "reset", "take_load_to_compute"), lambda p: add_flag(p, "least", "take_store_to_compute"),
        lambda p: add_flag(p, "gemm", "take_store_to_compute"),
        lambda p: add_flag(p, "largest", "take_load_to_compute"),
    ],
}  # fmt: skip
PROGRAMS: dict[str, list[Callable[[Planted], None]]] = {
    "overlap or beyond a memory": [
        lambda p: p.place("A_", 2043), lambda p: p.place("B_", 1021), lambda p: p.place("S", 2048),
        lambda p: p.place("S", 2043), lambda p: p.place("A_", 1 << 20),
    ],
    "one row off": [
        lambda p: p.shift("gemm", "A", lambda x: x + 1), lambda p: p.shift("gemm", "B", lambda x: x + 2),
        lambda p: p.shift("gemm", "C", lambda x: x + 1), lambda p: p.shift("load_wgt", "R", lambda x: x + 1),
        lambda p: p.shift("store_out", "C", lambda x: x + 1),
    ],
    "wrong place on the CPU": [
        lambda p: p.shift("load_inp", "D", lambda x: x + 16), lambda p: p.shift("load_wgt", "D", lambda x: x + 256),
        lambda p: p.shift("load_wgt", "D", lambda x: x * 2), lambda p: p.shift("store_out", "D", lambda x: x + 16),
        lambda p: p.shift("store_out", "D", lambda x: x * 2),
    ],
    "missing instruction": [
        lambda p: p.drop("load_inp"), lambda p: p.drop("load_wgt"), lambda p: p.drop("reset"),
        lambda p: p.drop("shift"), lambda p: p.drop("store_out"),
    ],
    "instruction in one branch only": [
        lambda p: p.wrap("load_inp", 0, first=False), lambda p: p.wrap("load_wgt"), lambda p: p.wrap("gemm"),
        lambda p: p.wrap("shift", 0, first=False), lambda p: p.wrap("store_out"),
    ],
    "another operand": [
        lambda p: swap_tiles(p, "gemm", "A", "C"), lambda p: swap_tiles(p, "gemm", "A", "B"),
        lambda p: swap_tiles(p, "load_inp", "R", "D"), lambda p: set_number(p, "shift", "value", Constant(7)),
        lambda p: set_number(p, "least", "value", Constant(126)),
    ],
    "wrong size": [
        lambda p: set_number(p, "load_inp", "rows", Constant(2)),
        lambda p: set_number(p, "gemm", "blocks", Constant(1)), lambda p: set_number(p, "gemm", "rows", Constant(4)),
        lambda p: set_number(p, "reset", "blocks", Constant(0)),
        lambda p: set_number(p, "store_out", "rows", Constant(2)),
    ],
    "loop too short or too long": [
        lambda p: other_end(p, 0, 1), lambda p: other_end(p, 0, -1), lambda p: other_end(p, 1, -1),
        lambda p: other_end(p, 2, 1), lambda p: other_end(p, 2, -1),
    ],
    "wrong order": [
        lambda p: p.swap_nodes("load_wgt"), lambda p: p.swap_nodes("gemm"), lambda p: p.swap_nodes("shift"),
        lambda p: p.swap_nodes("store_out"), lambda p: p.hoist("reset"),
    ],
    "the end not waited for": [
        lambda p: p.drop("finish"), lambda p: set_number(p, "finish", "left", Constant(1)),
        lambda p: move_finish(p, lambda body, one: [one, *body]),
        lambda p: move_finish(p, lambda body, one: [*body, When(((Constant(-1), False),), [one])]),
        lambda p: move_finish(p, lambda body, one: [*body[:-1], begin_with(body[-1], one)]),
    ],
}  # fmt: skip


def fresh() -> Planted:
    """A program without a fault, that may be changed."""
    placed = product(*SIZES[1]).placed

    def copy(body: list[Node]) -> list[Node]:
        return [copied(n) for n in body]

    def copied(node: Node) -> Node:
        if isinstance(node, For | When):
            return replace(node, body=copy(node.body))
        if isinstance(node, Issue):
            return replace(node, tiles=dict(node.tiles), numbers=dict(node.numbers), flags=list(node.flags))
        return node

    program = replace(placed.program, body=copy(placed.program.body))
    return Planted(replace(placed, program=program, rows=dict(placed.rows)))


@pytest.mark.parametrize(("kind", "variant"), [(k, n) for k in TOKENS for n in range(5)])
@pytest.mark.few(10)
def test_a_wrong_token_is_told(kind: str, variant: int) -> None:
    """By the name of its queue, or of the unit that nothing waits for."""
    planted = fresh()
    TOKENS[kind][variant](planted)
    proof = verify_program(planted.placed, product(*SIZES[1])._scheduled())
    assert not proof, kind
    assert re.search(r"(puts|takes) a token (into|of) \w+_to_\w+, |nothing waits for unit \w+;", str(proof)), str(proof)


@pytest.mark.parametrize(("kind", "variant"), [(k, n) for k in PROGRAMS for n in range(5)])
@pytest.mark.few(10)
def test_a_fault_in_a_program_of_vta_is_found(kind: str, variant: int) -> None:
    planted = fresh()
    PROGRAMS[kind][variant](planted)
    assert not verify_program(planted.placed, product(*SIZES[1])._scheduled()), kind


def test_the_program_without_a_fault_is_right() -> None:
    assert verify_program(fresh().placed, product(*SIZES[1])._scheduled())


def test_there_are_twenty_kinds_of_five() -> None:
    assert all(len(variants) == 5 for table in (TOKENS, PROGRAMS) for variants in table.values())
    assert len(TOKENS) + len(PROGRAMS) == 20


# --- descriptions -----------------------------------------------------------------------------------------------------


def flagged(call: str, with_tokens: bool = True, is_first: bool = True) -> accel.Machine:
    """A machine whose units pass tokens by flags, with an instruction; is_first: the tokens are described first."""
    m = accel.Machine("flagged")
    pad, load, work = m.memory("pad", rows=64, row=(16, "int8")), m.unit("load", interlocks="none"), m.unit("work")

    def describe_tokens() -> None:
        if with_tokens:
            m.tokens(load, work, put="PUT", take="TAKE", depth=4, by_flags=True)

    if is_first:
        describe_tokens()

    @m.instruction(load, call=call)
    def fetch(D: m.host("int8"), R: pad, rows: upto(16)):
        for i, j in T.grid(rows, 16):
            R[i, j] = D[i, j]

    if not is_first:
        describe_tokens()
    return m


@pytest.mark.parametrize("is_first", [True, False])
def test_a_call_without_a_place_for_flags_is_refused(is_first: bool) -> None:
    message = r"the calls of flagged\.fetch\(D, R, rows\) have \{flags\} 0 times; instructions of unit load pass tokens"
    with pytest.raises(IntrinError, match=message):
        flagged("fetch({R.row}, {D})", is_first=is_first)
    assert flagged("fetch({flags}, {R.row}, {D})", is_first=is_first).instructions["fetch"].calls  # the way out


def test_flags_of_a_unit_that_has_none_are_refused() -> None:
    with pytest.raises(IntrinError, match=r"has \{flags\}; its operands are D, R, rows"):
        flagged("fetch({flags}, {R.row}, {D})", with_tokens=False).check("int8_t pad[64][16];\nint fetch();")


def test_a_token_that_is_missing_is_refused_when_the_program_runs() -> None:
    planted = fresh()
    change_flags(planted, "store_to_compute", False, lambda _: [])
    main = product(*SIZES[1])
    changed = MachineFunction(main.signature, planted.placed, main._scheduled)
    arrays = [np.zeros(p.shape, np.int8) for p in planted.placed.program.params]
    with pytest.raises(MachineError, match=r"reset at .* writes row 0 of acc, which store_out at .* may still read"):
        changed(*arrays)
