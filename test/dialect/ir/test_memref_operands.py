"""Loops, and what ends their bodies, have memref operands only where they carry them."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.ir import ops
from tir_mlir.dialect.ir.op_traits import has_no_memref

CARRIED = """
func.func @f(%a: memref<8xf32>, %x: index) {
  %r = scf.for %i = %x to %x step %x iter_args(%c = %a) -> (memref<8xf32>) {
    scf.yield %c : memref<8xf32>
  }
  affine.for %j = 0 to 8 {
    %v = affine.load %r[%j] : memref<8xf32>
  }
  return
}
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("scf.for", [False]), ("scf.yield", [False]), ("affine.for", [True]), ("affine.yield", [True]),
     ("affine.load", [False])],
)  # fmt: skip
def test_which_have_none(parse, name, expected):
    assert [has_no_memref(op) for op in ops(parse(CARRIED).operation) if op.name == name] == expected
