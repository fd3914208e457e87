"""`Machine.check`: the C of instructions against their descriptions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs.systolic import HEADER, systolic

from tir_mlir import accel
from tir_mlir.errors import BuildError, MachineError
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
