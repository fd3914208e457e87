"""schedules.prepack: weights in the panels that products and convolutions read."""

from dataclasses import replace

import numpy as np
import pytest
from programs.layers import chain, dense

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.dialect.diagnostics import ArgumentError, ScheduleError
from tir_mlir.prediction.thread_shares import parallel_regions
from tir_mlir.target import NAMES, Target

RNG = np.random.default_rng(3)
SMALL = Target(vector_bits=128, registers=16, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
WIDE = Target(vector_bits=256, registers=32, l1=1 << 10, l2=8 << 10, l3=16 << 10, cores=2)


def numbers(*shape):
    return RNG.integers(-4, 5, shape).astype("float32")


def prepacked(program, target=WIDE, threads=1, weights=("W",)):
    """The packed program, scheduled, and its layouts."""
    sch = Schedule(program)
    layouts = schedules.prepack(sch, "main", weights, target, threads)
    packed = Schedule(sch.mod)
    schedules.auto(packed, target, threads)
    assert packed.verify()
    return packed, layouts


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.parametrize(("turned", "threads"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("columns", [37, 96])
@pytest.mark.parametrize("rows", [4, 25])
def test_a_product(rows, columns, turned, threads, target):
    sch, layouts = prepacked(dense(rows, columns, 50, ["bias"], turned), target, threads)
    x, w, b, y = numbers(rows, 50), numbers(columns, 50), numbers(columns), np.empty((rows, columns), "float32")
    panels = layouts["W"].apply(w if turned else w.T)
    assert panels.shape == layouts["W"].shape and panels.ctypes.data % 64 == 0
    assert "W_global" not in sch.mod.script()
    build(sch)(x, panels, b, y)
    np.testing.assert_array_equal(y, x @ w.T + b)


def test_what_is_after_the_last_column_is_zero():
    (layout,) = prepacked(dense(8, 37, 5))[1].values()
    packed = layout.apply(numbers(37, 5))
    assert packed.shape == (-(-37 // layout.width), 5, layout.width)
    assert not packed[-1, :, 37 % layout.width :].any()


def test_a_long_sum_in_passes():
    sch, layouts = prepacked(dense(12, 20, 400, ["bias"]))
    x, w, b, y = numbers(12, 400), numbers(20, 400), numbers(20), np.empty((12, 20), "float32")
    build(sch)(x, layouts["W"].apply(w), b, y)
    np.testing.assert_array_equal(y, x @ w.T + b)


@pytest.mark.parametrize(("rows", "l3", "passes"), [(13, 16 << 10, 1), (96, 2 << 20, 1), (96, 16 << 10, 10)])
def test_few_registers_sum_whole_panels_where_the_left_operand_is_near(rows, l3, passes):
    """L1 holds a tenth of a panel, L2 all of it. A left operand that comes from memory is read a block at a time."""
    sch, layouts = prepacked(dense(rows, 160, 400), replace(SMALL, l2=64 << 10, l3=l3))
    assert ("dense_rf" in sch.mod.script()) == (passes > 1)
    x, w, y = numbers(rows, 400), numbers(160, 400), np.empty((rows, 160), "float32")
    build(sch)(x, layouts["W"].apply(w), y)
    np.testing.assert_array_equal(y, x @ w.T)


@pytest.mark.parametrize("threads", [1, 2])
def test_few_registers_sum_whole_panels_for_any_number_of_rows(threads):
    """Each panel reads the rows of a block. Its loop is that of threads, once for each block."""
    sch, layouts = prepacked(dense(te.var("n"), 160, 400, ["bias"]), replace(SMALL, l2=64 << 10), threads)
    assert "_rf" not in sch.mod.script()
    lib = build(sch)
    w, b = numbers(160, 400), numbers(160)
    for rows in (1, 13, 150):
        x, y = numbers(rows, 400), np.empty((rows, 160), "float32")
        lib(x, layouts["W"].apply(w), b, y)
        np.testing.assert_array_equal(y, x @ w.T + b)


def test_threads_share_the_panels_of_few_rows():
    """Sixteen rows are three tiles: too few for four threads."""
    sch, _ = prepacked(dense(16, 160, 400), replace(SMALL, l2=64 << 10, l3=2 << 20, cores=4), threads=4)
    assert [region.iterations for region in parallel_regions(sch.mod.mlir)] == [20]


def test_threads_share_the_panels_of_any_number_of_rows():
    """Of few rows, a share of some tiles is all."""
    sch, layouts = prepacked(dense(te.var("n"), 192, 70), WIDE, threads=2)
    (region,) = parallel_regions(sch.mod.mlir)
    assert region.iterations == 192 // layouts["W"].apply(numbers(192, 70)).shape[-1]
    lib, w = build(sch), numbers(192, 70)
    for rows in (1, 15, 16, 17, 127):
        x, y = numbers(rows, 70), np.empty((rows, 192), "float32")
        lib(x, layouts["W"].apply(w), y)
        np.testing.assert_array_equal(y, x @ w.T)


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.parametrize("rows", [1, 3])
def test_few_rows_read_the_panels_as_one_stream(rows, target):
    """Nothing is read twice: the sum is in one pass, however long, and its vectors are what the loop over it reads."""
    sch, layouts = prepacked(dense(rows, 70, 400, ["bias"]), target)
    assert not any("_rf" in sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root")))
    x, w, b, y = numbers(rows, 400), numbers(70, 400), numbers(70), np.empty((rows, 70), "float32")
    build(sch)(x, layouts["W"].apply(w), b, y)
    np.testing.assert_array_equal(y, x @ w.T + b)


def conv(order, size=7, channels=5, filters=20, window=3):
    """A convolution of an NHWC image with a weight in some order of axes, and a bias."""
    extents = {"o": filters, "c": channels, "y": window, "x": window}
    image = te.placeholder((1, size, size, channels), name="X")
    w = te.placeholder([extents[a] for a in order], name="W")
    r, s, c = (te.reduce_axis((0, extents[a]), name=a) for a in "yxc")
    out = size - window + 1
    y = te.compute(
        (1, out, out, filters),
        lambda n, h, v, o: te.sum(
            image[n, h + r, v + s, c] * w[tuple({"o": o, "c": c, "y": r, "x": s}[a] for a in order)], axis=[r, s, c]
        ),
        name="conv",
    )
    y, more = chain(y, ["bias"])
    return te.create_prim_func([image, w, *more, y])


@pytest.mark.parametrize("order", ["ocyx", "yxco"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_convolution(order, threads):
    sch, layouts = prepacked(conv(order), threads=threads)
    x, w, b, y = numbers(1, 7, 7, 5), numbers(20, 5, 3, 3), numbers(20), np.empty((1, 5, 5, 20), "float32")
    given = w.transpose(["ocyx".index(a) for a in order])
    assert "W_global" not in sch.mod.script()
    build(sch)(x, layouts["W"].apply(given), b, y)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    np.testing.assert_array_equal(y, np.einsum("nhwcyx,ocyx->nhwo", windows, w) + b)


@pytest.mark.parametrize(("channels", "passes"), [(5, False), (40, True)])
def test_the_sum_of_a_panel_in_l2_is_whole(channels, passes):
    sch, layouts = prepacked(conv("ocyx", channels=channels))
    names = {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}
    assert any("_rf" in name for name in names) is passes
    x, w, b, y = (
        numbers(1, 7, 7, channels),
        numbers(20, channels, 3, 3),
        numbers(20),
        np.empty((1, 5, 5, 20), "float32"),
    )
    build(sch)(x, layouts["W"].apply(w), b, y)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    np.testing.assert_array_equal(y, np.einsum("nhwcyx,ocyx->nhwo", windows, w) + b)


def test_a_batch_of_one():
    """[1, rows, depth] @ [columns, depth]^T: the axis of extent 1 is a loop around the product."""
    x, w = te.placeholder((1, 24, 40), name="X"), te.placeholder((32, 40), name="W")
    k = te.reduce_axis((0, 40), name="k")
    y = te.compute((1, 24, 32), lambda b, i, j: te.sum(x[b, i, k] * w[j, k], axis=k), name="dense")
    sch, layouts = prepacked(te.create_prim_func([x, w, y]))
    a, v, out = numbers(1, 24, 40), numbers(32, 40), np.empty((1, 24, 32), "float32")
    build(sch)(a, layouts["W"].apply(v), out)
    np.testing.assert_array_equal(out, a @ v.T)


@pytest.mark.parametrize(
    ("program", "weights"),
    [
        (dense(1, 20, 50), ["W"]),  # each weight is used once, and the columns are few
        (dense(20, 37, 50, ["bias"]), ["B", "X"]),  # no operand of the product, and its rows
    ],
)
def test_panels_of_no_use(program, weights):
    sch = Schedule(program)
    before = sch.mod.script()
    assert schedules.prepack(sch, "main", weights, WIDE) == {} and sch.mod.script() == before


def test_a_weight_of_two_products_stays():
    x, w = te.placeholder((20, 30), name="X"), te.placeholder((30, 30), name="W")
    k, n = te.reduce_axis((0, 30), name="k"), te.reduce_axis((0, 30), name="n")
    y = te.compute((20, 30), lambda i, j: te.sum(x[i, k] * w[j, k], axis=k), name="Y")
    z = te.compute((20, 30), lambda i, j: te.sum(y[i, n] * w[j, n], axis=n), name="Z")
    assert schedules.prepack(Schedule(te.create_prim_func([x, w, z])), "main", ["W"], WIDE) == {}


def test_refusals():
    sch = Schedule(dense(8, 37, 5))
    with pytest.raises(ScheduleError, match=r'"V" is not a parameter of main; it has W, X, dense'):
        schedules.prepack(sch, "main", ["V"], WIDE)
    layout = schedules.prepack(sch, "main", ["W"], WIDE)["W"]
    with pytest.raises(ArgumentError, match=r"panels of W: expected float32 of shape \(37, 5\), got float32 of shape"):
        layout.apply(numbers(5, 37))
    with pytest.raises(ArgumentError, match="got float64 of shape"):
        layout.apply(numbers(37, 5).astype("float64"))


def test_a_convolution_in_groups_has_a_panel_for_each():
    image, weight = te.placeholder((1, 6, 6, 32), name="X"), te.placeholder((32, 8, 3, 3), name="W")
    y = topi.nn.conv2d(image, weight, 1, 1, 1, groups=4, data_layout="NHWC", kernel_layout="OIHW")
    sch, layouts = prepacked(te.create_prim_func([image, weight, y]))
    assert (layouts["W"].width, layouts["W"].along) == (8, 0)
    x, w, found, wanted = numbers(1, 6, 6, 32), numbers(32, 8, 3, 3), *np.empty((2, 1, 6, 6, 32), "float32")
    build(sch)(x, layouts["W"].apply(w), found)
    build(te.create_prim_func([image, weight, y]))(x, w, wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("cpu", "columns", "panels"), [("sapphire_rapids", 512, 4), ("sapphire_rapids", 384, 3), ("zen4", 512, 1)]
)
def test_one_row_reads_as_many_panels_at_once_as_the_core_reads_memory_by(cpu, columns, panels):
    target = replace(NAMES[cpu], l2=64 << 10)
    sch, layouts = prepacked(dense(1, columns, 100, ["bias"]), target)
    assert layouts["W"].width * panels * sch.get(sch.get_loops("dense_update")[0]).extent == columns
