"""What a user sees of the time and the memories of a machine's program."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from programs.systolic import schedule_product, systolic

from tir_mlir import accel, build


@pytest.fixture(scope="module")
def main() -> accel.MachineFunction:
    machine = systolic()
    return build(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), target=machine).main


def test_the_busiest_part_is_the_limit(main: accel.MachineFunction) -> None:
    roofline = main.roofline
    assert (roofline.limit, roofline.bound) == ("execute", main.timeline.busy["execute"])
    assert roofline.parts["the issue of instructions"] == sum(main.timeline.issued.values())
    assert roofline.utilization == pytest.approx(main.timeline.utilization("execute"))
    assert str(roofline).startswith("84.8 % of the limit: 2304 of 2717 cycles, by execute\n")


def test_the_issue_of_instructions_can_be_the_limit() -> None:
    machine = systolic()
    machine.dispatch = 40
    made = build(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), target=machine).main
    assert made.roofline.limit == "the issue of instructions"
    assert made.roofline.utilization > 0.95


def test_a_timeline_has_a_lane_for_each_unit(main: accel.MachineFunction) -> None:
    lines = main.timeline.show(0, 400, width=40).split("\n")
    assert [line.split("|")[0].strip() for line in lines[1:]] == ["load", "execute", "store"]
    assert {len(line.split("|")[1]) for line in lines[1:]} == {40}


def test_characters_say_how_busy_a_unit_is(main: accel.MachineFunction) -> None:
    cells = "".join(line.split("|")[1] for line in main.timeline.show(width=main.cycles).split("\n")[1:])
    assert cells.count("#") == sum(main.timeline.busy.values())  # a character a cycle


def test_a_picture_has_each_instruction(main: accel.MachineFunction) -> None:
    picture = main.timeline.plot(0, 300)
    texts = [e.text or "" for e in ElementTree.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}title")]
    starts = main.timeline.times.start
    lasting = (starts < 300) & (starts + main.timeline.times.busy > 0) & (main.timeline.times.busy > 0)
    assert len(texts) == 1 + int(lasting.sum())
    assert any(t.startswith("mvin at i_0_0 = 0, j_0_0 = 0, r_0_0 = 0") for t in texts)


@pytest.mark.parametrize(("first", "end"), [(-1, 5), (5, 5), (2717, 10**9)])
def test_cycles_that_there_are_not_are_refused(main: accel.MachineFunction, first: int, end: int) -> None:
    with pytest.raises(ValueError, match="a timeline of 2717 cycles has none from"):
        main.timeline.plot(first, end)


def test_a_range_ends_at_the_last_cycle(main: accel.MachineFunction) -> None:
    assert main.timeline.show(100, 10**9) == main.timeline.show(100)


def test_memory_is_shown_by_rows_and_time() -> None:
    machine = systolic()
    chart = accel.show_memory(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), machine)
    lines = str(chart).split("\n")
    assert lines[0] == "sp: 256 of 1024 rows at once"
    assert any("S_global_acc |" in line and "0 .. 63" in line for line in lines)
    texts = [e.text or "" for e in ElementTree.fromstring(chart.plot().svg).iter("{http://www.w3.org/2000/svg}title")]
    assert any("A_global_sp: rows 128 to 255" in t for t in texts)
