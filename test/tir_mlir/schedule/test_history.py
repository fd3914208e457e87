"""history, show(diff=True), undo."""

from __future__ import annotations

import pytest
from programs.matmul import matmul

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.testing import verify_trace_roundtrip

MATMUL = matmul(8, 8, 8)


def scheduled() -> Schedule:
    sch = Schedule(MATMUL, seed=3)
    i, j, _ = sch.get_loops("C")
    sch.split(j, [None, 4])
    sch.parallel(i)
    return sch


def test_entries():
    sch = scheduled()
    assert [e.call for e in sch.history] == [
        "get_block(name='C', func_name='main')",
        "get_loops(block='C')",
        "split(loop=j, factors=[None, 4])",
        "parallel(loop=i)",
    ]
    split = sch.history[2]
    assert split.number == 3 and split.ms > 0 and split.changed and not sch.history[0].changed
    assert (
        split.source.endswith(f":{scheduled.__code__.co_firstlineno + 3}") and split.line == "sch.split(j, [None, 4])"
    )
    assert "j_0" in split.mod.script() and "T.parallel" not in split.mod.script()
    assert "+        for i, j_0, j_1, k in T.grid(8, 2, 4, 8):" in split.diff()


def test_decisions_are_kept():
    sch = Schedule(MATMUL, seed=3)
    sch.sample_perfect_tile(sch.get_loops("C")[0], 2, decision=[2, 4])
    assert sch.history[-1].decision == [2, 4] and not sch.history[-1].changed
    assert " = [2, 4]" in str(sch.history)


def test_a_refused_step_is_not_in_it():
    sch = Schedule(MATMUL)
    with pytest.raises(ScheduleError):
        sch.set_scope("C", 7, "shared")  # the lookup of the name goes with it
    assert len(sch.history) == len(sch.trace) == 0


def test_show_diff(capsys):
    sch = Schedule(MATMUL)
    sch.show(diff=True)
    assert capsys.readouterr().out == "no step has changed the program yet\n"
    sch.parallel(sch.get_loops("C")[0])
    sch.get_loops("C")
    sch.show(diff=True)
    out = capsys.readouterr().out
    assert out.startswith("--- before step 3\n+++ after step 3\n") and "+        for i in T.parallel(8):" in out
    assert "\x1b" not in out and "\x1b[32m+" in sch.history[2].diff().terminal()


def test_in_a_notebook():
    sch = scheduled()
    table = sch.history._repr_html_()
    assert table.count("<tr>") == 5 and table.count("<details>") == 2 and "j_1" in table
    assert "<pre" in sch.history[2]._repr_html_()


def test_undo_takes_back_everything():
    sch = scheduled()
    before, state = sch.history[1].mod.script(), sch.executor.random.state
    sch.get_loops("C")
    sch.undo(2)
    assert sch.mod.script() == before and len(sch.trace) == len(sch.history) == 2 and sch.executor.random.state == state
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i, j)
    verify_trace_roundtrip(sch, MATMUL)


def test_handles_given_before_live_again():
    sch = Schedule(MATMUL)
    i, j, _k = sch.get_loops("C")
    outer, inner = sch.split(j, [None, 4])
    with pytest.raises(ValueError, match=r"consumed loop j.* and returned loop j_0.*, loop j_1"):
        sch.get(j)
    sch.undo()
    assert sch.get(j).extent == 8
    fused = sch.fuse(i, j)  # takes ids that the undone step had
    for handle in (outer, inner):
        with pytest.raises(
            ValueError, match=r"gone: step 3, split\(loop=j, factors=\[None, 4\]\), which returned it, was undone"
        ):
            sch.parallel(handle)
    assert sch.get(fused).extent == 64


def test_undo_of_a_step_that_looked_a_name_up():
    sch = Schedule(MATMUL)
    loops = sch.get_loops("C")
    sch.decompose_reduction("C", loops[2])
    sch.undo()
    assert len(sch.trace) == 2 and "C_init" not in sch.mod.script()
    sch.decompose_reduction("C", loops[2])


def test_undo_gives_the_random_numbers_back():
    sch = Schedule(MATMUL, seed=5)
    loop = sch.get_loops("C")[0]
    chosen = []
    for _ in range(2):
        tiles = sch.sample_perfect_tile(loop, 3, max_innermost_factor=8)
        chosen.append([sch.get(t) for t in tiles])
        sch.split(loop, tiles)
        sch.sample_categorical([1, 2], [0.5, 0.5])
        sch.undo()
        assert len(sch.history) == 3 + len(chosen) - 1
    assert len(sch.history) == 4


def test_undo_of_too_much():
    with pytest.raises(ValueError, match="undo can undo from 0 to 2 steps, not 3"):
        scheduled().undo(3)


def test_a_copy_is_independent():
    sch = scheduled()
    other = sch.copy()
    other.undo()
    assert len(sch.history) == 4 and len(other.history) == 3
    assert "T.parallel" in sch.mod.script() and "T.parallel" not in other.mod.script()
