"""schedules.softmax, layer_norm, rowwise: any shape, axis and thread count gives NumPy's result, row by row."""

import numpy as np
import pytest
from programs.rowwise import chain, layer_norm, reduced, softmax

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import AVX2, Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)


def numpy_softmax(x, axis=-1):
    power = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return power / power.sum(axis, keepdims=True)


def check_softmax(shape, axis=-1, dtype="float32", rtol=1e-6, **options):
    sch = Schedule(softmax(shape, axis, dtype))
    schedules.softmax(sch, "out", **options)
    x = RNG.uniform(-5, 5, shape).astype(dtype)
    y = np.full(shape, 99, dtype)
    build(sch)["main"](x, y)
    np.testing.assert_allclose(y, numpy_softmax(x, axis), rtol=rtol, atol=1e-9)
    return sch


@pytest.mark.parametrize(("rows", "columns"), [(5, 1), (1, 15), (3, 16), (5, 17), (2, 127)])
def test_softmax_of_ragged_rows(rows, columns):
    check_softmax((rows, columns), threads=1)


@pytest.mark.parametrize(("shape", "axis"), [((3, 17, 5), 2), ((3, 17, 5), 1), ((19, 37), 0), ((33,), 0)])
def test_softmax_along_any_axis(shape, axis):
    check_softmax(shape, axis, target=SMALL, threads=1)


def test_rows_as_lanes_of_this_machine():
    check_softmax((9, 63), 0, threads=1)


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-14), ("float16", 1e-2)])
def test_softmax_of_other_floats(dtype, rtol):
    check_softmax((3, 37), dtype=dtype, rtol=rtol, threads=1)


def test_a_value_does_not_depend_on_its_place():
    sch = check_softmax((2, 37), threads=1)
    x, y = np.full((2, 37), 0.3, "float32"), np.empty((2, 37), "float32")
    build(sch)["main"](x, y)
    assert (y == y[0, 0]).all()


def test_threads_share_the_rows():
    sch = check_softmax((200, 400), threads=2)
    assert "T.parallel(200)" in sch.mod.script()
    for shape, loop in (((2, 40, 400), "T.parallel(80)"), ((10, 10), "range(10)")):
        sch = Schedule(softmax(shape))
        schedules.softmax(sch, "out", threads=2)
        assert f"in {loop}:" in sch.mod.script()


def test_layer_norm_of_sizes_known_when_it_runs():
    sch = Schedule(layer_norm("m", "n"))
    schedules.layer_norm(sch, "out", threads=2)
    run = build(sch)["main"]
    for m, n in ((1, 1), (4, 5), (3, 43)):
        check_layer_norm(run, m, n)


def test_layer_norm():
    sch = Schedule(layer_norm(6, 40))
    schedules.layer_norm(sch, "out", threads=1)
    check_layer_norm(build(sch)["main"], 6, 40)


def check_layer_norm(run, m, n):
    x, g = RNG.uniform(-1, 1, (m, n, 3)).astype("float32"), RNG.uniform(-1, 1, (n, 3)).astype("float32")
    y = np.full_like(x, 99)
    run(x, g, y)
    wide = 2 * x.astype(np.float64)
    wide -= wide.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(y, wide / np.sqrt((wide**2).sum((1, 2), keepdims=True) + 1) * g, rtol=1e-4, atol=1e-5)


def test_inputs_of_a_row_are_below_its_loop():
    sch = Schedule(layer_norm(6, 40))
    schedules.layer_norm(sch, "out", threads=1)
    row = sch.get_loops("out")[0]
    assert [sch.get_loops(b)[0] for b in ("twice", "total_update", "mean", "spread_update")] == [row] * 4


@pytest.mark.parametrize(("shape", "together"), [((4096, 15), 8), ((4096, 1000), 1), ((7, 15), 1), ((333, 64), 8)])
def test_short_rows_are_handled_together(shape, together):
    sch = Schedule(softmax(shape))
    schedules.softmax(sch, "out", threads=1, target=AVX2)
    count = {sch.get(x).extent for x in sch.get_loops("total")[:-1]}
    assert count == ({-(-shape[0] // 8), 8} if together > 1 else {shape[0], 1})


@pytest.mark.parametrize("rows", [32, 33, 127])
def test_rows_that_groups_do_not_divide(rows):
    assert check_softmax((rows, 15), threads=2, target=AVX2).verify()


def test_axes_of_a_row_become_one_loop_if_the_last_is_short():
    sch = Schedule(layer_norm(6, 40))
    schedules.layer_norm(sch, "out", threads=1)
    assert sch.get(sch.get_loops("spread_update")[-1]).extent == 120
    assert sch.verify()


def test_the_sums_of_a_group_are_computed_once_in_place_and_two_of_their_axes_are_one_loop():
    x = te.placeholder((1, 6, 5, 20), name="x")
    sch = Schedule(te.create_prim_func([x, topi.nn.group_norm(x, None, None, 2)]))
    schedules.layer_norm(sch, "T_group_norm", threads=1)
    row, *_, lane = sch.get_loops("T_group_norm_sum_update")
    assert sch.get(row).extent == 2 and sch.get(lane).extent == 100
    assert "T_group_split" not in sch.mod.script()
    assert sch.verify()


def test_axes_of_a_row_stay_apart_where_an_input_has_only_one_of_them():
    """An input by channel would become a gather."""
    x, g = te.placeholder((32, 6, 20), name="X"), te.placeholder((6,), name="G")
    j, k = te.reduce_axis((0, 6), name="j"), te.reduce_axis((0, 20), name="k")
    total = te.compute((32,), lambda i: te.sum(x[i, j, k], axis=(j, k)), name="total")
    out = te.compute((32, 6, 20), lambda i, j, k: x[i, j, k] * total[i] * g[j], name="out")
    sch = Schedule(te.create_prim_func([x, g, out]))
    schedules.rowwise(sch, "out", threads=1)
    assert sch.get(sch.get_loops("out")[-1]).extent == 20
    assert sch.get(sch.get_loops("total_update")[-1]).extent == 120
    assert sch.verify()


def test_short_sums_of_neighbours_are_in_vectors_across_them():
    x = te.placeholder((4, 64), "float32", name="X")
    sch = Schedule(te.create_prim_func([x, topi.cumsum(x, axis=1)]))
    schedules.rowwise(sch, "T_cumsum_1", threads=1)
    loops = [sch.get(loop) for loop in sch.get_loops("T_chunk_cumsum_update")]
    assert [(loop.extent, loop.kind) for loop in loops[-2:]] == [(16, "serial"), (16, "vectorized")]


def test_the_trace_is_the_schedule():
    sch, again = Schedule(softmax((40, 50))), Schedule(softmax((40, 50)))
    schedules.softmax(sch, "out", threads=2)
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()


def test_refusals():
    with pytest.raises(ScheduleError, match=r'block "out" depends on no reduction along its rows; use .*elementwise'):
        schedules.softmax(Schedule(chain((4, 4), (4,))), "out")
    sch = Schedule(softmax((4, 40)))
    sch.split(sch.get_loops("top")[1], [None, 8])
    with pytest.raises(ScheduleError, match='block "top" has 2 iters but 3 loops; schedule it before'):
        schedules.softmax(sch, "out")


def test_a_reduction_may_be_the_last_block():
    sch = Schedule(reduced((5, 50), (1,), before=lambda x: x * x))
    schedules.rowwise(sch, "C", threads=1)
    x, c = RNG.integers(-4, 5, (5, 50)).astype("float32"), np.zeros(5, "float32")
    build(sch)["main"](x, c)
    np.testing.assert_array_equal(c, (x * x).sum(1))
