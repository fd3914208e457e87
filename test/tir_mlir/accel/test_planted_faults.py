"""Faults that are planted one at a time, each of which has to be found before the hardware: in the C of instructions,
in their descriptions, in schedules, in addresses, in the configuration, in the order and the operands of instructions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest
from harness.machine_faults import Planted, other_end, set_number, swap_tiles
from programs.parsed import parse
from programs.systolic import HEADER, schedule_product, systolic

from tir_mlir import Schedule, accel, build
from tir_mlir.accel.addresses import place_buffers
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.checks.verify_program import verify_program
from tir_mlir.accel.configuration import configure
from tir_mlir.dialect.symbolic import Constant
from tir_mlir.errors import ScheduleError

# --- in C, found by Machine.check: the instruction, the text, and what is there instead -------------------------------

ROUND = "x = x + 12582912.0f; x = x - 12582912.0f;"
CLIP = "x > 127 ? 127 : x < 0 ? 0 : x"
LOAD = "i < rows && j < cols ? from[i * ld_stride + j] : 0"
STORE = "i < rows; ++i) for (int j = 0; j < cols; ++j) {"
ZERO = "i < 16; ++i) for (int j = 0; j < 16; ++j) ACC[to"
PRODUCT = "ACC[c + i][j] += SP[a + i][k] * SP[b + k][j];"
IN_C: dict[str, list[tuple[str, str, str]]] = {
    "wrong scale": [
        ("mvout", "* st_scale", text)
        for text in ("", "* st_scale * 2", "/ st_scale", "* -st_scale", "* (st_scale + 1e-3f)")
    ],
    "wrong rounding": [
        ("mvout", ROUND, f"x = {text};")
        for text in (
            "x", "__builtin_roundf(x)", "__builtin_floorf(x)", "__builtin_ceilf(x)", "__builtin_floorf(x + 0.5f)"
        )
    ],
    "wrong clipping": [
        ("mvout", CLIP, text)
        for text in (
            "x", "x > 127 ? 127 : x", "x < 0 ? 0 : x > 126 ? 126 : x", "x > 127 ? 127 : x < -128 ? -128 : x",
            "x > 128 ? 127 : x < 1 ? 0 : x",
        )
    ],
    "missing zero": [
        ("mvin", ": 0; }", text)
        for text in (": SP[to + i][j]; }", ": 1; }", ": -128; }", ": from[0]; }", ": i < rows ? 0 : SP[to + i][j]; }")
    ],
    "wrong row": [
        ("mvin", "SP[to + i][j] =", "SP[to + i + 1][j] ="),
        ("mvin", "SP[to + i][j] =", "SP[to + (15 - i)][j] ="),
        ("compute", "SP[a + i][k]", "SP[a + i + 1][k]"),
        ("compute", "ACC[c + i]", "ACC[c + (i ^ 1)]"),
        ("mvout", "ACC[from + i]", "ACC[from]"),
    ],
    "one row or column too many or too few": [
        ("zero", ZERO, ZERO.replace("i < 16", "i < 17")),
        ("zero", ZERO, ZERO.replace("j < 16", "j < 15")),
        ("compute", "k < 16", "k < 15"),
        ("mvin", LOAD, LOAD.replace("i < rows", "i <= rows")),
        ("mvout", STORE, STORE.replace("i < rows", "i < rows - 1")),
    ],
    "wrong stride": [
        ("mvin", "i * ld_stride", "i * st_stride"),
        ("mvin", "i * ld_stride", "i * 16"),
        ("mvin", "i * ld_stride", "i * (ld_stride + 1)"),
        ("mvout", "i * st_stride", "i * ld_stride"),
        ("mvout", "i * st_stride", "i * cols"),
    ],
    "missing edge mask": [
        ("mvin", LOAD, LOAD.replace("i < rows && ", "")),
        ("mvin", LOAD, LOAD.replace("&& j < cols ", "")),
        ("mvin", LOAD, LOAD.replace("&&", "||")),
        ("mvout", STORE, STORE.replace("i < rows", "i < 16")),
        ("mvout", STORE, STORE.replace("j < cols", "j < 16")),
    ],
    "swapped operands": [
        ("compute", "compute(int32_t a, int32_t b", "compute(int32_t b, int32_t a"),
        ("compute", "SP[b + k][j]", "SP[b + j][k]"),
        ("compute", "SP[a + i][k]", "SP[a + k][i]"),
        ("mvin", "i < rows && j < cols", "i < cols && j < rows"),
        ("mvout", "int32_t from, int32_t rows, int32_t cols", "int32_t from, int32_t cols, int32_t rows"),
    ],
    "wrong sum": [
        ("compute", PRODUCT, PRODUCT.replace(*change))
        for change in (
            ("+=", "="), ("+=", "-="), ("SP[b", "(uint8_t)SP[b"), ("SP[a", "(int8_t)-SP[a"), ("* SP", "+ SP")
        )
    ],
    "a register of another one": [
        ("mvout", "{ ld_stride = stride; }", "{ ld_stride = st_stride = stride; }"),
        ("mvin", "{ st_stride = stride;", "{ st_stride = ld_stride = stride;"),
        ("mvout", "{ ld_stride = stride; }", "{ ld_stride = stride; st_scale = 1; }"),
        ("mvout", "st_scale = scale; }", "if (!st_scale) st_scale = scale; }"),
        ("mvin", "{ ld_stride = stride; }", "{ ld_stride = stride & 31; }"),
    ],
    "beyond an array or an operand": [
        ("mvin", "SP[to + i]", "SP[to + i + 1024]"),
        ("mvout", "ACC[from + i]", "ACC[from + i + 256]"),
        ("mvin", LOAD, LOAD + " + 0 * *(volatile const int8_t *)(from + rows * ld_stride)"),
        ("mvout", "to[i * st_stride + j] =", "to[(i + 1) * st_stride + j] ="),
        ("compute", "SP[b + k]", "SP[b + k - 1024]"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "variant"), [(k, n) for k in IN_C for n in range(5)])
@pytest.mark.few(6)
def test_a_fault_in_c_is_found(kind: str, variant: int) -> None:
    name, old, new = IN_C[kind][variant]
    assert old in HEADER, old
    result = systolic().check(HEADER.replace(old, new, 1), only=[name])
    assert not result and f"  {name}: " in str(result), str(result)


# --- in programs: something else than the instructions of the machine do, refused by tensorize ------------------------

RIGHT = {
    "P": ("for i, j in T.grid(16, 16)", "P[vi, vj] = A[vi, vj]", "array.mvin"),
    "Z": ("for i, j in T.grid(16, 16)", "S[vi, vj] = 0", "array.zero"),
    "S": (
        "for i, j, k in T.grid(16, 16, 16)",
        'S[vi, vj] = S[vi, vj] + T.Cast("int32", P[vi, vk]) * T.Cast("int32", Q[vk, vj])',
        "array.compute",
    ),
    "C": (
        "for i, j in T.grid(16, 16)",
        'C[vi, vj] = T.Cast("int8", T.max(T.min(T.round(T.Cast("float32", S[vi, vj]) * T.float32(0.25)), '
        "T.float32(127)), T.float32(0)))",
        "array.mvout",
    ),
}
IN_PROGRAMS: dict[str, list[tuple[str, str, str]]] = {
    "a copy that changes its elements": [
        ("P", "A[vi, vj]", text)
        for text in (
            "A[vj, vi]", "A[15 - vi, vj]", "A[vi, vj] + T.int8(1)", "-A[vi, vj]", "T.max(A[vi, vj], T.int8(0))"
        )
    ],
    "a copy with another edge": [
        ("P", "A[vi, vj]", f"T.if_then_else({text}, T.int8({other}))")
        for text, other in (
            ("vi < 15, A[vi, vj]", 1), ("vi >= 1, A[vi, vj]", 0), ("vi + vj < 20, A[vi, vj]", 0),
            ("vi == 3, A[vi, vj]", 0), ("vi < 15 or vj < 15, A[vi, vj]", 0),
        )
    ],
    "a sum that does not begin with zero": [
        ("Z", "S[vi, vj] = 0", text)
        for text in (
            "S[vi, vj] = 1", "S[vi, vj] = vi", "S[vi, vj] = -1", 'S[vi, vj] = T.Cast("int32", P[vi, vj])',
            "S[vj, vi] = 1",
        )
    ],
    "a product that the machine has not": [
        ("S", old, new)
        for old, new in (
            ("Q[vk, vj]", "Q[vj, vk]"), ("P[vi, vk]", "P[vk, vi]"), ("+ T.Cast", "- T.Cast"),
            (") * T.Cast", ") + T.Cast"),
            ("] = S[vi, vj]", "] = 2 * S[vi, vj]"),
        )
    ],
    "another rounding": [
        ("C", "T.round(", text) for text in ("T.floor(", "T.ceil(", "T.trunc(", "T.sqrt(", "T.float32(2) * (")
    ],
    "another clipping": [
        ("C", old, new)
        for old, new in (
            ("T.float32(127)", "T.float32(126)"), ("T.float32(0)", "T.float32(-128)"), ("T.max(", "T.min("),
            ("T.min(", "T.max("), ("T.float32(0)", "T.float32(1)"),
        )
    ],
}  # fmt: skip


def tile_program(changed: str, old: str, new: str) -> str:
    """A product of one tile, in the text of which something is changed."""
    blocks = []
    for name, (loops, text, _) in RIGHT.items():
        if name == changed:
            assert old in text
            text = text.replace(old, new, 1)
        axes = '"SSR", [i, j, k]' if name == "S" else '"SS", [i, j]'
        names = "vi, vj, vk" if name == "S" else "vi, vj"
        blocks.append(
            f"    {loops}:\n        with T.block({name!r}):\n"
            f"            {names} = T.axis.remap({axes})\n            {text}\n"
        )
    copy = (
        "    for i, j in T.grid(16, 16):\n        with T.block('Q'):\n"
        '            vi, vj = T.axis.remap("SS", [i, j])\n            Q[vi, vj] = B[vi, vj]\n'
    )
    return (
        '@T.prim_func\ndef main(A: T.Buffer((16, 16), "int8"), B: T.Buffer((16, 16), "int8"), '
        'C: T.Buffer((16, 16), "int8")):\n'
        '    P = T.alloc_buffer((16, 16), "int8", scope="global.sp")\n'
        '    Q = T.alloc_buffer((16, 16), "int8", scope="global.sp")\n'
        '    S = T.alloc_buffer((16, 16), "int32", scope="global.acc")\n' + copy + "".join(blocks)
    )


@pytest.mark.parametrize(("kind", "variant"), [(k, n) for k in IN_PROGRAMS for n in range(5)])
def test_a_fault_in_a_program_is_refused(kind: str, variant: int) -> None:
    block, old, new = IN_PROGRAMS[kind][variant]
    machine()
    sch = Schedule(parse(tile_program(block, old, new)))
    name = RIGHT[block][2]
    with pytest.raises(ScheduleError, match=re.escape(name)):
        sch.tensorize(sch.get_loops(block)[0], name)


def test_the_program_without_a_fault_is_tensorized() -> None:
    machine()
    sch = Schedule(parse(tile_program("Z", "0", "0")))
    for block, (_, _, name) in RIGHT.items():
        sch.tensorize(sch.get_loops(block)[0], name)
    sch.tensorize(sch.get_loops("Q")[0], "array.mvin")
    assert build(sch, target=machine()).main.verify()


# --- in what is made of a schedule: addresses, registers, operands, loops, order; found by MachineFunction.verify -----


@cache
def machine() -> accel.Machine:
    return systolic()


@cache
def product() -> MachineFunction:
    """A product with an edge, with copies of the next tiles into another plane."""
    return build(schedule_product(machine(), 100, 50, 70, (2, 2, 1), True), target=machine()).main


IN_MACHINE_PROGRAMS: dict[str, list[Callable[[Planted], None]]] = {
    "overlap": [
        lambda p: p.place("B_", by=1), lambda p: p.place("A_", 0), lambda p: p.place("A_", by=-1),
        lambda p: p.place("A_", by=-63), lambda p: (p.place("A_", 5), p.place("B_", 4)),
    ],
    "beyond the memory": [
        lambda p: p.place("A_", 1020), lambda p: p.place("B_", 1024), lambda p: p.place("S_", 255),
        lambda p: p.place("S_", 256 - 16), lambda p: p.place("A_", 1 << 20),
    ],
    "one row off": [
        lambda p: p.shift("compute", "A", lambda x: x + 1), lambda p: p.shift("compute", "B", lambda x: x - 1),
        lambda p: p.shift("compute", "C", lambda x: x + 16), lambda p: p.shift("mvin", "R", lambda x: x + 1),
        lambda p: p.shift("mvout", "C", lambda x: x + 1),
    ],
    "planes of a double buffer off by one": [
        lambda p: p.shift("compute", "A", lambda x: x + 32), lambda p: p.shift("compute", "B", lambda x: x + 32),
        lambda p: p.shift("mvin", "R", lambda x: x + 32), lambda p: p.shift("mvin", "R", lambda x: x + 32, 1),
        lambda p: p.shift("mvin", "R", lambda x: x + 32, -1),
    ],
    "wrong place on the CPU": [
        lambda p: p.shift("mvin", "D", lambda x: x + 1), lambda p: p.shift("mvin", "D", lambda x: x - 96),
        lambda p: p.shift("mvin", "D", lambda x: x + 64, -1), lambda p: p.shift("mvout", "D", lambda x: x + 1),
        lambda p: p.shift("mvout", "D", lambda x: x * 2),
    ],
    "missing instruction": [
        lambda p: p.drop("mvin"), lambda p: p.drop("mvin", -1), lambda p: p.drop("zero"), lambda p: p.drop("compute"),
        lambda p: p.drop("mvout"),
    ],
    "register never set": [
        lambda p: [p.drop("config_ld") for _ in p.issues("config_ld")],
        lambda p: [p.drop("config_st") for _ in p.issues("config_st")],
        lambda p: p.hoist("config_st"), lambda p: p.drop("config_ld"), lambda p: p.drop("config_ld", -1),
    ],
    "stale register": [
        lambda p: set_number(p, "config_ld", "stride", Constant(65)),
        lambda p: set_number(p, "config_ld", "stride", Constant(0), -1),
        lambda p: set_number(p, "config_st", "stride", Constant(128)),
        lambda p: set_number(p, "config_st", "scale", 1.0),
        lambda p: set_number(p, "config_st", "stride", Constant(49)),
    ],
    "register set in one branch only": [
        lambda p: p.wrap("config_ld", 0), lambda p: p.wrap("config_ld", -1),
        lambda p: p.wrap("config_ld", 0, first=False), lambda p: p.wrap("config_ld", 1),
        lambda p: p.wrap("config_ld", 1, first=False),
    ],
    "instruction in one branch only": [
        lambda p: p.wrap("mvin"), lambda p: p.wrap("zero"), lambda p: p.wrap("compute", 0, first=False),
        lambda p: p.wrap("mvout"), lambda p: p.wrap("mvin", -1, first=False),
    ],
    "swapped operands": [
        lambda p: swap_tiles(p, "compute", "A", "B"), lambda p: swap_tiles(p, "compute", "A", "C"),
        lambda p: swap_tiles(p, "compute", "B", "C"), lambda p: swap_tiles(p, "mvout", "C", "D"),
        lambda p: swap_tiles(p, "mvin", "R", "D"),
    ],
    "wrong mask": [
        lambda p: set_number(p, "mvin", "rows", Constant(16)), lambda p: set_number(p, "mvin", "cols", Constant(15)),
        lambda p: set_number(p, "mvout", "rows", Constant(16)), lambda p: set_number(p, "mvout", "cols", Constant(0)),
        lambda p: set_number(p, "mvout", "scale", 0.5),
    ],
    "loop too short or too long": [
        lambda p: other_end(p, 0, 1), lambda p: other_end(p, 0, -1), lambda p: other_end(p, 2, 1),
        lambda p: other_end(p, -1, 1), lambda p: other_end(p, -1, -1),
    ],
    "wrong order": [
        lambda p: p.swap_nodes("zero"), lambda p: p.swap_nodes("compute"), lambda p: p.swap_nodes("mvout"),
        lambda p: p.hoist("zero"), lambda p: p.hoist("compute"),
    ],
}  # fmt: skip


def fresh() -> Planted:
    """The program of the product without a fault."""
    return Planted(place_buffers(configure(product()._scheduled())))


@pytest.mark.parametrize(("kind", "variant"), [(k, n) for k in IN_MACHINE_PROGRAMS for n in range(5)])
def test_a_fault_in_the_program_of_a_machine_is_found(kind: str, variant: int) -> None:
    planted = fresh()
    before = (*map(str, planted.placed.program.nodes()), str(planted.placed))
    IN_MACHINE_PROGRAMS[kind][variant](planted)
    assert (*map(str, planted.placed.program.nodes()), str(planted.placed)) != before, "nothing is planted"
    proof = verify_program(planted.placed, product()._scheduled())
    assert not proof, f"{kind} {variant}"


def test_the_program_of_the_machine_without_a_fault_is_right() -> None:
    assert verify_program(fresh().placed, product()._scheduled())


def test_there_are_at_least_twenty_kinds_of_five() -> None:
    tables = (IN_C, IN_PROGRAMS, IN_MACHINE_PROGRAMS)
    assert all(len(variants) == 5 for table in tables for variants in table.values())
    assert sum(map(len, tables)) == 32
