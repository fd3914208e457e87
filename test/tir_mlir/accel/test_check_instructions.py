"""`Machine.check`: the C of instructions against their descriptions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs.systolic import HEADER, systolic

from tir_mlir import accel
from tir_mlir.accel import between
from tir_mlir.errors import BuildError, InternalError, MachineError, ScriptError
from tir_mlir.script import tir as T

FAULTS: dict[str, tuple[str, str, str]] = {
    # what is wrong: the text of the model, what is there instead, and what the report says
    "the next row is written": (
        "SP[to + i][j] =",
        "SP[to + i + 1][j] =",
        r"mvin: R\[0, 0\], row 0 of sp, column 0, is",
    ),
    "one row too many is written": (
        "i < 16; ++i) for (int j = 0; j < 16; ++j) ACC[to",
        "i < 17; ++i) for (int j = 0; j < 16; ++j) ACC[to",
        r"zero: row 16 of acc, column 0 becomes 0, it was .*: the description does not write this row",
    ),
    "the last column is left out": ("j < 16; ++j) ACC[to", "j < 15; ++j) ACC[to", r"zero: C\[0, 15\], row 0 of acc"),
    "a tile is read beyond its mask": ("i < rows && j", "i < rows || j", "mvin: "),
    "what is beyond the mask is not zero": (": 0; }", ": SP[to + i][j]; }", r"mvin: R\[.* the description gives 0"),
    "the mask of the store is missing": (
        "j < cols; ++j) {",
        "j < 16; ++j) {",
        "mvout: the C (writes|crashes)",
    ),
    "ties are rounded away from zero": (
        "x = x + 12582912.0f; x = x - 12582912.0f;",
        "x = __builtin_roundf(x);",
        r"mvout: D\[\d+, \d+\] is",
    ),
    "the scale is squared": ("* st_scale", "* st_scale * st_scale", r"mvout: D\["),
    "the other stride": ("to[i * st_stride", "to[i * ld_stride", "mvout: "),
    "a sum begins anew": ("ACC[c + i][j] +=", "ACC[c + i][j] =", r"compute: C\[0, 0\], row 0 of acc"),
    "an operand is transposed": ("SP[b + k][j]", "SP[b + j][k]", r"compute: C\[0, 0\]"),
    "operands are swapped": ("compute(int32_t a, int32_t b", "compute(int32_t b, int32_t a", r"compute: C\["),
    "one register sets another": ("ld_stride = stride; }", "ld_stride = st_stride = stride; }", "mvout: "),
    "an array is left": (
        "SP[to + i][j] =",
        "SP[to + i + 1024][j] =",
        "mvin: the C crashes: .* beyond",
    ),
    "it never returns": (
        "static void zero(int32_t to) {",
        "static void zero(int32_t to) { WAIT;",
        "zero: the C does not",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.few(4)
def test_wrong_c_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, message = FAULTS[fault]
    assert old in HEADER
    monkeypatch.setattr("tir_mlir.accel.checks.check_instructions._SECONDS", 0.5 if "WAIT" in new else 20.0)
    wait = "#define WAIT for (;;) { volatile int x = 0; (void)x; }\n"
    result = systolic().check(wait + HEADER.replace(old, new, 1))
    assert not result
    assert re.search(message, str(result)), str(result)


def test_right_c_is_found_right() -> None:
    result = systolic().check()
    assert result, str(result)
    assert "mvin: as described" in str(result) and "config_ld: sets registers, seen by the others" in str(result)


def test_a_state_that_outlives_a_call_is_found_in_sequences() -> None:
    kept = "static int moved;\n" + HEADER.replace("void zero(int32_t to) {", "void zero(int32_t to) { moved = 1;")
    kept = kept.replace("SP[to + i][j] = i < rows", "SP[to + i][j] = moved && to % 7 == 3 ? 1 : i < rows")
    result = systolic().check(kept)
    assert "sequences: R[" in str(result), str(result)


def test_a_model_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "chip.h").write_text(HEADER.replace("SP[", "memory[").replace("ACC[", "sums["))
    (tmp_path / "chip.c").write_text('#include "chip.h"\n')
    machine = systolic()
    with pytest.raises(
        BuildError, match=r'no array sp or SP for memory sp; fix: check\(model, state={"sp": "its name"}'
    ):
        machine.check(tmp_path / "chip.c")
    assert machine.check(tmp_path / "chip.c", state={"sp": "memory", "acc": "sums"})
    with pytest.raises(BuildError, match="has no memory pad; it has sp, acc"):
        machine.check(tmp_path / "chip.c", state={"pad": "memory", "sp": "memory", "acc": "sums"})


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("missing.c", "there is no file missing.c"),
        ("int SP, ACC; void f( {", "the C model of the machine does not compile"),
        (HEADER.replace("SP[1024][16]", "SP[100][16]"), "sp has 16384 bytes, .*; its array in the C model has 1600"),
    ],
)
def test_c_that_cannot_be_checked_is_named(code: str, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        systolic().check(code)


def vectors(call: str = "add({A.row}, {B.row})", needs: bool = False) -> accel.Machine:
    """A machine on vectors of floats."""
    machine = accel.Machine("vectors")
    reg = machine.memory("reg", rows=8, row=(16, "float32"))
    mode = machine.state("mode", on="int32")
    if needs:

        @machine.instruction(machine.unit("alu"), call=call)
        def add(A: reg, B: reg):
            T.assume(mode.on == 1)
            for i in range(16):
                B[i] = T.max(B[i], A[i])
    else:

        @machine.instruction(machine.unit("alu"), call=call)
        def add(A: reg, B: reg):
            for i in range(16):
                B[i] = T.max(B[i], A[i])

    return machine


MAXIMUM = """static float REG[8][16];
static void add(int a, int b) { for (int i = 0; i < 16; ++i) { float x = REG[a][i], y = REG[b][i]; REG[b][i] = %s; } }
"""


def test_what_is_not_a_number_is_compared() -> None:
    right = MAXIMUM % "x != x || y != y ? 0.0f / 0.0f : x > y || (x == y && !__builtin_signbit(x)) ? x : y"
    assert vectors().check(right), str(vectors().check(right))
    result = vectors().check(MAXIMUM % "x > y ? x : y")
    assert "the description gives nan" in str(result) and "with infinities and NaN" in str(result)


def test_a_register_that_nothing_sets_is_named() -> None:
    with pytest.raises(MachineError, match=r"no instruction of .* sets mode.on, which add needs"):
        vectors(needs=True).check(MAXIMUM % "x")


def test_a_machine_without_c_is_named() -> None:
    with pytest.raises(BuildError, match="has no C; fix: check"):
        vectors().check()


def test_a_function_that_is_declared_only_is_named() -> None:
    with pytest.raises(BuildError, match=r"cannot be loaded: .*start_zero"):
        systolic().check(
            "void start_zero(int);\n"
            + HEADER.replace("void zero(int32_t to) {", "void zero(int32_t to) { start_zero(to);")
        )


def test_an_error_of_python_is_not_told_as_a_crash_of_the_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise AttributeError("no such attribute")

    monkeypatch.setattr("tir_mlir.accel.checks.check_instructions._InstructionComparison.difference", stop)
    with pytest.raises(InternalError, match=r"the check, not the C, .*AttributeError: no such attribute"):
        systolic().check()


STEPS = """static int MEM[64][8], reg;
static void set_mode(int mode) { reg = mode < 4 || mode > 12 || mode % 4 ? 99 : 1; }
static void fill(int to, int rows) { if (rows < 8 || rows > 32 || rows % 8) rows = 64;
  for (int i = 0; i < rows; ++i) for (int j = 0; j < 8; ++j) MEM[to + i][j] = reg; }
"""


def test_numbers_are_those_that_an_operand_takes() -> None:
    machine = accel.Machine("steps", header=STEPS)
    mem, unit = machine.memory("mem", rows=64, row=(8, "int32")), machine.unit("unit")
    machine.wait(unit, call="unit_wait({left})", most=1)
    modes = machine.state("modes", mode="int32")

    @machine.instruction(unit, sets=modes, call="set_mode({mode})")
    def set_mode(mode: between(4, 12, 4)): ...

    @machine.instruction(unit, call="fill({C.row}, {rows})")
    def fill(C: mem, rows: between(8, 32, 8)):
        for i, j in T.grid(rows, 8):
            C[i, j] = 1

    result = machine.check("static void unit_wait(int left) {}\n" + STEPS)
    assert result, str(result)
    assert "wait_unit: waits for unit, not called" in str(result)


SCALED = """static int MEM[64][8], count;
static void set_m(int m) { count = m; }
static void zero(int to) { for (int i = 0; i < count * 8; ++i) for (int j = 0; j < 8; ++j) MEM[to + i][j] = 0; }
"""


def scaled(assumption: str) -> accel.Machine:
    """A machine with a register that holds eighths of rows."""
    machine = accel.Machine("scaled", header=SCALED)
    mem, unit = machine.memory("mem", rows=64, row=(8, "int32")), machine.unit("unit")
    csr = machine.state("csr", m=between(8, 32, 8))

    @machine.instruction(unit, sets=csr, call="set_m({m} / 8)")
    def set_m(m: between(8, 32, 8)): ...

    if assumption == "plain":

        @machine.instruction(unit, call="zero({C.row})")
        def zero(C: mem, rows: between(8, 32, 8)):
            T.assume(rows == csr.m)
            for i, j in T.grid(rows, 8):
                C[i, j] = 0
    elif assumption == "field":

        @machine.instruction(unit, call="zero({C.row})")
        def zero(C: mem, rows: between(8, 32, 8)):
            T.assume(rows == csr.m * 8)
            for i, j in T.grid(rows, 8):
                C[i, j] = 0
    else:

        @machine.instruction(unit, call="zero({C.row})")
        def zero(C: mem, rows: between(8, 32, 8)):
            T.assume(rows // 8 == csr.m)
            for i, j in T.grid(rows, 8):
                C[i, j] = 0

    return machine


def test_a_call_computes_what_a_register_holds() -> None:
    result = scaled("plain").check()
    assert result, str(result)


@pytest.mark.parametrize("side", ["field", "number"])
def test_arithmetic_beside_a_field_is_refused_with_what_may_be_written(side: str) -> None:
    with pytest.raises(ScriptError, match=r'alone is on one side of ==, .* fix: .* call="set_rows\({rows} / 8\)"'):
        scaled(side)
