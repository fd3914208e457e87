"""Reductions over threads that select, such as argmax: of equal elements they keep what serial loops keep."""

from __future__ import annotations

import numpy as np
import pytest
from programs.short import program

from tir_mlir import Schedule, build, interpret, te, topi
from tir_mlir.dialect.diagnostics import ScheduleError

ARGMAX = """
for i, k in T.grid(3, {n}):
    with T.block("am"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            I[vi] = -1
            V[vi] = T.min_value("float32")
        I_new: T.int32 = T.Select({keep}, I[vi], vk)
        V_new: T.float32 = T.Select(V[vi] {better} A[vi, vk], V[vi], A[vi, vk])
        I[vi] = I_new
        V[vi] = V_new
"""
BY_POSITION, FIRST = "V[vi] > A[vi, vk] or (V[vi] == A[vi, vk] and I[vi] <= vk)", "V[vi] >= A[vi, vk]"
EXTENTS = [1, 15, 16, 17, 33, 127, 256]


def argmax(n: int, keep: str = BY_POSITION, better: str = ">=") -> Schedule:
    return Schedule(program(f"A:3x{n} I:3:int32 V:3", ARGMAX.format(n=n, keep=keep, better=better)))


def over_threads(sch: Schedule, threads: int, inner: bool = True, block: str = "am") -> Schedule:
    """A row a block, and the inner or the outer part of the reduction over threads."""
    i, k = sch.get_loops(block)
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(k, [None, threads] if inner else [threads, None])[inner], "threadIdx.x")
    return sch


def check(sch: Schedule, n: int, run=interpret, **options) -> None:
    """Run on rows with many equal elements."""
    a = np.random.default_rng(n).integers(0, 3, (3, n)).astype(np.float32)
    where, best = np.full(3, -9, np.int32), np.full(3, np.nan, np.float32)
    run(sch, a, where, best, **options)
    np.testing.assert_array_equal(where, a.argmax(1))
    np.testing.assert_array_equal(best, a.max(1))


@pytest.mark.parametrize("n", EXTENTS)
@pytest.mark.parametrize("threads", [16, 48])  # shuffles; a tree in shared memory
def test_positions_decide(n, threads):
    check(over_threads(argmax(n), threads), n, target="sm_80")


@pytest.mark.parametrize("n", EXTENTS)
@pytest.mark.parametrize("threads", [5, 32, 96])
def test_the_first_is_kept_by_threads_in_order(n, threads):
    check(over_threads(argmax(n, FIRST), threads, inner=False), n, target="sm_80")


@pytest.mark.parametrize("n", EXTENTS)
def test_threads_take_adjacent_elements_in_turn(n):
    check(over_threads(argmax(n, FIRST), 16), n, target="sm_80")


def test_a_serial_loop_between_those_of_threads_is_refused():
    sch = argmax(96, FIRST)
    outer, _, inner = sch.split(sch.get_loops("am")[1], [4, 3, 8])
    sch.bind(outer, "threadIdx.y")
    with pytest.raises(ScheduleError, match="compare positions"):
        sch.bind(inner, "threadIdx.x")


@pytest.mark.parametrize("keep", [BY_POSITION, FIRST])
def test_on_the_cpu(keep):
    sch = over_threads(argmax(33, keep), 16, inner=False)
    check(sch, 33, lambda sch, *args: build(sch, target="cuda-emulated")(*args))


@pytest.mark.parametrize("order", ["yx", "xy"])
def test_the_order_of_two_axes_is_that_of_the_loops(order):
    sch = argmax(96, FIRST)
    i, k = sch.get_loops("am")
    sch.bind(i, "blockIdx.x")
    for loop, axis in zip(sch.split(k, [4, 8, None]), order, strict=False):
        sch.bind(loop, f"threadIdx.{axis}")
    check(sch, 96, target="sm_80")


@pytest.mark.parametrize(("operator", "expected"), [(topi.argmax, np.argmax), (topi.argmin, np.argmin)])
def test_a_nan_is_best_where_the_program_says_so(operator, expected):
    x = te.placeholder((3, 100), "float32", name="A")
    result = operator(x, axis=1)
    sch = over_threads(Schedule(te.create_prim_func([x, result])), 32, block=f"T_{operator.__name__}")
    a = np.random.default_rng(0).integers(0, 9, (3, 100)).astype(np.float32)
    a[1, 50:] = a[2, 7] = np.nan
    where = np.zeros(3, np.int32)
    interpret(sch, a, where, target="sm_80")
    np.testing.assert_array_equal(where, expected(a, 1))


@pytest.mark.parametrize(
    ("keep", "better", "inner"),
    [
        ("V[vi] > A[vi, vk]", ">", False),  # of equal elements the last one, which the start value of a thread may be
        (BY_POSITION, "<=", True),  # the least value, with the position of the greatest
        ("V[vi] > A[vi, vk] and I[vi] <= vk", ">", True),  # not associative
        ("V[vi] > A[vi, 0]", ">=", True),  # compared with something else
    ],
)
def test_what_depends_on_the_order_is_refused(keep, better, inner):
    with pytest.raises(ScheduleError, match=r"depend on each other") as refusal:
        over_threads(argmax(16, keep, better), 4, inner)
    assert ("compare positions" in str(refusal.value)) == (keep != "V[vi] > A[vi, 0]")


def test_a_start_that_is_no_constant_is_refused():
    text = ARGMAX.format(n=16, keep=BY_POSITION, better=">=").replace("I[vi] = -1", "I[vi] = P[vi]")
    with pytest.raises(ScheduleError, match="depend on each other"):
        over_threads(Schedule(program("A:3x16 P:3:int32 I:3:int32 V:3", text)), 4)
