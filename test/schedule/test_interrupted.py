"""Ctrl-C in a step, wherever it comes: the schedule is as it was, and goes on."""

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.visiting import visit
from tir_mlir.examples import matmul as chapter
from tir_mlir.passes.schedule import concurrency
from tir_mlir.schedule import stepping
from tir_mlir.schedule.graves import Graves
from tir_mlir.schedule.history import Entry
from tir_mlir.schedule.trace import Trace

MOMENTS = {
    "in the rules": (stepping, "verify"),
    "in the race check": (concurrency.deps, "carried"),
    "while handles are buried": (Graves, "bury"),
    "before the trace knows": (Trace, "append"),
    "before the history knows": (Entry, "__init__"),
}


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("place, name", MOMENTS.values(), ids=MOMENTS.keys())
def test_an_interrupted_step_did_not_happen(monkeypatch, place, name):
    sch = Schedule(chapter.matmul(16, 16, 16))
    y, x, _ = sch.get_loops("matmul")
    sch.parallel(y)
    before = sch.mod.text(), [str(i) for i in sch.trace.insts], len(sch.history)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(place, name, stop)
        sch.split(x, [None, 4])
    assert (sch.mod.text(), [str(i) for i in sch.trace.insts], len(sch.history)) == before
    assert sch.get(x).name == "x"
    sch.split(x, [None, 4])
    assert sch.verify()


def test_an_interrupted_walk_is_an_interrupt():
    sch = Schedule(chapter.matmul(16, 16, 16))
    with pytest.raises(KeyboardInterrupt):
        visit(sch.mod.mlir.operation, stop)
