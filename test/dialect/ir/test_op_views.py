"""Typed views of ops: classes by the table, operands by name, and questions that a view answers."""

from __future__ import annotations

import pytest
from mlir import ir

from tir_mlir.dialect.ir import op_views as views
from tir_mlir.dialect.ir.context import context
from tir_mlir.dialect.ir.op_views import defining_op, dyn_cast, isa, matches
from tir_mlir.dialect.ir.walk import views_in

TEXT = """
func.func @f(%a: memref<8xf32>, %v: f32, %m: vector<4xi1>, %w: vector<4xf32>, %c: i1) {
  %zero = arith.constant 0 : index
  affine.store %v, %a[0] : memref<8xf32>
  memref.store %v, %a[%zero] : memref<8xf32>
  vector.maskedstore %a[%zero], %m, %w : memref<8xf32>, vector<4xi1>, vector<4xf32>
  %x = affine.load %a[1] : memref<8xf32>
  %old = memref.atomic_rmw addf %v, %a[%zero] : (f32, memref<8xf32>) -> f32
  %y = scf.if %c -> (f32) { scf.yield %x : f32 } else { scf.yield %v : f32 }
  return
}
"""


@pytest.fixture
def func():
    module = ir.Module.parse(TEXT, context())  # an op does not keep it
    yield module.body.operations[0].operation  # noqa: PT022  keeps the module alive


def test_operands_have_names_wherever_they_stand(func):
    memref, value, _, vector, condition = func.regions[0].blocks[0].arguments
    affine, computed, masked = views_in(func, views.StoreOp)
    assert [affine.value, computed.value] == [value, value]
    assert {affine.memref, computed.memref} == {memref}
    masked = views.MaskedStoreOp(masked.op)
    assert (masked.memref, masked.value) == (memref, vector)
    (choice,) = views_in(func, views.ScfIfOp)
    (load,) = views_in(func, views.LoadOp)
    assert choice.condition == condition and choice.yielded_values() == [load.result, value]


def test_an_operand_is_set_by_its_name(func):
    store, _, _ = views_in(func, views.StoreOp)
    (load,) = views_in(func, views.LoadOp)
    load.op.move_before(store.op)
    store.value = load.result
    assert store.op.operands[0] == store.value == load.result


def test_ops_are_matched_in_order(func):
    ops = [op.operation for op in func.regions[0].blocks[0].operations][:3]
    assert matches(ops, views.ConstantOp, views.AffineStoreOp, views.StoreOp)
    assert not matches(ops, views.ConstantOp, views.StoreOp, views.AffineStoreOp)
    assert not matches(ops, views.ConstantOp, views.StoreOp)


def test_the_view_that_mlir_has_of_a_function_is_one():
    """Its `name` is that of the function."""
    module = ir.Module.parse("func.func private @f()", context())
    (view,) = module.body.operations
    assert isa(view, views.FuncOp) and isa(view, views.CallOp, views.FuncOp) and not isa(view, views.CallOp)


def test_an_interface_has_the_ops_of_its_classes(func):
    (load,) = views_in(func, views.LoadOp)
    for kind in (views.AffineLoadOp, views.ElementLoadOp, views.AffineAccessOp, views.AffineOp, views.AccessOp):
        assert isa(load.op, kind)
    assert not isa(load.op, views.ComputedAccessOp) and dyn_cast(load.op, views.StoreOp) is None
    assert [op.op.name for op in views_in(func, views.UpdateOp)] == ["memref.atomic_rmw"]


def test_a_value_is_asked_for_the_class_of_its_op(func):
    (store,) = views_in(func, views.MemrefStoreOp)
    index = defining_op(store.operands[2], views.ConstantOp)
    assert index is not None and ir.IntegerAttr(index.value).value == 0
    assert defining_op(store.operands[2], views.LoadOp) is None
    assert defining_op(store.value) is None and defining_op(store.memref, views.AllocOp) is None
