"""A reduction may be reordered only if its partial results are not observed."""

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError

SUMS = main("A:16 C:1 D:1", each("C k:16R", "x: T.let[T.float32] = {value}", "C[0] = {sum}", "D[0] = D[0] + {seen}"))


@pytest.mark.parametrize(("value", "total", "seen"), [("C[0] + A[vk]", "x", "x"), ("C[0]", "x + A[vk]", "x")])
def test_a_sum_of_running_sums_keeps_its_order(value, total, seen):
    sch = Schedule(parse(SUMS.format(value=value, sum=total, seen=seen)))
    k_0, k_1 = sch.split(sch.get_loops("C")[0], factors=[4, 4])
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="a dependence would run backwards"):
        sch.reorder(k_1, k_0)
    assert sch.mod.script() == before


def test_two_sums_side_by_side_are_free():
    sch = Schedule(parse(SUMS.format(value="A[vk] * A[vk]", sum="C[0] + A[vk]", seen="x")))
    k_0, k_1 = sch.split(sch.get_loops("C")[0], factors=[4, 4])
    sch.reorder(k_1, k_0)
    assert [sch.get(loop).name for loop in sch.get_loops("C")] == ["k_1", "k_0"]
