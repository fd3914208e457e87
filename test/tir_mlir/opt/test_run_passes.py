"""Pipelines from Python, on modules of the caller."""

import pytest
from mlir import ir

from tir_mlir.opt.runner import run_passes

LOOP = """
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<8xf32>
    affine.store %x, %b[%i] : memref<8xf32>
  }
  return
}
"""


def test_a_module_of_another_context():
    with ir.Context():
        module = ir.Module.parse(LOOP)
    text = str(module)
    vectors = run_passes(module, "tir-split{loop=i0 factors=2,4}, tir-vectorize{loop=i0_1}, tir-lower, canonicalize")
    assert "vector<4xf32>" in str(vectors) and str(module) == text


def test_text_is_no_module():
    with pytest.raises(TypeError, match=r"an ir\.Module .*, not str"):
        run_passes(LOOP, "tir-lower")  # pyright: ignore[reportArgumentType]
