"""schedules.conv2d: any layout, window, stride, padding and size gives NumPy's convolution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs.convolutions import Conv, convolved, program
from programs.reduction import row_sums

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.prediction.thread_shares import parallel_regions
from tir_mlir.script import tir as T
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
"""Caches so small that every level of tiles is there."""
RNG = np.random.default_rng(7)


def check(conv: Conv, layout: str = "NCHW", sizes: tuple[int, int] | None = None, **options) -> Schedule:
    """Schedule, build, compare; `sizes`: batch and channels where they are not numbers in the program."""
    sch = Schedule(program(conv, layout))
    schedules.conv2d(sch, "Y", **options)
    compare(build(sch)["main"], conv, layout, *(sizes or (conv.batch, conv.ci)))
    return sch


def compare(run, conv: Conv, layout: str, batch: int, channels: int) -> None:
    x = RNG.integers(-4, 5, (batch, channels, *conv.size)).astype(conv.dtype)
    w = RNG.integers(-4, 5, (conv.co, channels, *conv.kernel)).astype(conv.dtype)
    expected = convolved(x, w, conv)
    if layout == "NHWC":
        x, w, expected = (
            a.transpose(t).copy() for a, t in ((x, (0, 2, 3, 1)), (w, (2, 3, 1, 0)), (expected, (0, 2, 3, 1)))
        )
    y = np.full(expected.shape, 99, conv.dtype)
    run(x, w, y)
    np.testing.assert_array_equal(y, expected)


LAYERS = {
    "3x3": Conv(5, 7, (9, 9), pad=1),
    "stride": Conv(5, 7, (9, 11), stride=2, pad=1),
    "1x1": Conv(17, 15, (7, 7), (1, 1)),
    "1x1, stride": Conv(6, 9, (8, 8), (1, 1), stride=2),
    "dilation": Conv(3, 5, (12, 12), dilation=2, pad=2),
    "stride and dilation": Conv(1, 8, (16, 5), (2, 3), stride=3, pad=2, dilation=2),
    "7x7": Conv(3, 8, (15, 15), (7, 7), stride=2, pad=3),
    "one of all": Conv(1, 3, (5, 5), (1, 1), pad=2),
    "5x3": Conv(3, 5, (10, 8), (5, 3)),
    "images": Conv(4, 6, (6, 6), pad=1, batch=3),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", LAYERS)
def test_windows(name):
    check(LAYERS[name], target=SMALL, threads=1)


def test_a_window_of_one_has_no_loops():
    sch = Schedule(program(Conv(70, 15, (7, 7), (1, 1))))
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    assert "unroll(1)" not in sch.mod.script()
    assert "vectorized(1)" not in sch.mod.script()


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["3x3", "one of all", "1x1, stride", "images"])
def test_channels_last(name):
    check(LAYERS[name], "NHWC", target=SMALL, threads=1)


@pytest.mark.filterwarnings("error::tir_mlir.passes.lower.LoweringWarning")
@pytest.mark.parametrize("results", [3, 5, 6, 7])
def test_tiles_of_few_channels_fit_in_registers(results):
    check(Conv(17, results, (16, 16), pad=1), "NHWC", threads=1)


@pytest.mark.parametrize("size", [1, 15, 16, 17])
def test_ragged_sizes(size):
    check(Conv(size, size + 1, (size, 17), (1, 3), pad=1), target=None, threads=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_element_types(dtype):
    check(Conv(5, 7, (9, 9), pad=1, dtype=dtype), target=SMALL, threads=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_threads(layout):
    sch = check(Conv(24, 40, (20, 20), pad=1), layout, target=SMALL, threads=2)
    assert "T.parallel" in sch.mod.script()


@pytest.mark.parametrize(("batch", "size", "channels"), [(1, 15, 33), (2, 7, 127), (1, 17, 127)])
def test_threads_take_rows_once_for_all_passes(batch, size, channels):
    """In place of tiles of rows for each pass."""
    conv = Conv(33, channels, (size, size), pad=1, batch=batch)
    sch = check(conv, target=replace(SMALL, l3=1 << 20), threads=3)
    regions = parallel_regions(sch.mod.mlir)
    assert "Y_rf" in sch.mod.script() and [region.entries for region in regions][-2:] == [1, 1]


CACHES = replace(SMALL, vector_bits=256, registers=32, l1=16 << 10, l2=128 << 10, l3=1 << 20)


@pytest.mark.filterwarnings("ignore::tir_mlir.passes.lower.LoweringWarning")
@pytest.mark.parametrize(
    ("channels", "batch", "threads", "shares"), [(64, 1, 9, 9), (40, 2, 4, 4), (96, 1, 8, 8), (17, 1, 8, 6)]
)
def test_threads_share_pieces_of_rows_and_columns(channels, batch, threads, shares):
    """Of an image of 12 rows: 3 times 4 of them with 3 pieces of channels, or 4 times 3, or 6 times 2 with all."""
    sch = check(Conv(64, channels, (12, 12), pad=1, batch=batch), target=CACHES, threads=threads)
    *_, shared = parallel_regions(sch.mod.mlir)
    assert (shared.iterations, shared.entries) == (shares, batch)


def test_threads_start_once_where_blocks_nearly_fill_them():
    sch = Schedule(program(Conv(64, 64, (56, 56), pad=1)))
    schedules.conv2d(sch, "Y", target="zen4", threads=16)
    assert {region.entries for region in parallel_regions(sch.mod.mlir)} == {1}  # 14 blocks


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_sizes_known_when_it_runs(layout):
    conv = Conv("c", 9, (8, 8), pad=1, batch="n")
    sch = Schedule(program(conv, layout))
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    run = build(sch)["main"]
    for batch, channels in ((1, 1), (2, 17)):
        compare(run, conv, layout, batch, channels)


@pytest.mark.nightly
def test_the_trace_is_the_schedule():
    sch, again = (Schedule(program(LAYERS["stride"])) for _ in "12")
    schedules.conv2d(sch, "Y", target=SMALL, threads=2)
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.nightly
def test_weights_in_another_order():
    """IOHW, as transposed convolutions have them: the sum is not counted as one."""
    conv = Conv(6, 7, (9, 9))
    x = te.placeholder((1, 6, 9, 9), "float32", name="X")
    w = te.placeholder((6, 7, 3, 3), "float32", name="W")
    c, kh, kw = (te.reduce_axis((0, e), name=name) for e, name in zip((6, 3, 3), ("c", "kh", "kw"), strict=True))

    def point(n, o, i, j):
        return te.sum(x[n, c, i + kh, j + kw] * w[c, o, kh, kw], axis=[c, kh, kw])

    sch = Schedule(te.create_prim_func([x, w, te.compute((1, 7, 7, 7), point, name="Y")]))
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    data, weights = (RNG.integers(-4, 5, s).astype("float32") for s in ((1, 6, 9, 9), (6, 7, 3, 3)))
    y = np.empty((1, 7, 7, 7), "float32")
    build(sch)["main"](data, weights, y)
    np.testing.assert_array_equal(y, convolved(data, weights.transpose(1, 0, 2, 3), conv))


@pytest.mark.nightly
def test_three_dimensions():
    x = te.placeholder((1, 5, 4, 5, 6), "float32", name="X")
    w = te.placeholder((7, 5, 2, 2, 3), "float32", name="W")
    c, a, b, d = (te.reduce_axis((0, e), name=n) for e, n in zip((5, 2, 2, 3), "cabd", strict=True))

    def point(n, o, i, j, k):
        return te.sum(x[n, c, i + a, j + b, k + d] * w[o, c, a, b, d], axis=[c, a, b, d])

    sch = Schedule(te.create_prim_func([x, w, te.compute((1, 7, 3, 4, 4), point, name="Y")]))
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    data, weights = (RNG.integers(-4, 5, s).astype("float32") for s in ((1, 5, 4, 5, 6), (7, 5, 2, 2, 3)))
    y = np.empty((1, 7, 3, 4, 4), "float32")
    build(sch)["main"](data, weights, y)
    windows = np.lib.stride_tricks.sliding_window_view(data, (2, 2, 3), axis=(2, 3, 4))
    np.testing.assert_array_equal(y, np.einsum("ncijkabd,ocabd->noijk", windows, weights))


def test_depthwise():
    @T.prim_func
    def main(
        X: T.Buffer((1, 5, 11, 11), "float32"), W: T.Buffer((5, 3, 3), "float32"), Y: T.Buffer((1, 5, 9, 9), "float32")
    ):
        for n, c, h, w, kh, kw in T.grid(1, 5, 9, 9, 3, 3):
            with T.block("Y"):
                vn, vc, vh, vw, vkh, vkw = T.axis.remap("SSSSRR", [n, c, h, w, kh, kw])
                with T.init():
                    Y[vn, vc, vh, vw] = 0.0
                Y[vn, vc, vh, vw] += X[vn, vc, vh + vkh, vw + vkw] * W[vc, vkh, vkw]

    sch = Schedule(main)
    schedules.conv2d(sch, "Y", target=SMALL, threads=2)
    x = RNG.integers(-4, 5, (1, 5, 11, 11)).astype("float32")
    w = RNG.integers(-4, 5, (5, 3, 3)).astype("float32")
    y = np.empty((1, 5, 9, 9), "float32")
    build(sch)["main"](x, w, y)
    np.testing.assert_array_equal(y, convolved(x, w[:, None], Conv(5, 5, (11, 11)), groups=5))


@pytest.mark.parametrize("kernel", [(1, 3), (3, 1)])
def test_depthwise_by_one_channel_a_group(kernel):
    """Weights with a dimension of extent 1, as deep learning frameworks have them."""
    x = te.placeholder((1, 5, 11, 11), "float32", name="X")
    w = te.placeholder((5, 1, *kernel), "float32", name="W")
    c, kh, kw = (te.reduce_axis((0, e), name=name) for e, name in zip((1, *kernel), ("c", "kh", "kw"), strict=True))
    conv = Conv(5, 5, (11, 11), kernel)

    def point(n, o, i, j):
        return te.sum(x[n, o + c, i + kh, j + kw] * w[o, c, kh, kw], axis=[c, kh, kw])

    sch = Schedule(te.create_prim_func([x, w, te.compute((1, 5, *conv.out), point, name="Y")]))
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    a, b = (RNG.integers(-4, 5, s).astype("float32") for s in ((1, 5, 11, 11), (5, 1, *kernel)))
    y = np.empty((1, 5, *conv.out), "float32")
    build(sch)["main"](a, b, y)
    np.testing.assert_array_equal(y, convolved(a, b, conv, groups=5))


def test_groups():
    @T.prim_func
    def main(
        X: T.Buffer((1, 6, 7, 7), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), Y: T.Buffer((1, 8, 5, 5), "float32")
    ):
        for n, o, h, w, c, kh, kw in T.grid(1, 8, 5, 5, 3, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vc, vkh, vkw = T.axis.remap("SSSSRRR", [n, o, h, w, c, kh, kw])
                with T.init():
                    Y[vn, vo, vh, vw] = 0.0
                Y[vn, vo, vh, vw] += X[vn, vo // 4 * 3 + vc, vh + vkh, vw + vkw] * W[vo, vc, vkh, vkw]

    sch = Schedule(main)
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    assert "X_global" in sch.mod.script()  # the patches of a group, packed as for a product
    x = RNG.integers(-4, 5, (1, 6, 7, 7)).astype("float32")
    w = RNG.integers(-4, 5, (8, 3, 3, 3)).astype("float32")
    y = np.empty((1, 8, 5, 5), "float32")
    build(sch)["main"](x, w, y)
    np.testing.assert_array_equal(y, convolved(x, w, Conv(6, 8, (7, 7)), groups=2))


def test_groups_whose_panels_are_not_full_in_passes():
    image, weights = te.placeholder((1, 3, 3, 192), name="X"), te.placeholder((20, 96), name="W")
    c = te.reduce_axis((0, 96), name="c")
    result = te.compute(
        (1, 3, 3, 20),
        lambda n, h, w, o: te.sum(image[n, h, w, o // 10 * 96 + c] * weights[o, c], axis=c),
        name="Y",
    )
    sch = Schedule(te.create_prim_func([image, weights, result]))
    schedules.conv2d(sch, "Y", target=SMALL, threads=1)
    assert "Y_rf" in sch.mod.script()  # each step is proven: what is computed stays


def test_no_convolution():
    with pytest.raises(ScheduleError, match='block "C" is not a convolution: it must have one output, two inputs'):
        schedules.conv2d(Schedule(row_sums(8, 8)), "C")


def test_a_block_that_writes_nothing_itself():
    sch = Schedule(row_sums(8, 8))
    sch.loop_partition(sch.get_loops("C")[0], [3, None])
    with pytest.raises(ScheduleError, match='block "root" is not a convolution: it must have one output, two inputs'):
        schedules.conv2d(sch, "root")


def test_padding_in_the_block_itself():
    x = te.placeholder((1, 3, 8, 8), "float32", name="X")
    w = te.placeholder((4, 3, 3, 3), "float32", name="W")
    c, kh, kw = (te.reduce_axis((0, 3), name=name) for name in ("c", "kh", "kw"))

    def point(n, o, i, j):
        row, column = i + kh - 1, j + kw - 1
        inside = te.all(row >= 0, row < 8, column >= 0, column < 8)
        return te.sum(te.if_then_else(inside, x[n, c, row, column], 0.0) * w[o, c, kh, kw], axis=[c, kh, kw])

    sch = Schedule(te.create_prim_func([x, w, te.compute((1, 4, 8, 8), point, name="Y")]))
    with pytest.raises(ScheduleError, match=r'block "Y" reads X .* move padding inside the block'):
        schedules.conv2d(sch, "Y")
