"""Facts about sizes: `T.assume`, and shapes such as `n * 16`. Proofs use them, calls check them."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.parsed import parse
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ArgumentError, ScriptError, VerifyError
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

Promised = program(
    "A:nxm C:nxm",
    "T.assume(n % 16 == 0 and m >= 3)",
    "T.assume(n <= m)",
    each("C i:n j:m", "C[vi, vj] = A[vi, vj] * 2.0"),
)


@I.ir_module
class Multiple:
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n, m = T.int32(), T.int32()
        A = T.match_buffer(a, (n * 16, m + 3), "float32")
        C = T.match_buffer(c, (n * 16, m), "float32")
        for i, j in T.grid(n * 16, m):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + A[vi, vj + 3]


def test_a_split_that_divides_by_promise_has_no_guard(right_at):
    sch = Schedule(Promised)
    i, j = sch.get_loops("C")
    sch.split(i, [None, 16])
    assert "T.where" not in sch.mod.script()
    sch.split(j, [None, 16])
    assert "T.where(j_0 * 16 + j_1 < m)" in sch.mod.script()
    right_at(sch, lambda n: ((n, n + 3), (n, n + 3)), lambda a: a * 2, sizes=(0, 16, 128))


def test_a_split_that_divides_by_shape_has_no_guard(right_at):
    sch = Schedule(Multiple)
    sch.split(sch.get_loops("C")[0], [None, 16])
    assert "for i_0, i_1, j in T.grid(n, 16, m):" in sch.mod.script()
    assert "T.where" not in sch.mod.script()
    right_at(sch, lambda n: ((n * 16, n + 3), (n * 16, n)), lambda a: a[:, :-3] + a[:, 3:], sizes=(1, 2, 7))


@pytest.mark.parametrize("program", [Promised, Multiple])
def test_facts_print_and_parse_again(program):
    text = program.script()
    assert parse(text).script() == text
    scheduled = Schedule(program)
    scheduled.split(scheduled.get_loops("C")[0], [None, 16])
    assert parse(scheduled.mod.script()).script() == scheduled.mod.script()


def test_calls_are_held_to_promises():
    library = quick_build(Promised)
    good = np.ones((16, 16), "float32")
    library(good, good.copy())
    for shape, match in (
        ((17, 20), "it assumes n % 16 == 0; this call has n = 17 from dimension 0 of 'A'"),
        ((0, 2), "it assumes m >= 3; this call has m = 2"),
        ((32, 20), "it assumes m >= n; this call has m = 20 .* and n = 32"),
    ):
        with pytest.raises(ArgumentError, match=match):
            library(np.ones(shape, "float32"), np.ones(shape, "float32"))


def test_calls_are_held_to_shapes():
    library = quick_build(Multiple)
    with pytest.raises(ArgumentError, match=r"extent 17 in dimension 0; \(n \* 16\) is needed, for some n >= 0"):
        library(np.ones((17, 8), "float32"), np.ones((17, 5), "float32"))
    with pytest.raises(ArgumentError, match=r"\(m \+ 3\) = 3 is needed"):
        library(np.ones((16, 2), "float32"), np.ones((16, 0), "float32"))


def test_unsupported_assumptions():
    with pytest.raises(ScriptError, match="this assumption contradicts the ones before it"):

        @T.prim_func
        def never(a: T.handle):
            n = T.int32()
            A = T.match_buffer(a, (n,), "float32")
            T.assume(n >= 3)
            T.assume(n <= 2)
            for i in range(n):
                with T.block("A"):
                    vi = T.axis.spatial(n, i)
                    A[vi] = 0.0

    with pytest.raises(ScriptError, match=r"T.assume on shape variables must be at the top of the function"):

        @T.prim_func
        def late(a: T.handle):
            n = T.int32()
            A = T.match_buffer(a, (n,), "float32")
            for i in range(n):
                T.assume(n >= 3)
                with T.block("A"):
                    vi = T.axis.spatial(n, i)
                    A[vi] = 0.0

    with pytest.raises(ScriptError, match="conjunction of affine comparisons of shape variables"):

        @T.prim_func
        def odd(a: T.handle):
            n = T.int32()
            A = T.match_buffer(a, (n,), "float32")
            T.assume(n != 3)
            for i in range(n):
                with T.block("A"):
                    vi = T.axis.spatial(n, i)
                    A[vi] = 0.0


def test_the_same_nest_without_the_assumption_is_checked_again():
    """What was settled where n % 16 == 0 must not be taken for settled elsewhere."""
    program = """
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    {promise}
    for i, j in T.grid(n // 16, 16):
        with T.block("C"):
            vi = T.axis.spatial(n, i * 16 + j)
            C[vi] = A[vi]
"""
    parse(program.format(promise="T.assume(n % 16 == 0)"))
    with pytest.raises((ScriptError, VerifyError), match="do not cover its domain"):
        parse(program.format(promise=""))
