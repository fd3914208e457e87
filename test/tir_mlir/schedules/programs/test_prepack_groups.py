"""schedules.prepack for dot-product instructions: panels of groups of adjacent terms."""

import ml_dtypes
import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.errors import ArgumentError
from tir_mlir.prediction.thread_shares import parallel_regions
from tir_mlir.schedules import WeightPanels
from tir_mlir.target import named

ZEN4 = named("zen4")
RNG = np.random.default_rng(5)
NUMBERS = {"int16": np.int16, "bfloat16": ml_dtypes.bfloat16}


def dense(rows, columns, depth, turned=False, dtype="bfloat16", bias=False):
    x, w = (
        te.placeholder((rows, depth), dtype, name="X"),
        te.placeholder((depth, columns) if turned else (columns, depth), dtype, name="W"),
    )
    sums = "int32" if "int" in dtype else "float32"
    y = topi.matmul(x, w, transp_b=not turned, out_dtype=sums)
    return te.create_prim_func([x, w, topi.nn.relu(y) if bias else y])


def prepacked(program):
    sch = Schedule(program)
    return sch, schedules.prepack(sch, "main", ["W"], ZEN4, 1)


@pytest.mark.parametrize(("rows", "turned", "bias"), [(4, False, True), (21, True, False), (128, False, False)])
def test_a_product_of_bfloat16(rows, turned, bias):
    sch, layouts = prepacked(dense(rows, 96, 34, turned, bias=bias))
    made = layouts["W"]
    assert made.shape == (96 // made.width, 17, made.width, 2)
    packed = Schedule(sch.mod)
    assert schedules.auto(packed, ZEN4, 1)["T_matmul"] == "gemm"
    text = packed.mod.script()
    assert "dot_bfloat16" in text and "W_global" not in text
    assert packed.verify()


@pytest.mark.parametrize(("target", "dtype"), [("zen4", "bfloat16"), ("avx2", "int16")])
def test_threads_share_the_panels_of_any_number_of_rows(target, dtype):
    """Of few rows, a block is all."""
    sch = Schedule(dense(te.var("n"), 512, 1024, dtype=dtype))
    made = schedules.prepack(sch, "main", ["W"], target, 2)["W"]
    schedules.auto(sch, target, 2)
    assert parallel_regions(sch.mod.mlir)[-1].iterations == 512 // made.width
    if named(target).as_cpu().runs_here:
        lib, w = build(sch), RNG.integers(-4, 5, (512, 1024)).astype(NUMBERS[dtype])
        for rows in (1, 15, 17, 127):
            x = RNG.integers(-4, 5, (rows, 1024)).astype(NUMBERS[dtype])
            y = np.empty((rows, 512), "int32" if dtype == "int16" else "float32")
            lib(x, made.apply(w), y)
            np.testing.assert_array_equal(y, x.astype("float32") @ w.astype("float32").T)


@pytest.mark.parametrize(("dtype", "instruction"), [("int8", "smmla"), ("bfloat16", "bfmmla")])
def test_a_product_of_rows_in_pairs(dtype, instruction):
    sch, cpu = Schedule(dense(21, 96, 40, dtype=dtype, bias=True)), named("neon_i8mm")
    made = schedules.prepack(sch, "main", ["W"], cpu, 1)["W"]
    assert made.shape[-1] == (8 if dtype == "int8" else 4)
    packed = Schedule(sch.mod)
    assert schedules.auto(packed, cpu, 1)["T_matmul"] == "gemm"
    text = packed.mod.script()
    assert instruction in text and "W_global" not in text
    assert packed.verify()


def test_panels_of_groups_of_an_array():
    weight = np.arange(8 * 6).reshape(8, 6).astype("uint16")
    made = WeightPanels("W", (8, 6), "bfloat16", 0, (1,), 4, 2)
    packed = made.apply(weight)
    assert packed.shape == (2, 3, 4, 2)
    assert all(packed[n // 4, k // 2, n % 4, k % 2] == weight[n, k] for n in range(8) for k in range(6))
    turned = WeightPanels("W", (6, 8), "bfloat16", 1, (0,), 4, 2)
    np.testing.assert_array_equal(turned.apply(weight.T), packed)
    with pytest.raises(ArgumentError, match="expected bfloat16 of shape"):
        made.apply(weight.T)


@pytest.mark.parametrize("program", [
    dense(3, 96, 34), dense(16, 90, 34), dense(16, 96, 33),
], ids=["few rows", "columns that fill no vectors", "an odd sum"])  # fmt: skip
def test_where_groups_are_of_no_use_the_weight_stays(program):
    assert prepacked(program)[1] == {}


@pytest.mark.parametrize("threads", [1, 2])
def test_each_product_of_a_batch_has_panels(threads):
    x, w = te.placeholder((4, 5, 34), "int16", name="X"), te.placeholder((4, 34, 32), "int16", name="W")
    program = te.create_prim_func([x, w, topi.matmul(x, w, out_dtype="int32")])
    sch = Schedule(program)
    made = schedules.prepack(sch, "main", ["W"], "avx2", threads)["W"]
    assert made.shape == (4, 32 // made.width, 17, made.width, 2)
    assert schedules.auto(sch, "avx2", threads)["T_matmul"] == "gemm"
    text = sch.mod.script()
    assert "dot_int16" in text and "W_global" not in text and sch.verify()
    left, right = RNG.integers(-99, 99, (4, 5, 34)).astype("int16"), RNG.integers(-99, 99, (4, 34, 32)).astype("int16")
    if named("avx2").as_cpu().runs_here:
        found = np.empty((4, 5, 32), "int32")
        build(sch)(left, made.apply(right), found)
        np.testing.assert_array_equal(found, left.astype("int32") @ right)


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_bytes_are_widened_in_registers_where_products_are_of_pairs(target):
    x, w = te.placeholder((21, 34), "uint8", name="X"), te.placeholder((96, 34), "int8", name="W")
    sch = Schedule(te.create_prim_func([x, w, topi.matmul(x, w, transp_b=True, out_dtype="int32")]))
    made = schedules.prepack(sch, "main", ["W"], target, 1)["W"]
    assert (made.dtype, made.shape) == ("int8", (96 // made.width, 17, made.width, 2))
    assert schedules.auto(sch, target, 1)["T_matmul"] == "gemm"
    assert "dot_int16_int8" in sch.mod.script() and sch.verify()
    if not named(target).as_cpu().runs_here:
        return
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (21, 34)).astype("uint8"), rng.integers(-128, 128, (96, 34)).astype("int8")
    c = np.empty((21, 96), "int32")
    build(sch, target=target)["main"](a, made.apply(b), c)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.T.astype("int32"))


@pytest.mark.parametrize(
    ("left", "target", "names"),
    [
        ("int8", "zen4", ("dot_uint8_int8_16x4", "sum_uint8_int8_16x4")),
        ("uint8", "neoverse_n1", ("dot_int8_4x4_aarch64_neon_sdot", "sum_int8_4x4_aarch64_neon_sdot")),
    ],
)
def test_rows_of_the_other_sign_are_shifted_for_packed_weights(left, target, names):
    x, w = te.placeholder((21, 36), left, name="X"), te.placeholder((96, 36), "int8", name="W")
    sch = Schedule(te.create_prim_func([x, w, topi.matmul(x, w, transp_b=True, out_dtype="int32")]))
    assert schedules.prepack(sch, "main", ["W"], target, 1)["W"].group == 4
    schedules.auto(sch, target, 1)
    text = sch.mod.script()
    assert all(name in text for name in names) and "W_global" not in text and sch.verify()


def widened_convolution(channels, dtype="int8"):
    x, w = te.placeholder((1, 5, 4, 16), name="X"), te.placeholder((channels, 16, 3, 3), dtype, name="W")
    y = topi.nn.conv2d(x, topi.astype(w, "float32"), 1, 1, 1, "NHWC", "OIHW")
    return te.create_prim_func([x, w, y])


def test_a_weight_that_is_widened_for_a_convolution_has_panels():
    sch, layouts = prepacked(widened_convolution(64))
    made = layouts["W"]
    assert (made.dtype, made.source[0] % made.width, made.shape[-1]) == ("int8", 0, made.width)
    packed = Schedule(sch.mod)
    schedules.auto(packed, ZEN4, 1)
    assert packed.verify()


@pytest.mark.parametrize("program", [
    widened_convolution(130),
    te.create_prim_func([x := te.placeholder((1, 64), name="X"), w := te.placeholder((512, 64), "int8", name="W"),
                         topi.nn.dense(x, topi.astype(w, "float32"))]),
], ids=["a last panel that is not full", "a product"])  # fmt: skip
def test_other_weights_that_are_widened_stay(program):
    assert prepacked(program)[1] == {}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_convolution_of_short_floats_has_panels(dtype):
    x, w = te.placeholder((1, 6, 5, 8), dtype, name="X"), te.placeholder((40, 8, 3, 3), dtype, name="W")
    sch, layouts = prepacked(te.create_prim_func([x, w, topi.nn.conv2d(x, w, 1, 1, 1, "NHWC", "OIHW")]))
    made = layouts["W"]
    assert (made.dtype, made.shape) == (dtype, (-(-40 // made.width), 3, 3, 8, made.width))
    packed = Schedule(sch.mod)
    assert schedules.auto(packed, ZEN4, 1)["conv2d_nhwc"] == "conv2d"
    assert packed.verify()


@pytest.mark.parametrize(("rows", "asks"), [(16, True), (600, False)])
def test_panels_that_few_rows_read_are_prefetched(rows, asks):
    x, w = te.placeholder((rows, 288), "uint8", name="X"), te.placeholder((512, 288), "int8", name="W")
    sch = Schedule(te.create_prim_func([x, w, topi.matmul(x, w, transp_b=True, out_dtype="int32")]))
    schedules.prepack(sch, "main", ["W"], ZEN4, 1)
    schedules.auto(sch, ZEN4, 1)
    assert ('"prefetch": {"W": "i1_0"}' in sch.mod.script()) == asks
