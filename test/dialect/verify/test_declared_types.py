"""A declared type that does not fit what it is declared on is refused in MLIR text."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import IRModule

TEXT = """
func.func @main(%A: memref<8xi8> {{tir.name = "A", tir.dtype = "{param}"}}, %n: index {{tir.dtype = "{size}"}}) {{
  affine.for %i = 0 to 8 {{
    affine.parallel (%vi) = (%i) to (%i + 1) {{
      %a = affine.load %A[%vi] : memref<8xi8>
      %w = arith.extsi %a {{tir.dtype = "{value}"}} : i8 to i32
      %b = arith.trunci %w : i32 to i8
      affine.store %b, %A[%vi] : memref<8xi8>
    }} {{tir.block = "A", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>,
        tir.extent = affine_map<() -> (8)>, tir.dtypes = {{{iter} = "{domain}"}}}}
  }} {{tir.dtype = "{loop}"}}
  return
}}
"""
FITTING = {
    "param": "uint8", "size": "int64", "value": "uint32", "iter": "vi", "domain": "int64", "loop": "int64",
}  # fmt: skip
WRONG = {
    "param": ("uint16", "does not fit parameter 0: i8 holds int8 or uint8"),
    "size": ("uint64", "does not fit parameter 1: index holds int32 or int64"),
    "value": ("uint8", "does not fit arith.extsi: i32 holds int32 or uint32"),
    "iter": ("vj", 'tir.dtypes of block "A": it has no iter vj'),
    "domain": ("int8", 'does not fit iter vi of block "A": index holds int32 or int64'),
    "loop": ("float32", "does not fit loop: index holds int32 or int64"),
}


def test_types_that_fit() -> None:
    assert "uint8" in IRModule.from_mlir(TEXT.format(**FITTING)).script()


@pytest.mark.parametrize("place", WRONG)
def test_a_type_that_does_not_fit(place: str) -> None:
    value, message = WRONG[place]
    with pytest.raises(ScriptError) as caught:
        IRModule.from_mlir(TEXT.format(**{**FITTING, place: value}))
    assert message in str(caught.value)
