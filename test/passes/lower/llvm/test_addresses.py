"""Addresses: an interrupt leaves a module of its own values."""

import pytest
from mlir import ir

from tir_mlir.dialect.ir.context import context
from tir_mlir.passes.lower.llvm import addresses

ROWS = """func.func @rows(%A: memref<8x16xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %x = affine.load %A[%i, %j] : memref<8x16xf32>
      affine.store %x, %A[%i, %j] : memref<8x16xf32>
    }
  }
  return
}"""


def _cut(operands):
    yield operands[0]
    raise KeyboardInterrupt


def test_an_interrupt_between_the_operands_of_a_copy_leaves_none_of_its_template(monkeypatch):
    kept = []
    insert = addresses._Templates.insert

    def interrupted(templates, number, operands, before):
        kept.append(templates)
        return insert(templates, number, _cut(operands), before)

    monkeypatch.setattr(addresses._Templates, "insert", interrupted)
    with context(), ir.Location.unknown():
        module = ir.Module.parse(ROWS)
        with pytest.raises(KeyboardInterrupt):
            addresses.run(module)
        template = kept[0]._body
        used = [use.owner.operation.block for value in template.arguments for use in value.uses]
        assert used and all(block == template for block in used)
