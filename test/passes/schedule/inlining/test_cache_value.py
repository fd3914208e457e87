"""cache_value: a part of what a block stores, computed in a block of its own; every refusal."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, program, total

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script.structural_equal import difference

CLAMP = main("A:5x7:int8 B:5x7:int8", each("B:5x7", "B[vi, vj] = T.max(A[vi, vj] + T.int8(3), T.int8(0))"))


def test_a_part_has_a_block_and_a_buffer():
    sch = Schedule(program("A:5x7 B:5x7", each("B:5x7", "B[vi, vj] = T.max(A[vi, vj] * 2.0, 0.0)")))
    made = sch.cache_value("B", [0], "global")
    expected = program(
        "A:5x7 B:5x7 b:5x7",
        each("P:5x7", "b[vi, vj] = A[vi, vj] * 2.0"),
        each("B:5x7", "B[vi, vj] = T.max(b[vi, vj], 0.0)"),
    )
    assert difference(sch.mod.mlir, expected.mlir, names=False) is None
    assert sch.get(made).name == "B_part"


@pytest.mark.parametrize("path", [[], [0], [0, 0]])
def test_each_part_keeps_the_values(path):
    sch = Schedule(parse(CLAMP))
    sch.cache_value(sch.cache_value("B", [], "shared"), path, "local")
    assert sch.verify()


def test_what_else_reads_an_element_keeps_it():
    sch = Schedule(parse(main("A:6 B:6", each("B:6", "B[vi] = T.max(A[vi] * A[vi], 0.5) + A[vi]"))))
    sch.cache_value("B", [0, 0], "local")
    assert sch.verify()
    assert "B[vi] = T.max(B_part[vi], T.float32(0.5)) + A[vi]" in sch.mod.script()


REFUSED = {
    "no operands": (CLAMP, [0, 0, 0], r"the part at \[0, 0\] .* has no operands"),
    "no such operand": (CLAMP, [2], r"is arith\.maxsi, with operands 0 to 1; 2 is none of them"),
    "a constant": (CLAMP, [1], r"the part at \[1\] .* is not computed in its body: only elements and operations are"),
    "a sum": (main("A:8x4 C:8", total()), [], "has an init: a reduction"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_part_is_refused(name):
    text, path, reason = REFUSED[name]
    with pytest.raises(ScheduleError, match=reason):
        Schedule(parse(text)).cache_value("B" if "B[" in text else "C", path, "local")
