"""write_in_place: a block writes over what it reads, unless something would see that."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError

FIRST = each("B:6", "b[vi] = A[vi] + 1.0")
LAST = each("D:6", "D[vi] = c[vi]")


def three(second: str, *more: str) -> Schedule:
    """A block that reads b and writes c, between one that writes b and one that reads c."""
    return Schedule(parse(main("A:6 D:6 E:6 b:6 c:6", FIRST, second, LAST, *more)))


def test_readers_take_the_buffer_that_is_overwritten():
    sch = three(each("C:6", "c[vi] = b[vi] * 2.0"), each("E:6", "E[vi] = 0.0"))
    sch.write_in_place("C", "b")
    text = sch.mod.script()
    assert "b[vi] = b[vi] * T.float32(2.0)" in text and "D[vi] = b[vi]" in text and "c = " not in text
    assert sch.verify()


def test_a_block_in_loops_of_another_one():
    sch = three(each("C:6", "c[vi] = b[vi] * 2.0"), each("E:6", "E[vi] = 0.0"))
    outer, _ = sch.split(sch.get_loops("C")[0], [3, 2])
    sch.compute_at("B", outer)
    sch.write_in_place("C", "b")
    assert sch.verify()


REFUSED = {
    "another index": (each("C:6", "c[vi] = b[5 - vi]"), [], "reads b at another index than it writes c at"),
    "a later reader": (
        each("C:6", "c[vi] = b[vi] * 2.0"),
        [each("E:6", "E[vi] = b[vi]")],
        'an element of b is read after block "C" has read it, which would overwrite it',
    ),
    "other types": (each("C:6", "c[vi] = A[vi] * 2.0"), [], "A is a parameter, whose memory belongs to the caller"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_see_it_is_refused(name):
    second, more, reason = REFUSED[name]
    sch = three(second, *more)
    with pytest.raises(ScheduleError, match=reason):
        sch.write_in_place("C", 0)
