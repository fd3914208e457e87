"""Modules, functions, schedules, handles, traces and errors travel between processes; compiled code does not."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tir_mlir import IndexMap, Schedule, TensorIntrin, build
from tir_mlir.dialect.diagnostics import ArgumentError, BuildError, HandleError, ScheduleError, ScriptError, VerifyError
from tir_mlir.runtime.call import fast_entry
from tir_mlir.script import IRModule, parse
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

sys.path.insert(0, str(Path(__file__).parent))
import pickled_work


def there_and_back(value):
    return pickle.loads(pickle.dumps(value))


BOTH = [there_and_back, copy.deepcopy]


@T.prim_func
def matmul(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(16, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@I.ir_module
class Two:
    I.module_attrs({"key": 1})

    @T.prim_func
    def first(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 16), "float32")
        B = T.match_buffer(b, (n, 16), "float32")
        T.assume(n % 4 == 0)
        for i, j in T.grid(n, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(float("inf"))

    @T.prim_func
    def second(A: T.Buffer((8,), "bfloat16")):
        T.func_attr({"tir.noalias": True, "my.note": 'a\n"b"'})
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.bfloat16(1.5)


def stepped() -> Schedule:
    """A schedule with all that a state may hold: samples, formulas, maps, consumed handles, undone steps."""
    sch = Schedule(matmul, seed=7)
    i, j, k = sch.get_loops("C")
    tile = sch.sample_perfect_tile(j, n=2, decision=[4, 4])
    j_0, j_1 = sch.split(j, tile)
    size = sch.sample_categorical([1, 2], [0.5, 0.5])
    sch.split(i, [None, size * 4])
    sch.transform_layout(
        "C", ("read", 1), IndexMap.from_func(lambda x, y: (y, x), inverse_index_map=lambda x, y: (y, x))
    )
    sch.cache_read("C", 0, "local")
    sch.annotate(k, "my.note", {"list": [1, 2.5, "x"]})
    sch.undo()
    sch.reorder(j_0, k, j_1)
    return sch


# ---- modules and functions


@pytest.mark.parametrize("copied", BOTH)
def test_a_module(copied):
    again = copied(Two)
    assert again.equal(Two) and again is not Two
    assert again.text() == Two.text()
    assert str(again.mlir.operation.get_asm(enable_debug_info=True)) == str(
        Two.mlir.operation.get_asm(enable_debug_info=True)
    )
    Schedule(again, seed=1).mod.mlir.operation.verify()


@pytest.mark.parametrize("copied", BOTH)
def test_a_copy_of_a_module_is_independent(copied):
    mod = IRModule({"main": matmul})
    again = copied(mod)
    again.mlir.body.operations[0].attributes["sym_name"] = again.mlir.body.operations[0].attributes["sym_name"]
    before = mod.text()
    del again.mlir.operation.attributes["tir.next"]
    assert mod.text() == before != again.text()


@pytest.mark.parametrize("copied", BOTH)
def test_a_function(copied):
    again = copied(Two["second"])
    assert again.name == "second" and again.equal(Two["second"])
    assert again.attrs == Two["second"].attrs
    shared, func = copied((Two, Two["first"])) if copied is there_and_back else (None, None)
    assert func is None or (func.name in shared and func.equal(Two["first"]))


def test_an_error_after_a_pickle_still_points_to_the_user_s_line():
    place = there_and_back(Schedule(matmul)).mod.mlir.operation.get_asm(enable_debug_info=True)
    assert "test_pickle.py" in str(place)


# ---- schedules


@pytest.mark.parametrize("copied", [*BOTH, copy.copy])
def test_a_schedule_comes_back_as_it_was(copied):
    sch = stepped()
    again = copied(sch)
    assert again.mod.text() == sch.mod.text()
    assert again.trace.as_json() == sch.trace.as_json()
    assert str(again.history) == str(sch.history)
    assert [e.diff() for e in again.history] == [e.diff() for e in sch.history]
    assert again.func_working_on == sch.func_working_on
    assert again.fork_seed() == sch.fork_seed()  # the same random numbers from here on
    assert again.verify()


@pytest.mark.parametrize("copied", [*BOTH, copy.copy])
def test_a_copied_schedule_is_independent(copied):
    sch = stepped()
    text, steps, again = sch.mod.text(), len(sch.trace), copied(sch)
    again.unroll(again.get_loops("C")[-1])
    again.undo(3)
    assert sch.mod.text() == text and len(sch.trace) == steps
    again.undo(len([e for e in again.history if e.changed]))
    assert again.mod.text() == Schedule(matmul).mod.text()
    sch.undo()
    assert sch.mod.text() != text


@pytest.mark.parametrize("copied", BOTH)
def test_handles_go_along_with_their_schedule(copied):
    sch = stepped()
    loops, block = sch.get_loops("C"), sch.get_block("C")
    taken = loops[0]
    sch.split(taken, [2, None])
    size = sch.sample_categorical([3], [1.0])
    again, (first, *rest), same, n = copied((sch, loops, block, size))
    assert [again.get(loop) for loop in rest] == [sch.get(loop) for loop in loops[1:]]
    assert again.get(same) == sch.get(block) and again.get(n) == 3
    with pytest.raises(HandleError, match="consumed"):
        again.get(first)
    given = again.get_loops("C")[0]
    with pytest.raises(IndexError, match="created by a copy of the schedule"):
        sch.get(given)


def test_an_unpickled_handle_belongs_to_no_schedule():
    sch = stepped()
    handle = there_and_back(sch.get_loops("C")[0])
    assert sch.get(handle) == sch.get(sch.get_loops("C")[0])
    with pytest.raises(IndexError, match="belongs to another schedule"):
        Schedule(matmul).get(handle)
    assert "owner" not in repr(handle)


@pytest.mark.slow
@pytest.mark.nightly
def test_serials_of_processes_do_not_meet():
    sch = stepped()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        others = pool.map(pickled_work.more_loops, [sch, sch])
    mine = {h.serial for h in sch.get_loops("C")}
    theirs = [{h.serial for h in handles} for handles in others]
    assert not mine & theirs[0] and not mine & theirs[1] and not theirs[0] & theirs[1]


@pytest.mark.parametrize("copied", BOTH)
def test_a_trace_and_a_history(copied):
    sch = stepped()
    trace, history = copied(sch.trace), copied(sch.history) if copied is there_and_back else sch.history
    fresh = Schedule(matmul)
    trace.apply_to_schedule(fresh)
    assert fresh.mod.equal(sch.mod)
    assert str(history) == str(sch.history)
    assert history[-1].diff() == sch.history[-1].diff() and history[-1].mod.equal(sch.mod)


def test_an_answer():
    sch = stepped()
    for answer in (sch.can_parallel(sch.get_loops("C")[-1]), sch.can_unroll(sch.get_loops("C")[-1])):
        again = there_and_back(answer)
        assert again == answer and again.text == answer.text and (again.mod is None) == (answer.mod is None)
    result = sch.verify()
    assert str(there_and_back(result)) == str(result)


# ---- other processes
@pytest.mark.slow
def test_a_spawned_process_schedules_and_builds():
    sch = stepped()
    a, b = np.random.default_rng(0).random((2, 16, 16), dtype=np.float32)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        again, c = pool.submit(pickled_work.step_and_run, sch, a, b).result()
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)  # transform_layout turned the parameter B
    assert [e.call for e in again.history][: len(sch.history)] == [e.call for e in sch.history]
    assert len(again.trace) > len(sch.trace)
    again.undo()
    assert again.mod.equal(sch.mod)


def test_an_intrinsic_registered_in_one_process_only(tmp_path):
    """The steps are not run again, so a tensorized program may be sent where nobody registered the intrinsic."""
    TensorIntrin.register("pickled_fill", *pickled_work.fill(), override=True)
    sch = Schedule(pickled_work.zeros)
    loop = sch.get_loops("A")[0]
    _outer, inner = sch.split(loop, [None, 4])
    sch.tensorize(inner, "pickled_fill")
    path = tmp_path / "schedule.pkl"
    path.write_bytes(pickle.dumps(sch))
    code = f"import pickle; s = pickle.load(open({str(path)!r}, 'rb')); print(s.mod.script())"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == sch.mod.script().strip()


@pytest.mark.slow
def test_a_refusal_comes_back_from_a_worker():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(ScheduleError, match="two of its iterations depend on each other") as caught:
            pool.submit(pickled_work.refused, matmul).result()
    assert caught.value.counterexample is not None and caught.value.fix and caught.value.call == "parallel(loop=k)"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Schedule(matmul).get_block("nobody"),
        lambda: parse("@T.prim_func\ndef f(A: T.Buffer((4,))):\n    A[9] = 1.0\n"),
        lambda: build(3),
        lambda: build(matmul)(np.zeros(3)),
        lambda: IRModule.from_mlir("func.func @f() { oops }"),
    ],
)
def test_errors(make):
    with pytest.raises((ScheduleError, ScriptError, BuildError, ArgumentError)) as caught:
        make()
    again = there_and_back(caught.value)
    assert type(again) is type(caught.value) and str(again) == str(caught.value) and vars(again) == vars(caught.value)


def test_an_error_with_an_mlir_location():
    location = matmul.module.mlir.body.operations[0].location
    again = there_and_back(VerifyError("wrong", "rule", location))
    assert again.location == str(location) and "test_pickle.py" in again.location and again.rule == "rule"


# ---- compiled code


@pytest.mark.parametrize("copied", [pickle.dumps, copy.deepcopy])
@pytest.mark.parametrize("which", ["library", "function", "plain function"])
def test_the_error_for_compiled_code_names_alternatives(copied, which, monkeypatch):
    if which == "plain function":
        monkeypatch.setattr(fast_entry, "entry", lambda: None)
    lib = build(matmul)
    with pytest.raises(TypeError) as caught:
        copied(lib if which == "library" else lib["matmul"])
    for words in ("cannot be pickled or copied", "build it again", 'lib.export("f.so")'):
        assert words in str(caught.value)
