"""What compilers of models write: constants, reshaped results, softmax, fills, sizes that are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness.schedules import quick_build
from harness.stock_linalg import ints

from tir_mlir import Schedule, from_linalg, schedules
from tir_mlir.dialect.diagnostics import ScriptError


def run(text: str, *arrays: Any) -> None:
    quick_build(from_linalg(text))["main"](*arrays)


# --- constants --------------------------------------------------------------------------------------------------------

WEIGHT = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = arith.constant dense<VALUE> : tensor<3x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
"""
ROWS = "[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.5]]"


def test_a_constant_is_a_parameter_with_its_values_beside():
    made = from_linalg(WEIGHT.replace("VALUE", ROWS))
    w = made.constants["main"]["w"]
    assert w.dtype == np.float32 and w.tolist() == eval(ROWS)
    x, y = ints(2, 3), np.empty((2, 4), np.float32)
    quick_build(made)["main"](x, w, y)
    np.testing.assert_array_equal(y, x @ w)


def test_a_resource_of_the_text_is_a_parameter_too():
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    text = WEIGHT.replace("dense<VALUE>", "dense_resource<w.0>") + (
        '{-# dialect_resources: { builtin: { w.0: "0x04000000' + data.tobytes().hex() + '" } } #-}'
    )
    np.testing.assert_array_equal(from_linalg(text).constants["main"]["w"], data)


def test_one_number_everywhere_is_no_parameter():
    made = from_linalg(WEIGHT.replace("VALUE", "0.5"))
    assert not made.constants
    x, y = ints(2, 3), np.empty((2, 4), np.float32)
    quick_build(made)["main"](x, y)
    np.testing.assert_array_equal(y, x @ np.full((3, 4), 0.5, np.float32))


def test_a_sum_that_starts_from_a_constant_tensor():
    """The constant is copied first: it is the init."""
    text = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %start = arith.constant dense<2.0> : tensor<2xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<2x3xf32>) outs(%start : tensor<2xf32>) dimensions = [1]
  return %r : tensor<2xf32>
}
"""
    assert "with T.init():" in from_linalg(text).script()
    x, y = ints(2, 3), np.empty(2, np.float32)
    run(text, x, y)
    np.testing.assert_array_equal(y, x.sum(1) + 2)


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "shape", "numpy"),
    [
        ("tensor.expand_shape %t [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>",
         (4, 2, 3), lambda t: t.reshape(4, 2, 3)),
        ("tensor.collapse_shape %t [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>", (24,), lambda t: t.reshape(24)),
        ("tensor.extract_slice %t[1, 0] [2, 3] [2, 2] : tensor<4x6xf32> to tensor<2x3xf32>", (2, 3),
         lambda t: t[1::2, ::2]),
    ],
)  # fmt: skip
def test_a_reshaped_result(view, shape, numpy):
    type_ = f"tensor<{'x'.join(map(str, shape))}xf32>"
    text = f"""
func.func @main(%x: tensor<4x6xf32>) -> {type_} {{
  %e = tensor.empty() : tensor<4x6xf32>
  %t = linalg.exp ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = {view}
  return %r : {type_}
}}
"""
    x, y = ints(4, 6), np.empty(shape, np.float32)
    run(text, x, y)
    np.testing.assert_allclose(y, numpy(np.exp(x)), rtol=1e-6)


def test_a_reshaped_result_of_symbolic_size():
    text = """
func.func @main(%x: tensor<?x6xf32>, %n: index) -> tensor<?x2x3xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x6xf32>
  %e = tensor.empty(%d) : tensor<?x6xf32>
  %t = linalg.negf ins(%x : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %r = tensor.expand_shape %t [[0], [1, 2]] output_shape [%d, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
  return %r : tensor<?x2x3xf32>
}
"""
    x, y = ints(5, 6), np.empty((5, 2, 3), np.float32)
    run(text, x, 5, y)
    np.testing.assert_array_equal(y, -x.reshape(5, 2, 3))


# --- softmax ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "axis"), [((4, 5), 1), ((3, 4, 5), 1), (("?", 7), 1), ((7,), 0)])
def test_softmax(shape, axis):
    type_ = f"tensor<{'x'.join(map(str, shape))}xf32>"
    empty = "tensor.empty()" if "?" not in shape else "tensor.empty(%d)"
    text = f"""
func.func @main(%x: {type_}) -> {type_} {{
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : {type_}
  %e = {empty} : {type_}
  %r = linalg.softmax dimension({axis}) ins(%x : {type_}) outs(%e : {type_}) -> {type_}
  return %r : {type_}
}}
"""
    x = ints(*(3 if s == "?" else s for s in shape)) * 20
    y = np.empty_like(x)
    run(text, x, y)
    e = np.exp(x - x.max(axis, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis, keepdims=True), rtol=1e-6)


def test_a_softmax_of_integers_is_refused():
    text = (
        "func.func @main(%A: memref<4xi32>, %B: memref<4xi32>) {\n"
        "  linalg.softmax dimension(0) ins(%A : memref<4xi32>) outs(%B : memref<4xi32>)\n  return\n}"
    )
    with pytest.raises(ScriptError, match=r"linalg.softmax of i32: its elements are floats") as caught:
        from_linalg(text)
    assert caught.value.lineno == 2


# --- fills ------------------------------------------------------------------------------------------------------------

PRODUCT = """
func.func @main(%A: memref<16x8xf32>, %B: memref<8x16xf32>, %C: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<16x16xf32>)
  BETWEEN
  linalg.matmul ins(%A, %B : memref<16x8xf32>, memref<8x16xf32>) outs(%C : memref<16x16xf32>)
  return
}
"""


def test_a_filled_product_can_be_scheduled():
    sch = Schedule(from_linalg(PRODUCT.replace("BETWEEN", "")))
    schedules.gemm(sch, sch.get_block("matmul"))
    assert sch.verify()


def test_a_fill_by_a_number_that_is_a_parameter():
    text = """
func.func @main(%x: memref<3x4xf32>, %start: f32, %y: memref<3xf32>) {
  linalg.fill ins(%start : f32) outs(%y : memref<3xf32>)
  linalg.reduce {arith.addf} ins(%x : memref<3x4xf32>) outs(%y : memref<3xf32>) dimensions = [1]
  return
}
"""
    assert "y[v0] = start" in from_linalg(text).script().partition("with T.init():")[2]
    x, y = ints(3, 4), np.empty(3, np.float32)
    run(text, x, 2.5, y)
    np.testing.assert_array_equal(y, x.sum(1) + np.float32(2.5))


@pytest.mark.parametrize(
    "between",
    [
        "linalg.exp ins(%C : memref<16x16xf32>) outs(%C : memref<16x16xf32>)",
        "%v = memref.subview %C[0, 0] [16, 8] [1, 1] : memref<16x16xf32> to memref<16x8xf32, strided<[16, 1]>>\n"
        "  memref.copy %A, %v : memref<16x8xf32> to memref<16x8xf32, strided<[16, 1]>>",
    ],
)
def test_a_fill_stays_if_the_result_is_used_in_between(between):
    text = PRODUCT.replace("BETWEEN", between)
    assert "T.init" not in from_linalg(text).script()
    a, b, c = ints(16, 8), ints(8, 16), np.empty((16, 16), np.float32)
    run(text, a, b, c)
    start = np.ones((16, 16), np.float32) if "exp" in between else np.pad(a, ((0, 0), (0, 8)))
    np.testing.assert_array_equal(c, start + a @ b)


def test_a_fill_stays_if_the_reduction_reads_its_result():
    text = """
func.func @main(%C: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<4x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%C : memref<4x4xf32>) outs(%C : memref<4x4xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  }
  return
}
"""
    try:
        assert "T.init" not in from_linalg(text).script()
    except ScriptError as error:  # its iterations depend on each other
        assert "v0" in str(error)


def test_a_sum_that_may_be_empty_keeps_its_fill():
    text = """
func.func @main(%x: memref<3x?xf32>, %y: memref<3xf32>) {
  %zero = arith.constant 7.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<3xf32>)
  linalg.reduce {arith.addf} ins(%x : memref<3x?xf32>) outs(%y : memref<3xf32>) dimensions = [1]
  return
}
"""
    assert "T.init" not in from_linalg(text).script()
    y = np.empty(3, np.float32)
    run(text, np.empty((3, 0), np.float32), y)
    assert y.tolist() == [7, 7, 7]


# --- sizes ------------------------------------------------------------------------------------------------------------


def test_an_assertion_makes_sizes_equal():
    text = """
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %m = tensor.dim %y, %c0 : tensor<?x3xf32>
  %a = arith.index_cast %n : index to i64
  %b = arith.index_cast %m : index to i64
  %same = arith.cmpi eq, %a, %b : i64
  cf.assert %same, "mismatched size for broadcast"
  %e = tensor.empty(%m) : tensor<?x3xf32>
  %r = linalg.exp ins(%x : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
    made = from_linalg(text)
    assert made.script().count("_buffer(var_") == made.script().count(", (n, 3))") == 3
    x, y, z = ints(5, 3), ints(5, 3), np.empty((5, 3), np.float32)
    quick_build(made)["main"](x, y, z)
    np.testing.assert_allclose(z, np.exp(x), rtol=1e-6)


@pytest.mark.parametrize("index", ["index", "i64"])
def test_a_reshape_to_computed_sizes(index):
    cast = "" if index == "index" else "%k = arith.index_cast %n : index to i64"
    n, four = ("%n", "%c4") if index == "index" else ("%k", "%d4")
    text = f"""
func.func @main(%x: tensor<?x12xf32>) -> tensor<?x3x4xf32> {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d4 = arith.constant 4 : i64
  %c3 = arith.constant 3 : {index}
  %n = tensor.dim %x, %c0 : tensor<?x12xf32>
  {cast}
  %shape = tensor.from_elements {n}, %c3, {four} : tensor<3x{index}>
  %r = tensor.reshape %x(%shape) : (tensor<?x12xf32>, tensor<3x{index}>) -> tensor<?x3x4xf32>
  return %r : tensor<?x3x4xf32>
}}
"""
    x, y = ints(5, 12), np.empty((5, 3, 4), np.float32)
    run(text, x, y)
    np.testing.assert_array_equal(y, x.reshape(5, 3, 4))


def test_a_reshape_to_a_shape_from_elsewhere_is_refused():
    text = """
func.func @main(%x: memref<?xf32>, %shape: memref<2xi32>, %y: memref<?x?xf32>) {
  %r = memref.reshape %x(%shape) : (memref<?xf32>, memref<2xi32>) -> memref<?x?xf32>
  memref.copy %r, %y : memref<?x?xf32> to memref<?x?xf32>
  return
}
"""
    with pytest.raises(ScriptError, match=r"memref.reshape cannot be .* values of tensor.from_elements") as caught:
        from_linalg(text)
    assert caught.value.lineno == 3


# --- powers -----------------------------------------------------------------------------------------------------------

POWER = """
func.func @main(%x: memref<5xf32>, %n: i32) {
  %c = arith.constant NUMBER : i32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<5xf32>) {
  ^bb0(%a: f32):
    %r = math.fpowi %a, EXPONENT : f32, i32
    linalg.yield %r : f32
  }
  return
}
"""


@pytest.mark.parametrize("number", [0, 1, 3, 6, -2])
def test_powers_by_a_known_integer(number):
    x = np.array([-2, -1, 0.5, 1, 3], np.float32)
    wanted = x**number
    run(POWER.replace("NUMBER", str(number)).replace("EXPONENT", "%c"), x, 0)
    np.testing.assert_allclose(x, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("exponent", "number", "message"),
    [("%n", 3, "is not a constant; fix: math.powf"), ("%c", 65, "with the exponent 65; fix")],
)
def test_other_powers_are_refused(exponent, number, message):
    with pytest.raises(ScriptError, match=message) as caught:
        from_linalg(POWER.replace("NUMBER", str(number)).replace("EXPONENT", exponent))
    assert caught.value.lineno == 6
