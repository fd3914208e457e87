"""Calls: kernels by their description or in Python, functions of the module, loops deeper than Python's."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import summed_product
from programs.short import each, main

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.diagnostics import NotInterpreted, OutOfBoundsError, UnwrittenError
from tir_mlir.examples.matmul import schedule_matmul

EXTERN = main(
    "A:4x4 B:4x4",
    each(
        "B:4",
        "T.reads(A[vi, 0:4])",
        "T.writes(B[vi, 0:4])",
        "a = T.match_buffer(A[vi, 0:4], (4,), 'float32', offset_factor=1)",
        "b = T.match_buffer(B[vi, 0:4], (4,), 'float32', offset_factor=1)",
        "T.call_extern('int32', 'negated', b.access_ptr('w'), a.access_ptr('r'), 4)",
    ),
)


def whole(*shape):
    return np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)


def negated(out, given, count):
    b, a = out.view((count,)), given.view((count,))
    for i in range(count):
        b[i] = -a[i]
    return 0


def test_a_kernel_in_python():
    a, b = whole(4, 4), np.zeros((4, 4), np.float32)
    interpret(parse(EXTERN), a, b, kernels={"negated": negated}, unset=["B"])
    np.testing.assert_array_equal(b, -a)
    with pytest.raises(OutOfBoundsError, match=r'block "B" at i = 3 .*: A\[4\] is outside A, whose shape is \(4,\)'):
        interpret(parse(EXTERN), a, b, kernels={"negated": lambda out, given, count: given.view((4,))[count]
                                                if given.byte == 48 else 0})  # fmt: skip


def test_a_kernel_that_nothing_describes():
    with pytest.raises(NotInterpreted, match=r'the function "negated" has no body, .*pass kernels='):
        interpret(parse(EXTERN), whole(4, 4), whole(4, 4))


def test_a_described_kernel_counts_for_the_buffers_that_it_is_called_on():
    a, b, c = whole(32, 16), whole(16, 16), np.zeros((32, 16), np.float32)
    report = interpret(schedule_matmul(32, 16, 16), a, b, c)
    np.testing.assert_array_equal(c, a @ b.T)
    assert report.total.flops == 2 * 32 * 16 * 16
    assert set(report.buffers) >= {"A", "B", "C"} and report.runs


def test_functions_of_the_module():
    text = """
    func.func private @twice(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      return %y : f32
    }
    func.func private @into(%m: memref<?xf32, strided<[?], offset: ?>>, %v: f32) {
      %c1 = arith.constant 1 : index
      memref.store %v, %m[%c1] : memref<?xf32, strided<[?], offset: ?>>
      return
    }
    func.func @main(%A: memref<4xf32> {tir.name = "A"}, %B: memref<6x4xf32> {tir.name = "B"}) {
      %c2 = arith.constant 2 : index
      %n = arith.constant 3 : index
      %a = memref.load %A[%c2] : memref<4xf32>
      %d = call @twice(%a) : (f32) -> f32
      %v = memref.subview %B[%n, 1][1, 3][1, 1] : memref<6x4xf32> to memref<3xf32, strided<[1], offset: ?>>
      %w = memref.cast %v : memref<3xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
      call @into(%w, %d) : (memref<?xf32, strided<[?], offset: ?>>, f32) -> ()
      return
    }"""
    b = np.zeros((6, 4), np.float32)
    report = interpret(text, np.arange(4, dtype=np.float32), b)
    assert b[3, 2] == 4 and np.count_nonzero(b) == 1
    assert report["B"].stores == 1 and report["A"].loads == 1


def test_loops_deeper_than_python_nests_them():
    sch = Schedule(summed_product(4, 4, 2))
    for _ in range(20):
        sch.add_unit_loop(sch.get_block("C"))
    assert len(sch.get_loops("C")) == 23
    a, b, c = whole(4, 2), whole(2, 4), np.zeros((4, 4), np.float32)
    report = interpret(sch, a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    assert report.runs["C"] == 32
    with pytest.raises(UnwrittenError) as caught:
        interpret(sch, a, b, c, strict=True, unset=["A"])
    assert len(caught.value.loops) == 26 and "u_19" in caught.value.loops and caught.value.loops["vk"] == 0


def test_values_carried_through_deep_loops():
    deep = 34
    text = [f"%s{deep + 1} = arith.addf %s{deep}, %one : f32", f"affine.yield %s{deep + 1} : f32"]
    for n in reversed(range(deep)):
        head = f"%r{n} = affine.for %i{n} = 0 to {2 if n % 8 == 0 else 1} iter_args(%s{n + 1} = %s{n}) -> (f32) {{"
        text = [head, *text, "}", *([f"affine.yield %r{n} : f32"] if n else [])]
    lines = "\n".join(text)
    b = np.zeros(1, np.float32)
    interpret(
        f"""
    func.func @main(%B: memref<1xf32>) {{
      %c0 = arith.constant 0 : index
      %s0 = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      {lines}
      memref.store %r0, %B[%c0] : memref<1xf32>
      return
    }}""",
        b,
    )
    assert b[0] == 2**5
