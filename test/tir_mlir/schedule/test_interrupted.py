"""Ctrl-C in a step, wherever it comes: the schedule is as it was, and goes on."""

import sys
from random import Random

import pytest
from mlir import ir

from tir_mlir import Schedule
from tir_mlir.dialect.incremental import StepJournal, Version
from tir_mlir.dialect.incremental.versions import LiveModule
from tir_mlir.dialect.ir import enter_context, memo, visit
from tir_mlir.examples import matmul as chapter
from tir_mlir.passes.schedule.legality import every_step
from tir_mlir.schedule import executor
from tir_mlir.schedule.handle_table import DeadHandles
from tir_mlir.schedule.history import HistoryEntry

MOMENTS = {
    "in the rules": (executor, "verify"),
    "in the race check": (every_step.dependences, "loop_carried_conflict"),
    "while dead handles are recorded": (DeadHandles, "record"),
    "before the trace knows": (executor.Executor, "_record"),
    "before the history knows": (HistoryEntry, "__init__"),
}


def stop(*_, **__):
    raise KeyboardInterrupt


def begun():
    sch = Schedule(chapter.matmul(16, 16, 16))
    y, x, _ = sch.get_loops("matmul")
    sch.parallel(y)
    return sch, x


def state(sch):
    """For a schedule whose module nobody asked for, or steps would edit a copy of that."""
    return sch.mod.text(), [str(i) for i in sch.trace.insts], len(sch.history)


@pytest.mark.parametrize(("place", "name"), MOMENTS.values(), ids=MOMENTS.keys())
def test_an_interrupted_step_did_not_happen(monkeypatch, place, name):
    sch, x = begun()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(place, name, stop)
        sch.split(x, [None, 4])
    assert state(sch) == state(begun()[0])
    assert sch.get(x).name == "x"
    sch.split(x, [None, 4])
    assert sch.verify()


def test_a_step_interrupted_when_its_version_is_known_did_not_happen(monkeypatch):
    """Between the verification of a step and its record in the trace."""
    (sch, x), known = begun(), Version.record
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Version, "record", lambda *arguments: known(*arguments) or stop())
        sch.split(x, [None, 4])
    assert state(sch) == state(begun()[0])


def test_an_interrupt_while_a_version_is_made_again(monkeypatch):
    """Undo makes it, with what a step created still there. MLIR would abort if that outlived its module."""
    sch, x = begun()
    sch.split(x, [None, 4])
    sch.undo()
    with monkeypatch.context() as patch:
        patch.setattr(LiveModule, "__init__", stop)
        with pytest.raises(KeyboardInterrupt):
            sch.mod.text()
    assert state(sch) == state(begun()[0])


def test_an_interrupt_before_the_users_of_an_edited_buffer_are_saved():
    class Interrupted(StepJournal):
        add_users = stop

    sch = Schedule(chapter.matmul(8, 8, 8))
    sch.cache_write("matmul", 0, "local")
    with enter_context():
        version = Version(ir.Module.parse(str(sch.mod.mlir)), True)
        before, later = str(version.module), version.begin()
        assert version.is_moved
        with pytest.raises(KeyboardInterrupt), Interrupted(later, version) as journal:
            journal.add(later.live.tops[0][0])
        version.take_back(later)
        assert str(version.module) == before


class Moment:
    """Ctrl-C at the nth call or return of ours or of contextlib, where Python looks for signals."""

    def __init__(self, number):
        self.left = number

    def __call__(self, frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("tir_mlir.") and module != "contextlib":
            return None
        frame.f_trace_lines = False
        if event in ("call", "return"):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
        return self


def interrupted(work, number):
    """Do the work up to its nth moment; how many were left."""
    before, moment = sys.gettrace(), Moment(number)
    sys.settrace(moment)
    try:
        work()
    finally:
        sys.settrace(before)
    return moment.left


def tiled(sch):
    y, x, k = sch.get_loops("matmul")
    yo, yi = sch.split(y, [None, 4])
    sch.reorder(yo, x, yi, k)
    sch.decompose_reduction("matmul", yo)
    return sch


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a generator that is closed
@pytest.mark.parametrize("checked", [None, "each step"], ids=["plain", "verified"])
def test_an_interrupt_at_any_call_or_return(checked, tier):
    """The steps made count, and everything goes on: at once, while the interrupt is handled, and later."""
    program = chapter.matmul(8, 8, 8)
    whole = tiled(Schedule(program, verify=checked)).mod.script()
    moments = 10**9 - interrupted(lambda: tiled(Schedule(program, verify=checked)), 10**9)
    hit, count = 0, moments // 10 if tier == "all" else 30
    for number in Random(7).sample(range(1, moments), count):
        sch = Schedule(program, verify=checked)
        try:
            interrupted(lambda: tiled(sch), number)  # noqa: B023
        except KeyboardInterrupt:
            hit += 1
            again = Schedule(program)
            sch.trace.apply_to_schedule(again)
            assert again.mod.script() == sch.mod.script()
            assert tiled(Schedule(program)).mod.script() == whole
        assert tiled(Schedule(program)).mod.script() == whole
        assert sch.verify()
    assert hit > count * 3 // 5
    assert memo.active_cache() is None and ir.Context.current is None


def test_an_interrupted_walk_is_an_interrupt():
    sch = Schedule(chapter.matmul(16, 16, 16))
    with pytest.raises(KeyboardInterrupt):
        visit(sch.mod.mlir.operation, stop)
