"""Run-time errors of the interpreter: location, element and fix of each."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import summed_product
from programs.short import each, main, nest, sblock

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.diagnostics import (
    ArithmeticStop,
    AssumptionError,
    NotInterpreted,
    OutOfBoundsError,
    RaceError,
    TirError,
    UnwrittenError,
)

TABLE = main("I:4:int32 A:8 B:4", each("B:4", "B[vi] = A[I[vi]]"))
PART = main(
    "A:4 B:4 t:4",
    nest("i:{written}", sblock("t", "vi:4=i", "t[vi] = A[vi] * T.float32(2)")),
    each("B:4", "B[vi] = {value}"),
)


def f32(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def unchecked(text):
    return parse(text.replace("@T.prim_func", "@T.prim_func(check_well_formed=False)"))


def test_an_access_outside():
    with pytest.raises(OutOfBoundsError) as caught:
        interpret(parse(TABLE), np.array([0, 7, 8, 1], np.int32), f32(8), f32(4))
    error = caught.value
    assert str(error).splitlines()[0] == (
        'main: in block "B" at i = 2 (vi = 2): A[8] is outside A, whose shape is (8,)'
    )
    assert (error.buffer, error.index, error.shape) == ("A", (8,), (8,))
    assert (error.function, error.block, error.loops) == ("main", "B", {"i": 2, "vi": 2})
    assert isinstance(error, TirError) and isinstance(error, IndexError)


def test_the_line_is_the_users():
    def program():
        from tir_mlir.script import tir as T

        @T.prim_func
        def main(I: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):  # noqa: E741
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = I[I[vi]]

        return main

    with pytest.raises(OutOfBoundsError) as caught:
        interpret(program(), np.array([0, -1, 2, 1], np.int32), np.zeros(4, np.int32))
    place, source = str(caught.value).splitlines()[1:3]
    assert place.startswith(f"  at {__file__}:")
    assert source.strip() == "B[vi] = I[I[vi]]"


def test_an_iter_outside_of_its_domain():
    text = PART.format(written=4, value="t[vi]").replace("T.axis.spatial(4, i)", "T.axis.spatial(4, i + 1)", 1)
    with pytest.raises(OutOfBoundsError, match=r'block "t" at i = 3 .*: vi = 4 is outside its domain \[0, 4\)'):
        interpret(unchecked(text), f32(4), f32(4))


def test_unwritten_values_that_reach_a_result():
    program = unchecked(PART.format(written=3, value="t[vi] + T.float32(1)"))
    b = f32(4)
    with pytest.raises(UnwrittenError) as caught:
        interpret(program, f32(4), b)
    assert str(caught.value) == (
        'main: B[3] depends on an uninitialized element: t[3], first read in block "B" at i = 3 (vi = 3)'
    )
    np.testing.assert_array_equal(b, f32(4))  # nothing is written back
    with pytest.raises(UnwrittenError, match=r'in block "B" at i = 3 \(vi = 3\): t\[3\] is read before it is written'):
        interpret(program, f32(4), b, strict=True)


def test_unwritten_values_may_be_read_if_unused():
    program = unchecked(PART.format(written=3, value="T.Select(vi < 3, t[vi], T.float32(7))"))
    b = f32(4)
    interpret(program, f32(4), b)
    np.testing.assert_array_equal(b, [0, 2, 4, 7])


def test_unwritten_values_in_control_flow():
    choice = unchecked(PART.format(written=3, value="T.Select(t[vi] > T.float32(1), A[vi], T.float32(0))"))
    with pytest.raises(
        UnwrittenError, match=r"an uninitialized value is used as a branch condition: t.3., first read in block"
    ):
        interpret(choice, f32(4), f32(4))
    with pytest.raises(UnwrittenError, match="fix: write the buffer before it is read"):
        interpret(parse(TABLE), np.zeros(4, np.int32), f32(8), f32(4), unset=["I"])


def test_a_parameter_that_counts_as_unwritten():
    whole = PART.format(written=4, value="t[vi]")
    interpret(parse(whole), f32(4), f32(4), unset=["B"])
    start, _, end = whole.rpartition("range(4)")
    with pytest.raises(UnwrittenError, match=r"B\[3\] is never written"):
        interpret(unchecked(f"{start}range(3){end}"), f32(4), f32(4), unset=["B"])


def test_iterations_that_meet():
    text = """
    func.func @main(%A: memref<4x8xf32> {tir.name = "A"}, %B: memref<4xf32> {tir.name = "B"}) {
      affine.for %i = 0 to 4 {
        affine.for %j = 0 to 8 {
          %a = affine.load %A[%i, %j] : memref<4x8xf32>
          %b = affine.load %B[%i] : memref<4xf32>
          %s = arith.addf %a, %b : f32
          affine.store %s, %B[%i] : memref<4xf32>
        } {tir.loop = "j", tir.kind = "parallel"}
      } {tir.loop = "i"}
      return
    }"""
    with pytest.raises(RaceError) as caught:
        interpret(text, f32(4, 8), f32(4))
    assert str(caught.value).splitlines()[0] == (
        'main: in function "main" at i = 0, j = 6: B[0] is read in iteration 6 of the concurrent loop j, '
        "and accessed in iteration 7 of it"
    )
    assert caught.value.index == (0,)
    interpret(text.replace('"parallel"', '"serial"'), f32(4, 8), f32(4))


SHIFTED = """
func.func @main(%A: memref<9xf32> {tir.name = "A"}, %B: memref<9xf32> {tir.name = "B"}) {
  affine.for %i = 0 to 8 {
    %a = affine.load %A[%i + 1] : memref<9xf32>
    affine.store %a, %B[%i] : memref<9xf32>
  } {tir.loop = "i", tir.kind = "parallel"}
  return
}"""


def test_iterations_that_meet_in_one_array_given_twice():
    shifted = SHIFTED.replace(") {", ") attributes {tir.attrs = {tir.noalias = false}} {", 1)
    interpret(shifted, f32(9), f32(9))
    x = f32(9)
    with pytest.raises(RaceError, match=r"[AB]\[7\] is read in iteration 6 of the concurrent loop i"):
        interpret(shifted, x, x)


def test_races_between_calls():
    text = """
    func.func private @add(%v: f32, %B: memref<1xf32>) {
      %c0 = arith.constant 0 : index
      %b = memref.load %B[%c0] : memref<1xf32>
      %s = arith.addf %v, %b : f32
      memref.store %s, %B[%c0] : memref<1xf32>
      return
    }
    func.func @main(%A: memref<8xf32> {tir.name = "A"}, %B: memref<1xf32> {tir.name = "B"}) {
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i] : memref<8xf32>
        func.call @add(%a, %B) : (f32, memref<1xf32>) -> ()
      } {tir.loop = "i", tir.kind = "parallel"}
      return
    }"""
    with pytest.raises(RaceError, match=r'in function "add": B\[0\] is read in iteration 6 of the concurrent loop i'):
        interpret(text, f32(8), f32(1))


def test_a_wrong_assumption():
    text = TABLE.replace("B[vi] = A[I[vi]]", "T.assume(I[vi] < 8)\n            B[vi] = A[I[vi]]")
    interpret(parse(text), np.array([0, 7, 3, 1], np.int32), f32(8), f32(4))
    with pytest.raises(AssumptionError, match=r'in block "B" at i = 1 .*: an assumption of the program does not hold'):
        interpret(parse(text), np.array([0, 8, 3, 1], np.int32), f32(8), f32(4))


def test_a_division_by_zero():
    text = TABLE.replace("B[vi] = A[I[vi]]", 'B[vi] = T.Cast("float32", T.floordiv(8, I[vi]))')
    with pytest.raises(ArithmeticStop, match=r'in block "B" at i = 2 .*: integer division by zero'):
        interpret(parse(text), np.array([1, 2, 0, 1], np.int32), f32(8), f32(4))


def test_memory_that_was_given_back():
    text = """
    func.func @main(%B: memref<4xf32>) {
      %t = memref.alloc() : memref<4xf32>
      memref.dealloc %t : memref<4xf32>
      %c = arith.constant 0 : index
      %v = memref.load %t[%c] : memref<4xf32>
      memref.store %v, %B[%c] : memref<4xf32>
      return
    }"""
    with pytest.raises(OutOfBoundsError, match=r"use of memory after memref.dealloc"):
        interpret(text, f32(4))


def test_an_op_without_a_meaning():
    with pytest.raises(
        NotInterpreted, match=r"does not support llvm.alloca; during lowering, the last stage that can be interpreted"
    ):
        interpret(
            """
        func.func @main(%B: memref<4xf32>) {
          %n = arith.constant 1 : i64
          %p = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
          return
        }""",
            f32(4),
        )
    with pytest.raises(
        NotInterpreted, match=r"works on tensors; convert it to memrefs first with tir_mlir.from_linalg"
    ):
        interpret(
            """
        func.func @main(%B: memref<4xf32>) {
          %t = tensor.empty() : tensor<4xf32>
          return
        }""",
            f32(4),
        )


def test_a_schedule_keeps_the_names():
    sch = Schedule(summed_product(4, 4, 4))
    _, j, _ = sch.get_loops("C")
    sch.split(j, [2, 2])
    with pytest.raises(UnwrittenError) as caught:
        interpret(sch, f32(4, 4), f32(4, 4), f32(4, 4), unset=["A"], strict=True)
    assert caught.value.loops == {"i": 0, "j_0": 0, "j_1": 0, "k_": 0, "vi": 0, "vj": 0, "vk": 0}


NESTED = """
@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((6,), "int32")):
    for s in T.vectorized(3):
        with T.block("sum"):
            vs = T.axis.{kind}(3, s)
            for j in range(6):
                with T.block("part"):
                    vj = T.axis.spatial(6, j)
                    B[vj] = {value}
"""


def test_lanes_sum_up_in_a_block_inside_the_one_that_sums():
    b = np.arange(6, dtype=np.int32)
    interpret(parse(NESTED.format(kind="reduce", value="B[vj] + A[vj + vs]")), np.ones(8, np.int32), b)
    np.testing.assert_array_equal(b, np.arange(6) + 3)
    with pytest.raises(RaceError, match="in iteration 1 of the concurrent loop s"):
        interpret(parse(NESTED.format(kind="reduce", value="B[vj] * 2 + A[vj + vs]")), np.ones(8, np.int32), b)
