"""Predicates of blocks that depend on data: T.where, and steps that could move a block out of its condition."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ScheduleError

PARAMS = "A: T.Buffer((16,)), B: T.Buffer((16,)), C: T.Buffer((16,))"
WHERE = """
for i in range({extent}):
    with T.block("b"):
        vi = T.axis.spatial(16, i)
        T.where({condition})
        B[vi] = A[vi] * T.float32(2)
"""
UNDER_IF = """
D = T.alloc_buffer((16,))
for i in range(16):
    if A[i] > T.float32(0):
        with T.block("p"):
            vi = T.axis.spatial(16, i)
            D[vi] = B[vi] * T.float32(2)
for i in range(16):
    if A[i] > T.float32(0):
        with T.block("c"):
            vi = T.axis.spatial(16, i)
            C[vi] = D[vi] + T.float32(1)
"""
SUM = """
for i, k in T.grid(16, 16):
    with T.block("p"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.where(A[k] > T.float32(0))
        with T.init():
            C[vi] = T.float32(0)
        C[vi] = C[vi] + B[vk]
"""


def arrays():
    random = np.random.default_rng(0)
    return [random.uniform(-1, 1, 16).astype(np.float32) for _ in range(3)]


def where(condition: str, extent: int = 16):
    return scripts.function(WHERE.format(condition=condition, extent=extent), PARAMS)


CONDITIONS = [
    ("A[i] > T.float32(0)", 16, lambda a, i: a > 0),
    ("A[vi] > T.float32(0) and B[vi] < T.float32(0.5)", 16, None),
    ("i < 16 and A[vi] > T.float32(0)", 20, lambda a, i: a > 0),
    ("i != 3", 16, lambda a, i: i != 3),
    ("i == 3 or i == 5 or A[i] > T.float32(0)", 16, lambda a, i: (i == 3) | (i == 5) | (a > 0)),
]


@pytest.mark.parametrize(("condition", "extent", "holds"), CONDITIONS)
@pytest.mark.parametrize("factor", [None, 4, 5])
def test_where_on_data(condition, extent, holds, factor):
    sch = Schedule(where(condition, extent))
    if factor is not None:
        outer, _ = sch.split(sch.get_loops("b")[0], [None, factor])
        sch.parallel(outer)
        assert sch.verify()
    a, b, c = arrays()
    runs = (a > 0) & (b < 0.5) if holds is None else holds(a, np.arange(16))
    wanted = np.where(runs, a * 2, b)
    for call in (build(sch.mod), lambda *args: interpret(sch.mod, *args)):
        now = b.copy()
        call(a, now, c)
        np.testing.assert_array_equal(now, wanted)


def test_where_on_data_prints_as_where():
    assert "T.where(A[i] > T.float32(0.0))" in where("A[vi] > T.float32(0)").script()


def test_an_affine_part_is_tested_before_data_is_read():
    text = where("A[vi] > T.float32(0) and i < 16", 20).script()
    assert text.index("if i < 16:") < text.index("T.where(A[i] > T.float32(0.0))")


@pytest.mark.parametrize(
    "step",
    [
        lambda s: s.compute_at("p", s.get_loops("c")[0]),
        lambda s: s.reverse_compute_at("c", s.get_loops("p")[0]),
        lambda s: s.compute_inline("p"),
        lambda s: s.reverse_compute_inline("c"),
    ],
)
def test_no_step_takes_a_block_out_of_its_condition(step):
    sch = Schedule(scripts.function(UNDER_IF, PARAMS))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="runs only where a condition on data holds") as caught:
        step(sch)
    assert not caught.value.provable and "put the condition into the block" in str(caught.value)
    assert sch.mod.script() == before


BESIDE = """
for i in range(4):
    if A[i] > T.float32(0):
        for j in range(4):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi * 4 + vj] = B[vi * 4 + 3 - vj]
"""
COPIES = [lambda s, lp: s.read_at(lp, "c", 0, "local"), lambda s, lp: s.write_at(lp, "c", 0, "local")]


@pytest.mark.parametrize("step", COPIES)
def test_a_copy_at_a_loop_under_the_condition_stays_under_it(step):
    sch = Schedule(scripts.function(BESIDE, PARAMS))
    step(sch, sch.get_loops("c")[1])
    assert sch.verify()
    a, b, c = arrays()
    wanted = np.where(np.repeat(a[:4] > 0, 4), b.reshape(4, 4)[:, ::-1].ravel(), c)
    for call in (build(sch.mod), lambda *args: interpret(sch.mod, *args)):
        now = c.copy()
        call(a, b, now)
        np.testing.assert_array_equal(now, wanted)


@pytest.mark.parametrize("step", COPIES)
def test_no_copy_at_a_loop_around_the_condition(step):
    sch = Schedule(scripts.function(BESIDE, PARAMS))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="runs only where a condition on data holds") as caught:
        step(sch, sch.get_loops("c")[0])
    assert not caught.value.provable and sch.mod.script() == before


def test_an_init_stays_under_its_condition():
    sch = Schedule(scripts.function(SUM, PARAMS))
    with pytest.raises(ScheduleError, match="runs only where a condition on data holds"):
        sch.decompose_reduction("p", sch.get_loops("p")[1])


def test_loops_around_a_predicate_are_reordered():
    sch = Schedule(
        scripts.function(UNDER_IF.replace("if A[i] > T.float32(0):", "if A[15 - i] > T.float32(0):"), PARAMS)
    )
    inner = sch.split(sch.get_loops("p")[0], [4, 4])
    sch.reorder(*inner[::-1])
    assert sch.verify()


READS_ITS_OWN = """
for i in range(16):
    with T.block("b"):
        vi = T.axis.opaque(16, i)
        T.where({condition})
        B[vi] = {value}
"""
KINDS = {
    "parallel": lambda sch, loop: sch.parallel(loop),
    "vectorize": lambda sch, loop: sch.vectorize(loop),
    "bind": lambda sch, loop: sch.bind(loop, "threadIdx.x"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("condition", "value"),
    [("B[i] < T.float32(0)", "T.float32(0)"), ("B[i] < A[i] and C[i] > T.float32(0)", "B[vi] + A[vi]")],
)
def test_a_condition_that_reads_the_element_that_the_block_writes(kind, condition, value):
    sch = Schedule(scripts.function(READS_ITS_OWN.format(condition=condition, value=value), PARAMS))
    KINDS[kind](sch, sch.get_loops("b")[0])
    a, b, c = arrays()
    b[3], a[3] = -0.0, 0.0
    wanted = np.where(b < 0, 0, b) if value == "T.float32(0)" else np.where((b < a) & (c > 0), b + a, b)
    for call in (build(sch.mod), lambda *args: interpret(sch.mod, *args)):
        now = b.copy()
        call(a, now, c)
        np.testing.assert_array_equal(now, wanted.astype(np.float32))
        assert np.signbit(now[3]) == np.signbit(wanted[3])


@pytest.mark.parametrize("kind", KINDS)
def test_a_condition_that_reads_what_another_iteration_writes(kind):
    text = READS_ITS_OWN.format(condition="B[0] < T.float32(0)", value="T.float32(0)")
    sch = Schedule(scripts.function(text, PARAMS))
    with pytest.raises(ScheduleError, match="access one element of B"):
        KINDS[kind](sch, sch.get_loops("b")[0])
