"""Edits of the IR that the Python bindings would not survive; bounds are set, and iteration arguments stay."""

import pytest
from programs.inlining import FILLED
from programs.parsed import parse

from tir_mlir.dialect.ir import Func, Index, Loop, edit, entered, funcs, is_loop, ops


def test_nothing_is_erased_while_it_is_used():
    """MLIR would end the process; a primitive that tries it is at fault, and says so."""
    with entered():
        module = parse(FILLED).mlir
        body = Func(funcs(module)[0].op).body
        loop = body.operations[1].operation
        inner = loop.regions[0].blocks[0].operations[0]
        inner.move_before(loop)
        with pytest.raises(
            RuntimeError, match="affine.for cannot be erased: affine.parallel still uses one of its values"
        ):
            edit.erase(loop)
        inner.move_before(list(loop.regions[0].blocks[0].operations)[-1])


def test_a_loop_that_carries_a_sum_gets_other_bounds(parse):
    module = parse("""func.func @main(%A: memref<8x8xf32>, %s: f32) -> f32 {
      %all = affine.for %i = 0 to 8 iter_args(%b = %s) -> (f32) {
        %row = affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) iter_args(%c = %b) -> (f32) {
          %a = affine.load %A[%i, %j] : memref<8x8xf32>
          %d = arith.addf %c, %a : f32
          affine.yield %d : f32
        }
        affine.yield %row : f32
      }
      return %all : f32
    }""")
    with entered():
        outer, inner = (Loop(o) for o in ops(module.operation) if is_loop(o))
        edit.rewrite_indices(inner.op, lambda i: i.substitute({outer.var: Index.constant(3)}))
        edit.set_bounds(outer.op, [Index.constant(2)], outer.uppers)
        assert module.operation.verify()
    text = str(module)
    assert "%arg2 = 2 to 8 iter_args(%arg3 = %arg1)" in text
    assert "%arg4 = 0 to 4 iter_args(%arg5 = %arg3)" in text
