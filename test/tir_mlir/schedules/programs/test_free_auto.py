"""schedules.auto(free=True): every point computes the program; the defaults are the schedule without it."""

from __future__ import annotations

import numpy as np
import pytest
from harness.spaces import check_points
from programs.attention import attention, reference
from programs.convolutions import Conv, program
from programs.matmul import matmul_add
from programs.rowwise import reduced, softmax

from tir_mlir import Schedule, schedules, te
from tir_mlir.target import Target
from tir_mlir.tune.spaces.deciders import Defaults

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)


def space(sch):
    schedules.auto(sch, SMALL, 2, free=True)


@pytest.mark.parametrize(("axis", "names"), [(1, {"out.rows", "out.inline_power"}), (0, {"out.vectors"})])
def test_points_of_a_softmax(axis, names):
    x = RNG.standard_normal((17, 127), np.float32)
    e = np.exp(x - x.max(axis, keepdims=True))
    found = check_points(softmax((17, 127), axis), space, [x], e / e.sum(axis, keepdims=True), rtol=1e-4)
    assert found >= names


@pytest.mark.parametrize(("axis", "names"), [(1, {"threads", "step"}), (0, {"threads", "piece", "streams"})])
def test_points_of_a_reduction(axis, names):
    x = RNG.integers(-4, 5, (1999, 1025)).astype("float32")  # worth two threads
    found = check_points(reduced((1999, 1025), (axis,)), space, [x], x.sum(axis))
    assert {name.partition(".")[2] for name in found} == names


@pytest.mark.parametrize("sizes", [(1, 5, 33, 24), (2, 40, 70, 16)])
def test_points_of_an_attention(sizes):
    heads, queries, keys, width = sizes
    q = RNG.standard_normal((heads, queries, width), np.float32)
    k, v = RNG.standard_normal((2, heads, keys, width), np.float32)
    found = check_points(attention(*sizes, True), space, [q, k, v], reference(q, k, v, True), 3, rtol=1e-4)
    assert found >= {"O.threads", "O.S.tile_rows", "O.P.tile_vectors"}


def transposed(rows: int, columns: int):
    a = te.placeholder((columns, rows), "float32", name="A")
    return te.create_prim_func([a, te.compute((rows, columns), lambda i, j: a[j, i] * 2.0, name="B")])


@pytest.mark.parametrize("rows", [15, 127])
def test_points_of_a_transpose(rows):
    a = RNG.integers(-4, 5, (300, rows)).astype("float32")
    assert check_points(transposed(rows, 300), space, [a], a.T * 2) >= {"B.lines", "B.lanes"}


def test_points_of_an_elementwise_block():
    a = te.placeholder((33, 4, 3), "float32", name="A")
    program = te.create_prim_func([a, te.compute((33, 4, 3), lambda i, j, k: a[i, j, k] * 2.0, name="B")])
    x = RNG.integers(-4, 5, (33, 4, 3)).astype("float32")
    assert check_points(program, space, [x], x * 2) == {"B.fused"}


@pytest.mark.parametrize(
    "program",
    [matmul_add(127, 70, 40), softmax((17, 127), 0), reduced((70, 257), (0,)), transposed(40, 70),
     attention(2, 40, 70, 16), program(Conv(5, 7, (9, 9), pad=1))],
    ids=["product", "softmax", "reduction", "transpose", "attention", "convolution"],
)  # fmt: skip
def test_the_defaults_are_the_schedule_itself(program):
    free, fixed = Schedule(program, decider=Defaults()), Schedule(program)
    assert schedules.auto(free, SMALL, 2, free=True) == schedules.auto(fixed, SMALL, 2)
    assert free.mod.script() == fixed.mod.script()
    assert free.trace.decisions and not fixed.trace.decisions


def test_blocks_have_decisions_of_their_own():
    sch = Schedule(matmul_add(127, 70, 40), seed=1)
    schedules.auto(sch, SMALL, 2, free=True)
    names = set(sch.executor.names.values())
    assert "C.tile_vectors" in names and all(n.partition(".")[0] in ("C", "D") for n in names)
