"""Stores at linearized indices of symbolic strides: `C[vi * n + vj]`."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ScheduleError, ScriptError
from tir_mlir.script import IRModule, parse

FLAT = """
m = T.int32()
n = T.int32()
A = T.match_buffer(a, (m, n))
C = T.match_buffer(c, (m * n,))
for i, j in T.grid(m, n):
    with T.block("C"):
        vi, vj = T.axis.remap("{kinds}", [i, j])
        C[{index}] = A[vi, vj]
"""
PARAMS = "a: T.handle, c: T.handle"
SHAPES = [(1, 1), (3, 5), (17, 16), (16, 33)]


def _program(index: str = "vi * n + vj", kinds: str = "SS") -> IRModule:
    return scripts.function(FLAT.format(index=index, kinds=kinds), PARAMS)


def _check(module: IRModule, order=lambda a: a) -> None:
    lib = build(module)
    for shape in SHAPES:
        a = np.random.default_rng(0).random(shape, np.float32)
        c = np.zeros(a.size, np.float32)
        lib(a, c)
        np.testing.assert_array_equal(c, order(a).ravel())


@pytest.mark.parametrize("index", ["vi * n + vj", "n * vi + vj", "(m - 1 - vi) * n + vj", "vi * n + (n - 1 - vj)"])
def test_it_parses_prints_and_runs(index: str) -> None:
    module = _program(index)
    assert parse(module.script()).equal(module)
    order = {"(": lambda a: a[::-1], "n": lambda a: a, "v": lambda a: a[:, ::-1] if "1" in index else a}[index[0]]
    _check(module, order)


def test_the_interpreter_agrees() -> None:
    a, c = np.arange(15, dtype=np.float32).reshape(3, 5), np.zeros(15, np.float32)
    interpret(_program(), a, c)
    np.testing.assert_array_equal(c, a.ravel())


def _tiled(sch: Schedule) -> None:
    i, j = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i_0, j_0, i_1, j_1)
    sch.parallel(i_0)


def _turned(sch: Schedule) -> None:
    i, j = sch.get_loops("C")
    sch.reorder(j, i)
    sch.parallel(j)


@pytest.mark.parametrize("steps", [_tiled, _turned])
def test_elements_are_apart(steps) -> None:
    sch = Schedule(_program())
    steps(sch)
    assert sch.verify()
    _check(sch.mod)


def test_three_dimensions() -> None:
    body = (
        FLAT.replace("(m * n,)", "(m * n * k,)")
        .replace("n = T", "n = T.int32()\nk = T")
        .replace("(m, n))", "(m, n, k))")
    )
    body = body.replace("i, j in T.grid(m, n)", "i, j, l in T.grid(m, n, k)").replace("[i, j]", "[i, j, l]")
    body = body.replace("vi, vj =", "vi, vj, vl =").replace("A[vi, vj]", "A[vi, vj, vl]")
    body = body.format(kinds="SSS", index="(vi * n + vj) * k + vl").replace(
        "A = T", "R = T.match_buffer(r, (n * k,))\nA = T"
    )
    sch = Schedule(scripts.function(body, PARAMS + ", r: T.handle"))
    for loop in sch.get_loops("C")[:2]:
        sch.parallel(loop)
    a = np.random.default_rng(0).random((3, 5, 7), np.float32)
    c = np.zeros(a.size, np.float32)
    build(sch)(a, c, np.zeros(35, np.float32))
    np.testing.assert_array_equal(c, a.ravel())


@pytest.mark.parametrize("index", ["vi * m + vj", "vi * n + vj * 2", "vi * n + vj + 1"])
def test_rows_that_may_overlap_parse_and_stay_serial(index: str) -> None:
    sch = Schedule(_program(index))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="an index of C is not affine") as caught:
        sch.parallel(sch.get_loops("C")[0])
    assert not caught.value.provable and sch.mod.script() == before


def test_one_access_of_another_form_makes_all_opaque() -> None:
    text = FLAT.format(index="vi * n + vj", kinds="SS") + "for f in range(m * n):\n    C[f] = C[f] + T.float32(1)\n"
    sch = Schedule(scripts.function(text, PARAMS))
    with pytest.raises(ScheduleError) as caught:
        sch.parallel(sch.get_loops("C")[0])
    assert not caught.value.provable


def test_a_scatter_is_still_refused() -> None:
    with pytest.raises(ScriptError, match="an index of C is computed from data"):
        _program("vi * n + T.Cast('int32', A[vi, vj])")


def test_an_accumulator_at_such_an_index() -> None:
    text = FLAT.format(index="vi * n + vj", kinds="SS").replace("= A[vi, vj]", "= C[vi * n + vj] + A[vi, vj]")
    sch = Schedule(scripts.function(text, PARAMS))
    sch.parallel(sch.get_loops("C")[0])
    assert sch.verify()


MOVED = """
m = T.int32()
n = T.int32()
A = T.match_buffer(a, (4, 64, n))
D = T.match_buffer(d, (4, 5000))
T.assume(n >= 1)
C = T.alloc_buffer((4, 5000))
for b, i, j in T.grid(4, 64, n):
    with T.block("C"):
        vb, vi, vj = T.axis.remap("SSS", [b, i, j])
        C[vb, {index}] = A[vb, vi, vj]
for x, k in T.grid(4, 5000):
    with T.block("D"):
        vx, vk = T.axis.remap("SS", [x, k])
        D[vx, vk] = C[vx, vk]
"""


@pytest.mark.parametrize(
    "step",
    [
        lambda sch: sch.compute_at("C", sch.get_loops("D")[0]),
        lambda sch: sch.transform_block_layout("C", lambda b, i, j: (b, j, i)),
    ],
    ids=["compute_at", "transform_block_layout"],
)
def test_a_declaration_that_is_not_provable_moves_nothing(step) -> None:
    text = MOVED.format(index="vi * s + vj").replace("m = T.int32()\n", "")
    sch = Schedule(scripts.function(text, "a: T.handle, d: T.handle, s: T.int32"))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="an index of C is not affine") as caught:
        step(sch)
    assert not caught.value.provable and sch.mod.script() == before
