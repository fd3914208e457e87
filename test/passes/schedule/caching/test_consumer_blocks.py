"""cache_read and cache_write with a list of consumers: the blocks that are no readers, and the writer itself."""

import warnings

import pytest
from harness.schedules import block_order
from programs.parsed import parse
from programs.short import each, main, program
from programs.stages import FORK, Fork

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleWarning

Total = program(
    "A:8 D:8 E:8; B:8",
    each("B i:8 k:4R", "T.reads(B[vi], A[vi])", "T.writes(B[vi])", "B[vi] = B[vi] + A[vi]", init="B[vi] = 0.0"),
    each("D", "D[vi] = B[7 - vi]"),
    each("E", "E[vi] = B[vi]"),
)
"""A running total in one element, which D reads."""
TOTAL = [((8,), "float32")] * 3


def test_cache_read_passes_over_non_readers(same_result):
    sch = Schedule(Fork)
    with pytest.warns(ScheduleWarning, match='block "D" does not read B in the same scope'):
        sch.cache_read("C", "B", "shared", consumer_blocks=["D", "C"])
    assert block_order(sch) == ["B", "D", "B_shared", "C"]
    assert "D[vi, vj] = A[vi, vj]" in sch.mod.script()
    same_result(sch, Fork, *FORK)


def test_cache_read_for_no_reader_copies_after_the_writer(same_result):
    sch = Schedule(Fork)
    with pytest.warns(ScheduleWarning, match="does not read B"):
        sch.cache_read("C", "B", "shared", consumer_blocks=["D"])
    assert block_order(sch) == ["B", "B_shared", "D", "C"]
    assert "C[vi, vj] = B[vi, vj] + A" in sch.mod.script()
    same_result(sch, Fork, *FORK)


def test_cache_read_of_an_input_for_no_reader(same_result):
    sch = Schedule(Total)
    with pytest.warns(ScheduleWarning, match="does not read A"):
        sch.cache_read("B", "A", "shared", consumer_blocks=["D"])
    assert block_order(sch) == ["A_shared", "B", "D", "E"]
    same_result(sch, Total, *TOTAL)


def test_cache_write_passes_over_non_readers(same_result):
    sch = Schedule(Fork)
    with pytest.warns(ScheduleWarning, match='block "D" does not read B'):
        sch.cache_write("B", 0, "shared", consumer_blocks=["D"])
    assert block_order(sch) == ["B", "D", "B_shared", "C"]
    same_result(sch, Fork, *FORK)


def test_the_warning_is_at_the_line_of_the_user():
    sch = Schedule(Fork)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sch.cache_read("C", "B", "shared", consumer_blocks=["D", "C"])
    assert [w.filename for w in caught] == [__file__]


def test_a_warning_turned_into_an_error_leaves_the_schedule_unchanged():
    sch = Schedule(Fork)
    before = sch.mod.text()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)
        with pytest.raises(ScheduleWarning):
            sch.cache_read("C", "B", "shared", consumer_blocks=["D", "C"])
    assert sch.mod.text() == before and len(sch.trace) == 0


def test_a_query_does_not_warn():
    sch = Schedule(Fork)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)
        assert sch.can_cache_read("C", "B", "shared", consumer_blocks=["D", "C"])


def test_cache_read_for_another_reader_of_an_accumulator(same_result):
    sch = Schedule(Total)
    sch.cache_read("B", "B", "shared", consumer_blocks=["D"])
    assert block_order(sch) == ["B", "B_shared", "D", "E"]
    assert "D[vi] = B_shared[7 - vi]" in sch.mod.script() and "E[vi] = B[vi]" in sch.mod.script()
    same_result(sch, Total, *TOTAL)
    assert sch.verify()


def test_cache_read_of_an_accumulator_leaves_its_block(same_result):
    sch = Schedule(Total)
    with pytest.warns(ScheduleWarning, match='block "B" writes B itself .* only the other readers use the copy'):
        sch.cache_read("B", "B", "shared")
    assert "B[vi] = B[vi] + A[vi]" in sch.mod.script() and "E[vi] = B_shared[vi]" in sch.mod.script()
    same_result(sch, Total, *TOTAL)


def test_refuses_an_accumulator_that_no_other_block_reads(refused):
    sch = Schedule(Total)
    with pytest.warns(ScheduleWarning):
        refused(sch, "must see its own writes", lambda: sch.cache_read("B", "B", "shared", consumer_blocks=["B"]))


IN_PLACE = main("X:16 B:16", each("B:16", "B[vi] = X[15 - vi] * 2.0"), each("U:16", "X[vi] = X[vi] + 5.0"))


def test_a_later_write_in_place_is_listed_as_well(same_result):
    program = parse(IN_PLACE)
    sch = Schedule(program)
    with pytest.warns(ScheduleWarning, match='block "U" writes X in the same scope, so it is not redirected'):
        sch.cache_read("B", 0, "shared", consumer_blocks=["B", "U"])
    assert "X[vi] = X[vi] + T.float32(5.0)" in sch.mod.script()
    same_result(sch, program, ((16,), "float32"), ((16,), "float32"))
    assert sch.verify()


def test_readers_on_both_sides_of_a_write_are_refused(refused):
    sch = Schedule(parse(IN_PLACE))
    refused(sch, 'block "B" reads X before block "U" writes it', lambda: sch.cache_read("B", 0, "shared"))
