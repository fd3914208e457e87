"""Import of `linalg.generic`: indices, several outputs, views, allocations, tensors, names."""

from __future__ import annotations

import numpy as np
from harness.schedules import quick_build
from harness.stock_linalg import ints
from programs.parsed import parse

from tir_mlir import Schedule, from_linalg
from tir_mlir.script import IRModule
from tir_mlir.script.structural_equal import difference

EACH = "affine_map<(i, j) -> (i, j)>"


def run(text: str, *arrays) -> None:
    quick_build(from_linalg(text))["main"](*arrays)


def generic(maps: list[str], kinds: str, operands: str, body: str) -> str:
    words = ", ".join({"p": '"parallel"', "r": '"reduction"'}[k] for k in kinds)
    return (
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{words}]}} {operands} {{\n{body}\n}}"
    )


def func(params: str, *ops: str) -> str:
    return f"func.func @main({params}) {{\n" + "\n".join(ops) + "\n  return\n}"


def test_indices_are_data():
    body = """^bb0(%o: i64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ten = arith.constant 10 : index
      %r = arith.muli %i, %ten : index
      %s = arith.addi %r, %j : index
      %v = arith.index_cast %s : index to i64
      linalg.yield %v : i64"""
    text = func("%A: memref<?x?xi64>", generic([EACH], "pp", "outs(%A : memref<?x?xi64>)", body))
    a = np.empty((3, 5), np.int64)
    run(text, a)
    np.testing.assert_array_equal(a, np.add.outer(10 * np.arange(3), np.arange(5)))


def test_a_mask_by_compared_indices_and_a_scalar_parameter():
    body = """^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %c = arith.cmpi sgt, %i, %j : index
      %v = arith.select %c, %o, %x : f32
      linalg.yield %v : f32"""
    text = func("%A: memref<?x?xf32>, %x: f32", generic([EACH], "pp", "outs(%A : memref<?x?xf32>)", body))
    a = ints(5, 5)
    expected = np.where(np.tri(5, 5, -1, dtype=bool), a, np.float32(7))
    run(text, a, 7.0)
    np.testing.assert_array_equal(a, expected)


def test_argmax_keeps_two_results_in_step():
    """The running maximum is seen by the index: the reduction must stay in order, so its iter is opaque."""
    body = """^bb0(%a: f32, %m: f32, %k: i32):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %a, %m : f32
      %v = arith.maximumf %a, %m : f32
      %w = arith.select %c, %n, %k : i32
      linalg.yield %v, %w : f32, i32"""
    row = "affine_map<(i, j) -> (i)>"
    operands = "ins(%A : memref<?x?xf32>) outs(%M, %I : memref<?xf32>, memref<?xi32>)"
    text = func("%A: memref<?x?xf32>, %M: memref<?xf32>, %I: memref<?xi32>",
                generic([EACH, row, row], "pr", operands, body))  # fmt: skip
    a, m, at = ints(6, 17), np.full(6, -9, np.float32), np.full(6, -1, np.int32)
    assert "T.axis.opaque" in from_linalg(text).script()
    run(text, a, m, at)
    np.testing.assert_array_equal(m, a.max(1))
    np.testing.assert_array_equal(at, a.argmax(1))


def test_sum_and_sum_of_squares_are_two_reductions():
    body = """^bb0(%a: f32, %s: f32, %q: f32):
      %t = arith.addf %s, %a : f32
      %p = arith.mulf %a, %a : f32
      %u = arith.addf %q, %p : f32
      linalg.yield %t, %u : f32, f32"""
    row = "affine_map<(i, j) -> (i)>"
    operands = "ins(%A : memref<?x?xf32>) outs(%S, %Q : memref<?xf32>, memref<?xf32>)"
    text = func("%A: memref<?x?xf32>, %S: memref<?xf32>, %Q: memref<?xf32>",
                generic([EACH, row, row], "pr", operands, body))  # fmt: skip
    a, s, q = ints(6, 17), np.zeros(6, np.float32), np.zeros(6, np.float32)
    assert "T.axis.reduce" in from_linalg(text).script() or '"SR"' in from_linalg(text).script()
    run(text, a, s, q)
    np.testing.assert_array_equal(s, a.sum(1))
    np.testing.assert_array_equal(q, (a * a).sum(1))


def test_a_gather_by_a_table():
    body = """^bb0(%t: i32, %o: f32):
      %k = arith.index_cast %t : i32 to index
      %v = memref.load %A[%k] : memref<9xf32>
      linalg.yield %v : f32"""
    same = "affine_map<(i) -> (i)>"
    operands = "ins(%T : memref<?xi32>) outs(%B : memref<?xf32>)"
    text = func("%A: memref<9xf32>, %T: memref<?xi32>, %B: memref<?xf32>", generic([same, same], "p", operands, body))
    a, t, b = ints(9), np.array([8, 0, 3, 3], np.int32), np.zeros(4, np.float32)
    run(text, a, t, b)
    np.testing.assert_array_equal(b, a[t])


def test_affine_maps_that_are_no_permutations():
    """A diagonal, a strided read and a reversed one."""
    body = "^bb0(%a: f32, %b: f32, %c: f32, %o: f32):\n%s = arith.addf %a, %b : f32\n%t = arith.addf %s, %c : f32\n"
    body += "linalg.yield %t : f32"
    maps = ["affine_map<(i) -> (i, i)>", "affine_map<(i) -> (i * 2)>", "affine_map<(i) -> (3 - i)>"]
    operands = "ins(%A, %B, %C : memref<4x4xf32>, memref<8xf32>, memref<4xf32>) outs(%D : memref<4xf32>)"
    text = func("%A: memref<4x4xf32>, %B: memref<8xf32>, %C: memref<4xf32>, %D: memref<4xf32>",
                generic([*maps, "affine_map<(i) -> (i)>"], "p", operands, body))  # fmt: skip
    a, b, c, d = ints(4, 4), ints(8), ints(4), np.zeros(4, np.float32)
    run(text, a, b, c, d)
    np.testing.assert_array_equal(d, a.diagonal() + b[::2] + c[::-1])


def test_views_are_seen_through():
    text = """
func.func @main(%A: memref<8x12xf32>, %B: memref<3x4xf32>, %C: memref<2x6x12xf32>, %D: memref<12xf32>) {
  %s = memref.subview %A[1, 2] [3, 4] [2, 1] : memref<8x12xf32> to memref<3x4xf32, strided<[24, 1], offset: 14>>
  linalg.copy ins(%s : memref<3x4xf32, strided<[24, 1], offset: 14>>) outs(%B : memref<3x4xf32>)
  %t = memref.subview %C[1, 5, 0] [1, 1, 12] [1, 1, 1] : memref<2x6x12xf32> to memref<12xf32, strided<[1], offset: 132>>
  linalg.copy ins(%t : memref<12xf32, strided<[1], offset: 132>>) outs(%D : memref<12xf32>)
  %u = memref.collapse_shape %B [[0, 1]] : memref<3x4xf32> into memref<12xf32>
  linalg.add ins(%u, %D : memref<12xf32>, memref<12xf32>) outs(%D : memref<12xf32>)
  %v = memref.expand_shape %D [[0, 1]] output_shape [4, 3] : memref<12xf32> into memref<4x3xf32>
  %w = memref.transpose %v (i, j) -> (j, i) : memref<4x3xf32> to memref<3x4xf32, strided<[1, 3]>>
  linalg.copy ins(%w : memref<3x4xf32, strided<[1, 3]>>) outs(%B : memref<3x4xf32>)
  return
}
"""
    a, b, c, d = ints(8, 12), ints(3, 4), ints(2, 6, 12), ints(12)
    expected = a[1:6:2, 2:6].ravel() + c[1, 5]
    run(text, a, b, c, d)
    np.testing.assert_array_equal(d, expected)
    np.testing.assert_array_equal(b, expected.reshape(4, 3).T)


def test_a_loop_around_a_view_becomes_an_iter():
    text = """
func.func @main(%A: memref<8x?xf32>, %B: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c1 : memref<8x?xf32>
  affine.for %i = 0 to 8 {
    %r = memref.subview %A[%i, 0] [1, %n] [1, 1] : memref<8x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
        ins(%r : memref<?xf32, strided<[1], offset: ?>>) outs(%B : memref<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    }
    linalg.negf ins(%r : memref<?xf32, strided<[1], offset: ?>>) outs(%r : memref<?xf32, strided<[1], offset: ?>>)
  }
  return
}
"""
    a, b = ints(8, 5), ints(5)
    expected = b + a.sum(0), -a
    module = from_linalg(text)
    assert 'T.axis.remap("RS", [i, i0])' in module.script() and 'T.axis.remap("SS", [i, i0])' in module.script()
    quick_build(module)["main"](a, b)
    np.testing.assert_array_equal(b, expected[0])
    np.testing.assert_array_equal(a, expected[1])


TENSORS = """
func.func @main(%A: tensor<?x?xf32>, %B: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c0 : tensor<?x?xf32>
  %m = tensor.dim %B, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %C = linalg.matmul ins(%A, %B : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  %more = tensor.empty(%n, %m) : tensor<?x?xf32>
  %D = linalg.exp ins(%C : tensor<?x?xf32>) outs(%more : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %D : tensor<?x?xf32>
}
"""


def test_tensors_become_buffers_and_results_parameters():
    a, b = ints(5, 6) / 8, ints(6, 7) / 8
    out = np.empty((5, 7), np.float32)
    module = from_linalg(TENSORS)
    assert module["main"].script().count("T.handle") == 3
    quick_build(module)["main"](a, b, out)
    np.testing.assert_allclose(out, np.exp(a @ b), rtol=1e-5)


def test_a_padded_tensor():
    text = """
func.func @main(%A: tensor<4x5xf32>) -> tensor<7x7xf32> {
  %x = arith.constant 3.0 : f32
  %r = tensor.pad %A low[1, 0] high[2, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<4x5xf32> to tensor<7x7xf32>
  return %r : tensor<7x7xf32>
}
"""
    a, out = ints(4, 5), np.empty((7, 7), np.float32)
    run(text, a, out)
    np.testing.assert_array_equal(out, np.pad(a, ((1, 2), (0, 2)), constant_values=3))


def test_a_returned_parameter_is_written_in_place():
    text = """
func.func @main(%A: tensor<4xf32>, %B: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.add ins(%A, %B : tensor<4xf32>, tensor<4xf32>) outs(%B : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
    a, b = ints(4), ints(4, seed=1)
    expected = a + b
    run(text, a, b)
    np.testing.assert_array_equal(b, expected)


STRIDED = "strided<[?, ?], offset: ?>"


def test_unknown_strides_are_stride_variables():
    t = f"memref<?x?xf32, {STRIDED}>"
    text = func(f"%A: {t}, %B: memref<?x?xf32>", f"linalg.copy ins(%A : {t}) outs(%B : memref<?x?xf32>)")
    module = from_linalg(text)
    assert 'strides=("s_A0", "s_A1")' in module.script()
    a, b = ints(8, 10)[::2, 1::3], np.zeros((4, 3), np.float32)
    quick_build(module)["main"](a, b)
    np.testing.assert_array_equal(b, a)


def test_names_of_the_text_are_kept():
    text = """
func.func @main(%lhs: memref<4xf32>, %0: memref<4xf32>) {
  %tmp = memref.alloc() : memref<4xf32>
  linalg.exp ins(%lhs : memref<4xf32>) outs(%tmp : memref<4xf32>)
  linalg.exp ins(%tmp : memref<4xf32>) outs(%0 : memref<4xf32>)
  memref.dealloc %tmp : memref<4xf32>
  return
}
"""
    script = from_linalg(text).script()
    assert 'def main(lhs: T.Buffer((4,), "float32"), arg1: T.Buffer((4,), "float32"))' in script
    assert "tmp = T.alloc_buffer((4,))" in script
    assert 'T.block("exp")' in script and 'T.block("exp_1")' in script


def test_sources_of_every_kind_give_the_same_and_stay_as_they_are(tmp_path):
    path = tmp_path / "exp.mlir"
    text = func("%A: memref<?xf32>", "linalg.exp ins(%A : memref<?xf32>) outs(%A : memref<?xf32>)")
    path.write_text(text + text.replace("@main", "@other"))
    both = from_linalg(str(path))
    assert list(both) == ["main", "other"]
    only = IRModule.from_linalg(str(path), func="main")
    assert list(only) == ["main"]
    from mlir import ir

    from tir_mlir.dialect.ir import enter_context

    with enter_context():
        module = ir.Module.parse(text)
    before = str(module)
    for source in (module, IRModule(module)):
        made = from_linalg(source)
        assert difference(made.mlir, only.mlir, names=False) is None
        assert str(module) == before
    with ir.Context():
        foreign = ir.Module.parse(text)
        assert difference(from_linalg(foreign).mlir, only.mlir, names=False) is None


def test_it_schedules():
    product = "linalg.matmul ins(%A, %B : memref<?x64xf32>, memref<64x32xf32>) outs(%C : memref<?x32xf32>)"
    text = func("%A: memref<?x64xf32>, %B: memref<64x32xf32>, %C: memref<?x32xf32>", product)
    sch = Schedule(from_linalg(text))
    i, j, k = sch.get_loops("matmul")
    j_0, j_1 = sch.split(j, factors=[None, 16])
    sch.reorder(i, j_0, k, j_1)
    sch.vectorize(j_1)
    sch.parallel(i)
    assert difference(parse(sch.mod.script()).mlir, sch.mod.mlir) is None
    for n in (1, 15, 17):
        a, b, c = ints(n, 64), ints(64, 32), ints(n, 32)
        expected = c + a @ b
        quick_build(sch)["main"](a, b, c)
        np.testing.assert_array_equal(c, expected)
