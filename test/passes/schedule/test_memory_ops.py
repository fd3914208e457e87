"""Memory ops and views beyond those that the parser makes: what a step must see of them."""

from __future__ import annotations

from typing import Any

import pytest

from tir_mlir.dialect.diagnostics import ScheduleError, ScriptError
from tir_mlir.dialect.ir import Loop, enter_context, is_loop, walk
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.script.module import IRModule

HEAD = 'func.func @main(%A: memref<8x4xf32> {tir.name = "A"}, %B: memref<32xf32> {tir.name = "B"}, '
HEAD += '%n: index {tir.name = "n"}) attributes {tir.id = 0 : i64} {'
VIEWS = {
    "collapse_shape": "memref.collapse_shape %A [[0, 1]] : memref<8x4xf32> into memref<32xf32>",
    "reinterpret_cast": (
        "memref.reinterpret_cast %A to offset: [0], sizes: [32], strides: [1] : memref<8x4xf32> to memref<32xf32>"
    ),
}
SHIFT = """
  affine.for %k = 0 to 31 {
    %x = affine.load %v[%k + OFF] : memref<32xf32>
    affine.store %x, %A[%k floordiv 4, %k mod 4] : memref<8x4xf32>
  } {tir.id = 1 : i64, tir.loop = "k"}
"""
COPIES = """
  %u = memref.subview %B[0] [20] [1] {tir.name = "U"} : memref<32xf32> to memref<20xf32, strided<[1]>>
  %v = memref.subview %B[1] [20] [1] {tir.name = "V"} : memref<32xf32> to memref<20xf32, strided<[1], offset: 1>>
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to %n {
      %p = arith.muli %i, %n : index
      %q = arith.addi %p, %j : index
      %x = memref.load %v[%q] : memref<20xf32, strided<[1], offset: 1>>
      memref.store %x, %u[%q] : memref<20xf32, strided<[1]>>
    } {tir.id = 2 : i64, tir.loop = "j"}
  } {tir.id = 1 : i64, tir.loop = "i"}
"""
COUNT = """
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 10 {
    %c0 = arith.constant 0 : index
    OP
  } {tir.id = 1 : i64, tir.loop = "i"}
"""
WRITES = {
    "atomic_rmw": "%r = memref.atomic_rmw addf %one, %B[%c0] : (f32, memref<32xf32>) -> f32",
    "transfer_write": "%v = vector.broadcast %one : f32 to vector<4xf32>\n"
    "vector.transfer_write %v, %B[%c0] : vector<4xf32>, memref<32xf32>",
}


def parsed(body: str) -> IRModule:
    return IRModule.from_mlir(f"{HEAD}\n{body}\n  return\n}}")


def step(primitive: str, body: str, *arguments: Any) -> None:
    """Apply a primitive to the loop with id 1."""
    with enter_context():
        module = parsed(body).mlir
        op = next(op for op in walk.ops(module.operation) if is_loop(op) and Loop(op).id == 1)
        PRIMITIVES[primitive].run(Loop(op), *arguments)


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_a_view_of_another_shape_accesses_its_buffer(view):
    body = f"%v = {VIEWS[view]}\n{SHIFT.replace('OFF', '1')}"
    with pytest.raises(ScheduleError, match="which elements of A an access of a view touches is not known"):
        step("parallel", body)


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_the_bounds_of_such_a_view_are_checked(view):
    with pytest.raises(ScriptError, match="is read at index 32"):
        parsed(f"%v = {VIEWS[view]}\n{SHIFT.replace('OFF', '2')}")


def test_two_views_split_their_indices_each_from_its_own_start():
    with pytest.raises(ScheduleError, match="an index of B is not affine"):
        step("parallel", COPIES)


@pytest.mark.parametrize("op", sorted(WRITES))
def test_a_write_outside_a_block_does_not_run_more_often(op):
    with pytest.raises(ScheduleError, match="statements outside any block"):
        step("split", COUNT.replace("OP", WRITES[op]), [None, 4])


def test_what_only_computes_is_no_such_write():
    step("split", COUNT.replace("OP", "%m = affine.min affine_map<(d0) -> (d0, 3)>(%i)"), [None, 4])


def test_a_buffer_that_is_written_through_an_aligned_view_is_written():
    body = "%a = memref.assume_alignment %B, 64 : memref<32xf32>\n%c0 = arith.constant 0 : index\n"
    body += "%one = arith.constant 1.0 : f32\nmemref.store %one, %a[%c0] : memref<32xf32>"
    with enter_context():
        params = signatures(parsed(body).mlir)["main"].params
    assert [p.written for p in params[:2]] == [False, True]
