"""What tools/fuzz.py found wrong, each as the smallest program that shows it."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.script.parser import parse

NEVER = """
@T.prim_func
def main(A: T.Buffer((1, 1), "int8"), B: T.Buffer((1, 1), "int8")):
    for i in range(1):
        for j in range(1):
            with T.block("low"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
    for i in range(1):
        for j in range(1 - 1 - i):
            with T.block("high"):
                vi = T.axis.spatial(1, i)
                vj = T.axis.spatial(1, i + 1 + j)
                B[vi, vj] = T.int8(2)
"""


@pytest.mark.parametrize("what", ["blocks", "loop"])
def test_a_loop_that_never_runs_has_no_tile(what):
    sch = Schedule(parse(NEVER))
    low, high = sch.get_block("low"), sch.get_block("high")
    with pytest.raises(ScheduleError, match="a loop around block high never runs: iter v[ij] takes no value there"):
        sch.blockize([low, high] if what == "blocks" else sch.get_loops(high)[0])
