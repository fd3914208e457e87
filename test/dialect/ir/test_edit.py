"""Edits of the IR that the Python bindings would not survive; bounds are set, and iteration arguments stay."""

import pytest
from programs.inlining import FILLED
from programs.parsed import parse

from tir_mlir.dialect.ir import Func, Index, Loop, edit, enter_context, funcs, is_loop, ops


def test_nothing_is_erased_while_it_is_used():
    """MLIR would end the process; a primitive that tries it is at fault, and says so."""
    with enter_context():
        module = parse(FILLED).mlir
        body = Func(funcs(module)[0].op).body
        loop = body.operations[1].operation
        inner = loop.regions[0].blocks[0].operations[0]
        inner.move_before(loop)
        with pytest.raises(
            RuntimeError, match=r"affine.for cannot be erased: affine.parallel still uses one of its values"
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
    with enter_context():
        outer, inner = (Loop(o) for o in ops(module.operation) if is_loop(o))
        edit.rewrite_indices(inner.op, lambda i: i.substitute({outer.var: Index.constant(3)}))
        edit.set_bounds(outer.op, [Index.constant(2)], outer.uppers)
        assert module.operation.verify()
    text = str(module)
    assert "%arg2 = 2 to 8 iter_args(%arg3 = %arg1)" in text
    assert "%arg4 = 0 to 4 iter_args(%arg5 = %arg3)" in text


def test_an_operand_moves_from_the_lower_to_the_upper_bound_of_a_loop(parse):
    """There are as many operands as before, but not of each bound."""
    module = parse("""func.func @main(%A: memref<8xf32>) {
      affine.for %i = 0 to 8 {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to 8 {
          %a = affine.load %A[%j] : memref<8xf32>
        }
      }
      return
    }""")
    with enter_context():
        outer, inner = (Loop(o) for o in ops(module.operation) if is_loop(o))
        new = Loop(edit.set_bounds(inner.op, [Index.constant(0)], [Index.from_value(outer.var)]))
        module.operation.verify()
        assert (new.lower.as_constant(), new.upper.is_value()) == (0, outer.var)


def test_an_op_stays_where_it_gets_as_many_operands(parse):
    module = parse("""func.func @main(%A: memref<8xf32>) {
      affine.for %i = 0 to 4 {
        %a = affine.load %A[%i] : memref<8xf32>
      }
      return
    }""")
    with enter_context():
        load = next(o for o in ops(module.operation) if o.name == "affine.load")
        assert edit.rewrite_indices(load, lambda i: i + 1) == load
        module.operation.verify()
        assert "%arg0[%arg1 + 1]" in str(load)
