"""Versions of a program: those that steps have left behind come back as they were, and are not edited before."""

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from mlir import ir

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.incremental import versions
from tir_mlir.dialect.ir import memo
from tir_mlir.dialect.ir.context import context
from tir_mlir.schedule.executor import Executor
from tir_mlir.script import parse

BLOCKS = 40


def chain(count: int = BLOCKS) -> Schedule:
    """A schedule of B = A + count, one nest for each addition."""
    buffers = ["A", *(f"X{n}" for n in range(count - 1)), "B"]
    lines = ["@T.prim_func", "def main(a: T.handle, b: T.handle):", "    n = T.int32()"]
    lines += ['    A = T.match_buffer(a, (n, 64), "float32")', '    B = T.match_buffer(b, (n, 64), "float32")']
    lines += [f'    {name} = T.alloc_buffer((n, 64), "float32")' for name in buffers[1:-1]]
    for number in range(count):
        lines += [
            "    for i, j in T.grid(n, 64):",
            f'        with T.block("b{number}"):',
            '            vi, vj = T.axis.remap("SS", [i, j])',
            f"            {buffers[number + 1]}[vi, vj] = {buffers[number]}[vi, vj] + 1.0",
        ]
    return Schedule(parse("\n".join(lines)))


def steps(sch: Schedule, number: int) -> None:
    """Steps on one block, its buffer and its neighbours: loops, buffers and ops at the top change, nests merge."""
    name = f"b{number}"
    i, j = sch.get_loops(name)
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(j_0, i)
    sch.vectorize(j_1)
    sch.cache_read(name, 0, "local")
    sch.set_scope(name, 0, "shared")
    sch.transform_layout(name, ("write", 0), lambda x, y: (y, x))
    sch.compute_inline(f"b{number + 4}")
    sch.compute_at(sch.get_block(name), sch.get_loops(f"b{number + 1}")[0])


def texts(sch: Schedule) -> list[str]:
    return [str(e.after) for e in sch.history]


def unmade(sch: Schedule) -> int:
    """The number of versions without a module."""
    return len({v for e in sch.history for v in e.versions if v.is_moved})


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch):
    """Run something with a copy of the whole module for each step."""

    def run(function):
        with monkeypatch.context() as patch:
            patch.setattr(versions, "active_cache", dict)  # as if the module were read
            return function()

    return run


def stepped(sch: Schedule | None = None) -> Schedule:
    sch = sch or chain()
    for number in (0, 10, 20):
        steps(sch, number)
    return sch


@pytest.mark.nightly
def test_the_history_is_as_with_copies(copied):
    sch, other = stepped(), copied(stepped)
    assert unmade(sch) > 15 and unmade(other) == 0
    assert texts(sch) == texts(other)
    assert unmade(sch) == 0
    for entry in sch.history:
        assert entry.after.operation.verify()


def test_steps_copy_no_module(monkeypatch):
    count = []
    monkeypatch.setattr(Executor, "audit", None)
    monkeypatch.setattr(versions, "clone_module", lambda m, clone=versions.clone_module: (count.append(1), clone(m))[1])
    sch = chain()
    for number in range(0, BLOCKS, 2):
        sch.unroll(sch.get_loops(f"b{number}")[1])
    assert not count


@pytest.mark.nightly
def test_steps_can_be_undone_and_repeated(copied):
    expected = texts(copied(stepped))
    sch, first = stepped(), chain().mod.text()
    while any(e.changed for e in sch.history):
        at = len(sch.history)
        assert str(sch.executor.module) == expected[at - 1]
        sch.undo()
    assert sch.mod.text() == first
    assert texts(stepped(sch))[-len(expected) :] == expected


@pytest.mark.nightly
def test_what_a_user_has_is_not_edited():
    sch = chain()
    mods = [(sch.mod, sch.mod.text())]
    for number in range(0, BLOCKS, 4):
        sch.unroll(sch.get_loops(f"b{number}")[1])
        mods.append((sch.mod, sch.mod.text()))
    op = sch.mod.mlir.body.operations[0].operation.regions[0].blocks[0].operations[BLOCKS + 2].operation
    text = str(op)
    for number in range(1, BLOCKS, 4):
        sch.unroll(sch.get_loops(f"b{number}")[1])
    gc.collect()
    assert str(op) == text
    assert all(mod.text() == text for mod, text in mods)


@pytest.mark.nightly
def test_copies_of_a_schedule_are_independent(copied):
    expected = texts(copied(stepped))
    sch = chain()
    steps(sch, 0)
    other = sch.copy()
    for one in (sch, other):
        steps(one, 10)
        steps(one, 20)
    assert texts(sch) == texts(other) == expected


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["_copy_op", "read_nest", "_set_attributes"])
def test_refused_and_interrupted_steps_leave_the_program(name, monkeypatch, copied):
    sch = chain()
    for number in (0, 10, 20):
        text, loops = str(sch.executor.module), sch.get_loops(f"b{number}")
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(versions, name, _interrupted)
            sch.reorder(*loops, loops[0]) if name == "_set_attributes" else sch.unroll(loops[0])
        with pytest.raises(ScheduleError):
            sch.reorder(*loops, sch.get_loops(f"b{number + 1}")[0])
        assert str(sch.executor.module) == text
        steps(sch, number)
    changed = [[str(e.after) for e in one.history if e.changed] for one in (sch, copied(stepped))]
    assert changed[0] == changed[1]


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_step_that_is_refused_before_an_edit_leaves_the_module_itself():
    sch = chain()
    sch.unroll(sch.get_loops("b0")[1])
    live, loops = sch.executor.version.live, sch.get_loops("b1")
    with pytest.raises(ScheduleError):
        sch.reorder(loops[0], loops[0])
    assert sch.executor.version.live is live


@pytest.mark.parametrize("step", ["split", "compute_inline", "cache_read"])
def test_a_version_is_made_again_of_nests_half_edited(step, monkeypatch):
    sch = chain()
    block, loops = sch.get_block("b3"), sch.get_loops("b3")
    arguments = {"split": (loops[1], [None, 7]), "compute_inline": (block,), "cache_read": (block, 0, "local")}[step]
    text = str(sch.executor.module)
    for moment in range(1, 30, 3):
        with monkeypatch.context() as patch:
            patch.setattr(memo, "open_journal", countdown := _Countdown(moment, memo.open_journal))
            with suppress(KeyboardInterrupt):
                getattr(sch, step)(*arguments)
        if countdown.left > 0:
            break
        assert str(sch.executor.module) == text
    else:
        getattr(sch, step)(*arguments)
    assert str(sch.executor.module) != text


class _Countdown:
    """Ctrl-C after some calls of a function."""

    def __init__(self, left: int, function: Callable[[], Any]) -> None:
        self.left, self.function = left, function

    def __call__(self) -> Any:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        return self.function()


def test_an_interrupt_of_a_copy_leaves_no_uses(monkeypatch):
    with context(), ir.Location.unknown():
        source = "func.func @f(%a: f32) {\n  %b = arith.addf %a, %a : f32\n  return\n}"
        module, other = (ir.Module.parse(source) for _ in range(2))
        (body, into), text = (m.body.operations[0].regions[0].blocks[0] for m in (module, other)), str(other)
        with pytest.raises(KeyboardInterrupt):
            versions._copy_op(body.operations[0].operation, body, ir.InsertionPoint(into.operations[0]), _interrupted)
        assert str(other) == text and len(list(body.arguments[0].uses)) == 2
