"""Invalid linalg programs through `from_linalg` and back."""

from __future__ import annotations

from random import Random

from fuzzing.inputs import corpus, mlir, texts
from fuzzing.inputs.judging import Fault, described, short, tried
from tir_mlir import from_linalg, to_linalg
from tir_mlir.dialect.diagnostics import ScriptError

MATMUL = """func.func @main(%A: memref<4x8xf32>, %B: memref<8x5xf32>, %C: memref<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<4x5xf32>)
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x5xf32>) outs(%C : memref<4x5xf32>)
  return
}
"""
GENERIC = """func.func @main(%A: memref<?x4xf32>, %B: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]} ins(%A : memref<?x4xf32>) outs(%B : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}
"""
VIEWS = """func.func @main(%A: memref<8x8xf32>, %B: memref<4x8xf32>) {
  %t = memref.alloc() : memref<4x8xf32>
  %v = memref.subview %A[2, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 16>>
  linalg.copy ins(%v : memref<4x8xf32, strided<[8, 1], offset: 16>>) outs(%t : memref<4x8xf32>)
  linalg.add ins(%t, %t : memref<4x8xf32>, memref<4x8xf32>) outs(%B : memref<4x8xf32>)
  return
}
"""
TENSORS = """func.func @main(%A: tensor<4x8xf32>, %B: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %r = linalg.matmul ins(%A, %B : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}
"""
ODD = (
    *mlir.ODD, "linalg.matmul", "linalg.fill", "linalg.generic", "linalg.copy", "linalg.exp", "linalg.add",
    "linalg.yield", "linalg.index 0 : index", "linalg.conv_2d", "linalg.transpose", "linalg.reduce",
    "linalg.broadcast", "linalg.softmax", "linalg.batch_matmul", "linalg.nobody", "memref.subview", "tensor.empty()",
    '"parallel"', '"reduction"', '"window"', "ins", "outs", "permutation = [0, 0]", "dimensions = [9]",
    "indexing_maps",
)  # fmt: skip


def case(random: Random) -> str:
    """Raise a text to blocks, and convert the blocks back to linalg."""
    text = random.choice((MATMUL, GENERIC, VIEWS, TENSORS, *corpus.linalg_files()))
    text = texts.changed(random, text, ODD) + "\n"
    word, got = tried(short(text), lambda: from_linalg(text))
    if word != "accepted":
        if not isinstance(got, ScriptError) and "nested" not in str(got):
            raise Fault(f"a refusal without a location: {described(got)}\n{short(text)}")
        return word
    tried(short(text), got.script)
    word, back = tried(short(text), lambda: to_linalg(got, named=random.random() < 0.5))
    if word != "accepted":
        raise Fault(f"to_linalg fails on a program from from_linalg: {described(back)}\n{short(text)}")
    return word
