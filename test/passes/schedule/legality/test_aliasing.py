"""Steps on functions whose parameters may be the same memory (`tir.noalias = False`)."""

import warnings

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main, sblock, under

from tir_mlir import Schedule, build
from tir_mlir.errors import ScheduleError
from tir_mlir.passes.lower import LoweringWarning

TEXT = main(
    "A:6x8 B:6x8 C:6x8",
    "T.func_attr({'tir.noalias': NOALIAS})",
    "Y = T.alloc_buffer((6, 8), 'float32')",
    each("Y:6x8", "Y[vi, vj] = A[vi, vj] + B[vi, vj]"),
    each("C:6x8", "C[vi, vj] = Y[vi, vj] + A[vi, vj]"),
)
STEPS = {
    "parallel": lambda s: s.parallel(s.get_loops("C")[0]),
    "vectorize": lambda s: s.vectorize(s.get_loops("C")[1]),
    "bind": lambda s: s.bind(s.get_loops("C")[1], "threadIdx.x"),
    "reorder": lambda s: s.reorder(*s.get_loops("C")[::-1]),
    "cache_read": lambda s: s.cache_read("C", 1, "global"),
    "cache_write": lambda s: s.cache_write("C", 0, "global"),
    "compute_at": lambda s: s.compute_at("Y", s.get_loops("C")[0]),
    "compute_inline": lambda s: s.compute_inline("Y"),
    "reverse_compute_inline": lambda s: s.reverse_compute_inline("C"),
    "merge": lambda s: s.merge(s.get_loops("Y")[0], s.get_loops("C")[0]),
}


def schedule(noalias=False):
    return Schedule(parse(TEXT.replace("NOALIAS", str(noalias))))


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_may_change_the_order_is_not_provable(step):
    sch = schedule()
    before = str(sch.mod)
    with pytest.raises(ScheduleError, match="A and C may be the same memory, as function main has") as caught:
        STEPS[step](sch)
    assert not caught.value.provable
    assert str(sch.mod) == before


@pytest.mark.parametrize("step", STEPS)
def test_the_same_step_is_legal_for_distinct_parameters(step):
    sch = schedule(noalias=True)
    STEPS[step](sch)
    assert sch.verify()


def blockize_tiles(sch):
    """The nest of C in tiles of 3, the last one with a guard."""
    _, inner = sch.split(sch.get_loops("C")[1], [None, 3])
    return sch.blockize(inner)


KEEPING = {
    "blockize": blockize_tiles,
    "reorder_block_iter_var": lambda s: s.reorder_block_iter_var("C", [1, 0]),
    "write_at": lambda s: s.write_at(s.get_loops("Y")[0], "Y", 0, "local"),
    "read_at": lambda s: s.read_at(s.get_loops("C")[0], "C", 0, "local"),
    "cache_read": lambda s: s.cache_read("C", 0, "local"),
    "cache_write": lambda s: s.cache_write("Y", 0, "local"),
    "transform_layout": lambda s: s.transform_layout("Y", ("write", 0), lambda i, j: (j, i)),
}


@pytest.mark.parametrize("step", KEEPING)
def test_a_step_that_keeps_the_order_of_accesses_to_parameters(step):
    """A new block, or other accesses to the allocated buffer alone: on shared memory the results are the same."""
    sch = schedule()
    KEEPING[step](sch)
    assert sch.verify()
    results = []
    for module in (schedule().mod, sch):
        memory = np.arange(60, dtype="float32")
        build(module)(memory[:48].reshape(6, 8), np.ones((6, 8), "float32"), memory[3:51].reshape(6, 8))
        results.append(memory)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("step", ["write_at", "read_at"])
def test_a_copy_of_a_parameter_changes_the_order(step):
    sch = schedule()
    index = 0 if step == "write_at" else 1
    with pytest.raises(ScheduleError, match=f"{step} may change the order of accesses: A and C may be") as caught:
        getattr(sch, step)(sch.get_loops("C")[0], "C", index, "local")
    assert not caught.value.provable


def test_a_condition_on_data_leaves_the_order_undecided():
    text = main(
        "A:8x4 C:8x4",
        "T.func_attr({'tir.noalias': False})",
        each("C:8x4", under("if A[vi, vj] > 0.0:", "C[vi, vj] = A[vi, vj] + 1.0")),
    )
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="blockize may change the order of accesses") as caught:
        sch.blockize(sch.get_loops("C")[1])
    assert not caught.value.provable


def test_a_nest_that_writes_no_parameter_can_be_scheduled():
    sch = schedule()
    i, j = sch.get_loops("Y")
    sch.reorder(j, i)
    sch.parallel(j)
    sch.vectorize(i)
    assert sch.verify()


def test_steps_that_keep_the_order_give_the_same_results_on_shared_memory():
    sch = schedule()
    i, j = sch.get_loops("C")
    whole = sch.fuse(i, j)
    _outer, inner = sch.split(whole, [None, 5])
    sch.unroll(inner)
    sch.parallel(sch.get_loops("Y")[0])
    assert sch.verify()
    memory = np.arange(60, dtype="float32")
    given, b = memory[:48].reshape(6, 8), np.ones((6, 8), "float32")
    wanted = memory.copy()
    y = (wanted[:48] + 1).copy()
    for n in range(48):
        wanted[n + 3] = y[n] + wanted[n]
    build(sch)(given, b, memory[3:51].reshape(6, 8))
    np.testing.assert_array_equal(memory, wanted)


@pytest.mark.parametrize("kind", ["T.parallel", "T.vectorized"])
def test_a_loop_kind_of_the_source_is_not_believed(kind):
    text = main(
        "A:8 C:8",
        "T.func_attr({'tir.noalias': False})",
        under(f"for i in {kind}(8):", sblock("C", "vi:8=i", "C[vi] = A[vi] + 1.0")),
    )
    with pytest.warns(LoweringWarning, match='loop "i" runs serially: A and C may be the same memory'):
        lib = build(parse(text), cache=False)
    a = np.zeros(9, "float32")
    lib(a[:8], a[1:])
    np.testing.assert_array_equal(a, np.arange(9))


def test_a_fix_is_followed():
    sch = schedule()
    with pytest.raises(ScheduleError) as caught:
        STEPS["compute_inline"](sch)
    assert caught.value.fix == "remove tir.noalias = False if calls never pass overlapping arrays"
    fixed = schedule(noalias=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        STEPS["compute_inline"](fixed)
