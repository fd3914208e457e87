"""Iters bound to values that are not affine: quotients by sizes, variables of loops over data, loaded values."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from harness import scripts

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import OutOfBoundsError, ScheduleError, ScriptError

FLAT = """
n = T.int32()
m = T.int32()
A = T.match_buffer(a, (m, n))
B = T.match_buffer(b, (m, n))
for f in range(m * n):
    with T.block("b"):
        vi = T.axis.spatial(m, f // n)
        vj = T.axis.spatial(n, f % n)
        B[vi, vj] = A[vi, vj] * T.float32(2)
"""
HANDLES = "a: T.handle, b: T.handle"
CSR = """
for i in range(8):
    with T.block("zero"):
        vi = T.axis.spatial(8, i)
        Y[vi] = T.float32(0)
for i in range(8):
    for k in range(P[i], P[i + 1]):
        with T.block("row"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(30, k)
            Y[vi] = Y[vi] + V[vk]
"""
ROWS = "P: T.Buffer((9,), 'int32'), V: T.Buffer((30,)), Y: T.Buffer((8,))"
PICK = """
for i in range({extent}):
    with T.block("b"):
        vi = T.axis.opaque(16, I[i])
        T.where({condition})
        B[vi] = A[vi] + T.float32(1)
"""
PICKED = "A: T.Buffer((16,)), B: T.Buffer((16,)), I: T.Buffer((16,), 'int32')"


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (17, 16)])
def test_a_flat_loop_over_a_matrix_of_symbolic_size(shape):
    module = scripts.function(FLAT, HANDLES)
    a = np.random.default_rng(0).random(shape, np.float32)
    for call in (build(module), lambda *args: interpret(module, *args)):
        b = np.zeros(shape, np.float32)
        call(a, b)
        np.testing.assert_array_equal(b, 2 * a)


def test_such_bindings_print_as_they_are_written():
    text = scripts.function(FLAT, HANDLES).script()
    assert "vi = T.axis.spatial(m, f // n)" in text and "vj = T.axis.spatial(n, f % n)" in text


def test_accesses_stay_affine_in_the_iter():
    assert "T.reads(Y[vi], V[vk])" in scripts.function(CSR, ROWS).script()


@pytest.mark.parametrize("factor", [3, 4])
def test_rows_of_csr_run_in_parallel(factor):
    sch = Schedule(scripts.function(CSR, ROWS))
    (i,) = sch.get_loops("row")
    outer, _ = sch.split(i, [None, factor])
    sch.parallel(outer)
    assert sch.verify()
    starts = np.sort(np.random.default_rng(0).integers(0, 31, 9)).astype(np.int32)
    values = np.random.default_rng(1).random(30, np.float32)
    y = np.empty(8, np.float32)
    build(sch)(starts, values, y)
    np.testing.assert_allclose(y, [values[a:b].sum() for a, b in itertools.pairwise(starts)], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("condition", "extent", "runs"),
    [("True", 16, lambda a: a < 2), ("A[vi] > T.float32(0)", 16, lambda a: a > 0), ("i < 16", 20, lambda a: a < 2)],
)
def test_loaded_bindings_and_predicates(condition, extent, runs):
    module = scripts.function(PICK.format(condition=condition, extent=extent), PICKED)
    random = np.random.default_rng(0)
    a, order = random.uniform(-1, 1, 16).astype(np.float32), random.permutation(16).astype(np.int32)
    for call in (build(module), lambda *args: interpret(module, *args)):
        b = np.zeros(16, np.float32)
        call(a, b, order)
        np.testing.assert_array_equal(b, np.where(runs(a), a + 1, 0))


def test_a_value_outside_the_domain_is_found_by_the_interpreter():
    module = scripts.function(PICK.format(condition="True", extent=16), PICKED)
    with pytest.raises(OutOfBoundsError, match="vi = 16"):
        interpret(module, np.zeros(16, np.float32), np.zeros(16, np.float32), np.full(16, 16, np.int32))


def test_a_step_that_needs_the_binding_is_not_provable():
    sch = Schedule(scripts.function(PICK.format(condition="True", extent=16), PICKED))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="the binding of iter vi, which is not affine") as caught:
        sch.cache_write("b", 0, "local")
    assert not caught.value.provable
    assert sch.mod.script() == before


def test_iterations_that_may_meet_are_not_parallel():
    sch = Schedule(scripts.function(PICK.format(condition="True", extent=16), PICKED))
    with pytest.raises(ScheduleError):
        sch.parallel(sch.get_loops("b")[0])


def test_a_binding_is_an_integer():
    with pytest.raises(ScriptError, match="the value bound to vi must be an integer"):
        scripts.function(PICK.format(condition="True", extent=16).replace("I[i]", "A[i]"), PICKED)


def bags(columns: int):
    """Sums of rows of E chosen by I, for each part of I."""
    return scripts.function(
        f"""
for i, d in T.grid(8, {columns}):
    with T.block("zero"):
        vi, vd = T.axis.remap("SS", [i, d])
        Y[vi, vd] = T.float32(0)
for i in range(8):
    for k in range(P[i], P[i + 1]):
        for d in range({columns}):
            with T.block("Y"):
                vi, vd = T.axis.remap("SS", [i, d])
                vk = T.axis.reduce(40, k)
                Y[vi, vd] = Y[vi, vd] + E[I[vk], vd]
""",
        f'E: T.Buffer((16, {columns}), "float32"), I: T.Buffer((40,), "int32"), P: T.Buffer((9,), "int32"), '
        f'Y: T.Buffer((8, {columns}), "float32")',
    )


@pytest.mark.parametrize("columns", [16, 37])
def test_a_loop_inside_a_loop_over_data_is_vectorized(columns):
    sch = Schedule(bags(columns))
    _, lane = sch.split(sch.get_loops("Y")[-1], [None, 16])
    sch.vectorize(lane)
    rng = np.random.default_rng(3)
    e = rng.integers(-4, 5, (16, columns)).astype("float32")
    chosen, ends = rng.integers(0, 16, 40).astype("int32"), np.sort(rng.integers(0, 41, 7))
    starts = np.concatenate([[0], ends, [40]]).astype("int32")
    y = np.full((8, columns), np.nan, "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lib = build(sch, cache=False)
    lib(e, chosen, starts, y)
    np.testing.assert_array_equal(y, [e[chosen[a:b]].sum(0) for a, b in itertools.pairwise(starts)])
    assert "vector<16xf32>" in str(lib.lowered)


def test_lowering_searches_for_nothing():
    from tir_mlir.dialect.ir import clone_module, enter_context
    from tir_mlir.passes.lower.to_llvm import lower_to_llvm

    module = scripts.function(PICK.format(condition="True", extent=16), PICKED)
    with enter_context():
        lowered = clone_module(module.mlir)
        lower_to_llvm(lowered)
        assert str(lowered).count("llvm.cond_br") == 2  # the loop over i, and whether I[i] is in the domain
