"""Representations of schedules, handles, traces, timings and errors in a console and a notebook."""

import gc

import pytest

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError, ScheduleError, ScriptError
from tir_mlir.script.module import IRModule


def test_handles_print_their_loop_or_block(programs):
    sch = Schedule(programs["matmul"])
    block = sch.get_block("C")
    i, _j, _k = sch.get_loops(block)
    assert repr(block) == "Block 'C' (vi: S 0..64, vj: S 0..64, vk: R 0..64) of main"
    assert repr([i]) == "[Loop 'i' (0..64) of main]" and repr(sch.get_block("root")) == "Block 'root' of main"
    i_0, i_1 = sch.split(i, [None, 16])
    sch.parallel(i_0)
    assert repr(i_0) == "Loop 'i_0' (0..4, parallel) of main"
    step = "step 4, split(loop=i, factors=[None, 16])"  # each look-up was a step
    assert repr(i) == f"Loop (dead: {step}, consumed loop i and returned loop i_0, loop i_1)"
    sch.undo(2)
    assert repr(i_1) == f"Loop (dead: {step}, which returned it, was undone)"
    assert repr(i) == "Loop 'i' (0..64) of main"


def test_integers_sizes_and_marks(programs):
    sch = Schedule(programs["scaled"], seed=1)
    i, j = sch.get_loops("B")
    assert repr(i) == "Loop 'i' (0..n) of main"
    assert [repr(t) for t in sch.sample_perfect_tile(j, 2, decision=[4, 16])] == ["Integer 4", "Integer 16"]
    place = sch.sample_compute_location(sch.cache_read("B", 0, "local"), decision=-1)
    assert repr(place) == "Loop (none: sample_compute_location chose root)"


@pytest.mark.nightly
def test_handles_of_copies_and_of_a_deleted_schedule(programs):
    sch = Schedule(programs["matmul"])
    i = sch.get_loops("C")[0]
    copy = sch.copy()
    copy.unroll(i)
    assert repr(i) == "Loop 'i' (0..64) of main"  # as in the oldest
    del sch
    gc.collect()
    assert repr(i) == "Loop 'i' (0..64, unrolled) of main"
    del copy
    gc.collect()
    assert repr(i) == f"Loop {i.id} (its schedule is gone)"


def test_a_schedule(tiled):
    assert repr(tiled) == "Schedule(main: C blocks; 5 steps changed the program)"
    shown = tiled._repr_html_()
    assert "T.parallel" in shown and "5 steps changed the program" in shown


def test_modules_and_traces(tiled, parse):
    assert "T.parallel" in tiled.mod._repr_html_() and "split" in tiled.trace._repr_html_()
    lowered = parse("""func.func @main(%a: memref<4xf32>) {
      scf.execute_region { scf.yield }
      return
    }""")
    assert "scf.execute_region" in IRModule(lowered)._repr_html_()  # it has no TVMScript form


def test_timings(programs):
    lib = build(programs["matmul"], cache=False)
    shown = lib.timing._repr_html_()
    assert shown.count("<tr>") == len(lib.timing) + 1 and "compiled" in shown and ">lower<" in shown


def test_refusals_in_a_notebook(programs):
    """In IPython's own shell: the traceback is the refusal, and what is in it of files is the user's."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns |= {"matmul": programs["matmul"], "Schedule": Schedule}
    done = shell.run_cell("sch = Schedule(matmul)\ni, j, k = sch.get_loops('C')\nsch.parallel(k)")
    error = done.error_in_exec
    assert isinstance(error, ScheduleError)
    lines = error._render_traceback_()
    text = "\n".join(lines)
    assert "refused" in text and "sch.parallel(k)" in text and "\x1b[" in text
    assert "stepping.py" not in text and "interactiveshell.py" not in text
    assert "<pre" in error._repr_html_()


def test_other_errors_in_a_notebook():
    """Where the text does not name the user's line, the lines of the user's own frames come before it."""
    with pytest.raises(BuildError) as raised:
        build("nothing at all")
    lines = raised.value._render_traceback_()
    assert any('build("nothing at all")' in line for line in lines) and not any("build.py" in line for line in lines)
    with pytest.raises(ScriptError) as refused:
        IRModule.from_mlir("func.func @f(")
    assert not any("load.py" in line for line in refused.value._render_traceback_())
