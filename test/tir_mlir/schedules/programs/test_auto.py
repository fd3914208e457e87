"""schedules.auto: every block of a program gets a schedule, and no legal program makes it raise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from programs.parsed import parse
from programs.rowwise import chain, layer_norm, reduced, softmax
from programs.short import each, main, nest, program, under

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.dialect.diagnostics import ScheduleWarning
from tir_mlir.script import tir as T

RNG = np.random.default_rng(7)


def picked(program, **options):
    sch = Schedule(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)
        found = schedules.auto(sch, **{"threads": 1} | options)
    assert sch.verify()
    return found


def layer(rows, width):
    """softmax(relu(X @ W + B)), row by row."""
    x, w, b = (te.placeholder(s, name=n) for s, n in (((rows, width), "X"), ((width, width), "W"), ((width,), "B")))
    k, m, n = (te.reduce_axis((0, width), name=name) for name in "kmn")
    h = te.compute((rows, width), lambda i, j: te.sum(x[i, k] * w[k, j], axis=k), name="H")
    g = te.compute((rows, width), lambda i, j: te.max(h[i, j] + b[j], 0.0), name="G")
    top = te.compute((rows,), lambda i: te.max(g[i, m], axis=m), name="top")
    e = te.compute((rows, width), lambda i, j: te.exp(g[i, j] - top[i]), name="E")
    s = te.compute((rows,), lambda i: te.sum(e[i, n], axis=n), name="S")
    return te.create_prim_func([x, w, b, te.compute((rows, width), lambda i, j: e[i, j] / s[i], name="Y")])


def test_each_block_by_its_function():
    found = picked(layer(20, 33))
    assert found == {"H": "gemm", **dict.fromkeys(["G", "top", "E", "S", "Y"], "rowwise")}


def test_a_softmax_after_two_products_is_no_attention():
    rows, width, classes = 20, 33, 7
    x, w, v = (
        te.placeholder(s, name=n) for s, n in (((rows, width), "X"), ((width, width), "W"), ((width, classes), "V"))
    )
    k, h, m = (
        te.reduce_axis((0, width), name="k"),
        te.reduce_axis((0, width), name="h"),
        te.reduce_axis((0, classes), name="m"),
    )
    first = te.compute((rows, width), lambda i, j: te.sum(x[i, k] * w[k, j], axis=k), name="H")
    last = te.compute((rows, classes), lambda i, j: te.sum(first[i, h] * v[h, j], axis=h), name="L")
    top = te.compute((rows,), lambda i: te.max(last[i, m], axis=m), name="top")
    program = te.create_prim_func([x, w, v, te.compute((rows, classes), lambda i, j: last[i, j] - top[i], name="Y")])
    assert picked(program) == {"H": "gemm", "L": "gemm", "top": "rowwise", "Y": "rowwise"}


def test_the_result_is_numpys():
    sch = Schedule(layer(20, 33))
    schedules.auto(sch, threads=2)
    x, w, b = RNG.random((20, 33), np.float32), RNG.random((33, 33), np.float32), RNG.random(33, np.float32)
    y = np.empty((20, 33), np.float32)
    build(sch)["main"](x, w, b, y)
    power = np.exp(np.maximum(x @ w + b, 0))
    np.testing.assert_allclose(y, power / power.sum(1, keepdims=True), rtol=1e-4)


@pytest.mark.parametrize(
    ("program", "function"),
    [
        (softmax((9, 40)), "rowwise"),
        (layer_norm("m", "n"), "rowwise"),
        (chain((9, 40), (40,)), "elementwise"),
        (reduced((9, 40), (0,)), "reduction"),
    ],
)
def test_all_blocks_of_one_kind(program, function):
    assert set(picked(program).values()) == {function}


def test_a_value_that_two_groups_read_is_fused_into_neither():
    x, k = te.placeholder((9, 40), name="X"), te.reduce_axis((0, 40), name="k")
    twice = te.compute((9, 40), lambda i, j: x[i, j] * 2.0, name="twice")
    s = te.compute((9,), lambda i: te.sum(twice[i, k], axis=k), name="S")
    y = te.compute((9, 40), lambda i, j: twice[i, j] - s[i], name="Y")
    z = te.compute((40, 9), lambda j, i: twice[i, j], name="Z")
    found = picked(te.create_prim_func([x, y, z]))
    assert found == {"twice": "elementwise", "S": "rowwise", "Y": "rowwise", "Z": "elementwise"}


SCAN = main(
    "X:40 Y:40", each("scan i:40O", under("if vi == 0:", "Y[vi] = X[vi]"), under("else:", "Y[vi] = Y[vi - 1] + X[vi]"))
)


def test_a_block_that_nothing_fits_is_left_with_a_warning():
    sch = Schedule(parse(SCAN))
    before = sch.mod.script()
    with pytest.warns(ScheduleWarning, match='schedules.auto leaves block "scan" as it is: .* no leading spatial iter'):
        assert schedules.auto(sch, threads=2) == {"scan": None}
    assert sch.mod.script() == before


def test_a_block_that_was_scheduled_is_kept():
    sch = Schedule(chain((64, 64), (64,)))
    sch.parallel(sch.get_loops("times")[0])
    found = schedules.auto(sch, threads=1)
    assert found == {"times": None, **dict.fromkeys(["plus", "relu", "out"], "elementwise")}
    assert sch.verify()


def test_rows_of_several_statements_run_in_parallel():
    sch = Schedule(
        program(
            "X:40x9 Y:40",
            each(
                "last:40", "Y[vi] = T.float32(0)", nest("j:9", under("if X[vi, j] > T.float32(0):", "Y[vi] = X[vi, j]"))
            ),
        )
    )
    assert schedules.auto(sch, threads=2) == {"last": "independent"}
    assert "T.parallel(40)" in sch.mod.script()
    assert sch.verify()


def test_every_function_of_a_module():
    sch = Schedule(
        parse("""
@I.ir_module
class Module:
    @T.prim_func
    def first(X: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("Y"):
                vi = T.axis.spatial(64, i)
                Y[vi] = X[vi] * T.float32(2)
    @T.prim_func
    def second(X: T.Buffer((64,), "float32"), Z: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("Z"):
                vi = T.axis.spatial(64, i)
                Z[vi] = X[vi] * T.float32(3)
""")
    )
    assert schedules.auto(sch, threads=1) == {"Y": "elementwise", "Z": "elementwise"}
    assert sch.mod.script().count("T.vectorized") == 2


def test_a_single_number_has_nothing_to_schedule():
    x, k = te.placeholder((100,), name="X"), te.reduce_axis((0, 100), name="k")
    s = te.compute((), lambda: te.sum(x[k], axis=k), name="S")
    found = picked(te.create_prim_func([x, te.compute((), lambda: te.sqrt(s()), name="Y")]))
    assert found == {"S": "reduction", "Y": None}


def test_a_dot_product_is_a_reduction():
    x, y, k = te.placeholder((100,), name="X"), te.placeholder((100,), name="Y"), te.reduce_axis((0, 100), name="k")
    assert picked(te.create_prim_func([x, y, te.compute((), lambda: te.sum(x[k] * y[k], axis=k), name="S")])) == {
        "S": "reduction"
    }


@pytest.mark.parametrize("shape", [(17, 127, 15), (1, 16, 3)])
def test_a_sum_of_squared_differences_is_tiled_as_a_product(shape):
    m, n, size = shape
    a, b, k = te.placeholder((m, size), name="A"), te.placeholder((n, size), name="B"), te.reduce_axis((0, size), "k")
    far = te.compute((m, n, size), lambda i, j, k: a(i, k) - b(j, k), name="far")
    square = te.compute((m, n, size), lambda *i: far(*i) * far(*i), name="square")
    sch = Schedule(te.create_prim_func([a, b, te.compute((m, n), lambda i, j: te.sum(square(i, j, k), axis=k), "C")]))
    assert schedules.auto(sch, threads=1)["C"] == "gemm"
    x, y = (np.random.default_rng(0).integers(-9, 9, (rows, size)).astype("float32") for rows in (m, n))
    got = np.zeros((m, n), "float32")
    build(sch)(x, y, got)
    np.testing.assert_array_equal(got, ((x[:, None] - y) ** 2).sum(-1))


def test_a_producer_without_loops():
    @T.prim_func
    def filled(A: T.Buffer((8, 1), "float32"), B: T.Buffer((8, 1), "float32"), C: T.Buffer((8,), "float32")):
        with T.block("fill"):
            one = T.axis.spatial(1, 0)  # noqa: F841
            T.writes(C[0:8])
            for i in range(8):
                with T.block("zero"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = T.float32(0)
        for j, i in T.grid(1, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SR", [i, j])
                C[vi] = C[vi] + A[vi, vj] * B[vi, vj]

    picked(filled)


def test_a_search_for_a_position_is_no_pass_of_a_row():
    x = te.placeholder((5, 70), name="X")
    at = topi.argmax(x, axis=1, dtype="int64")
    program = te.create_prim_func([x, at])
    sch = Schedule(program)
    found = picked(program)
    assert list(found.values()) == ["reduction", "elementwise"], found
    a, got = RNG.integers(0, 9, (5, 70)).astype("float32"), np.zeros(5, "int64")
    schedules.auto(sch, threads=1)
    build(sch)(a, got)
    np.testing.assert_array_equal(got, a.argmax(1))
