"""Buffer compaction: when it applies and when it must not."""

import itertools

import numpy as np
import pytest
from harness.lowered import passed, run

from tir_mlir.dialect.ir import views

RNG = np.random.default_rng(1)
PASSES = ("tir-lower-blocks", "tir-lower-conditions", "tir-lower-compact")


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def depth_of_alloc(text: str) -> int:
    """Number of loops around the first allocation."""
    before = text[: text.index("memref.alloc")]
    return before.count("affine.for") - before.count("} {")


def test_an_accumulator_carried_across_iterations_stays_outside():
    source = """
func.func @main(%X: memref<8x4xf32>, %Y: memref<8x4xf32>) attributes {tir.id = 0 : i64} {
  %acc = memref.alloc() {tir.name = "acc"} : memref<4xf32>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 4 {
      affine.if affine_set<(d0) : (d0 == 0)>(%i) {
        %zero = arith.constant 0.0 : f32
        affine.store %zero, %acc[%j] : memref<4xf32>
      }
      %a = affine.load %acc[%j] : memref<4xf32>
      %x = affine.load %X[%i, %j] : memref<8x4xf32>
      %s = arith.addf %a, %x : f32
      affine.store %s, %acc[%j] : memref<4xf32>
    }
    affine.for %j = 0 to 4 {
      %a = affine.load %acc[%j] : memref<4xf32>
      affine.store %a, %Y[%i, %j] : memref<8x4xf32>
    }
  }
  return
}"""
    text = passed(source, *PASSES)
    assert text.index("memref.alloc") < text.index("affine.for") and "memref<4xf32>" in text
    x, y = RNG.random((8, 4), dtype=np.float32), np.zeros((8, 4), np.float32)
    run(source, x, y)
    np.testing.assert_allclose(y, np.cumsum(x, axis=0), rtol=1e-6)


def stencil(rows: int) -> str:
    """Each iteration computes the last `rows` of the three values it adds up; the first ones are computed before."""
    before = f"""affine.for %r = 0 to {3 - rows} {{
    %x = affine.load %X[%r] : memref<18xf32>
    %d = arith.addf %x, %x : f32
    affine.store %d, %t[%r] : memref<18xf32>
  }}"""
    return f"""
func.func @main(%X: memref<18xf32>, %Y: memref<16xf32>) attributes {{tir.id = 0 : i64}} {{
  %t = memref.alloc() {{tir.name = "t"}} : memref<18xf32>
  {"" if rows == 3 else before}
  affine.for %i = 0 to 16 {{
    affine.for %r = {3 - rows} to 3 {{
      %x = affine.load %X[%i + %r] : memref<18xf32>
      %d = arith.addf %x, %x : f32
      affine.store %d, %t[%i + %r] : memref<18xf32>
    }}
    %a = affine.load %t[%i] : memref<18xf32>
    %b = affine.load %t[%i + 1] : memref<18xf32>
    %c = affine.load %t[%i + 2] : memref<18xf32>
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    affine.store %abc, %Y[%i] : memref<16xf32>
  }}
  return
}}"""


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        (3, "memref<3xf32>"),  # all three anew in each iteration
        (2, "memref<18xf32>"),  # one comes from the iteration before
        (1, "memref<18xf32>"),
    ],
)
def test_a_stencil(rows, size):
    source = stencil(rows)
    text = passed(source, *PASSES)
    assert any("memref.alloc" in line and size in line for line in lines(text))
    x, y = RNG.random(18, dtype=np.float32), np.zeros(16, np.float32)
    run(source, x, y)
    np.testing.assert_allclose(y, 2 * (x[:-2] + x[1:-1] + x[2:]), rtol=1e-6)


def test_the_window_of_an_uneven_loop_gets_its_own_origin():
    """A bound with several pieces: a window that starts at max(0, i - 1)."""
    source = """
func.func @main(%X: memref<16xf32>, %Y: memref<16xf32>) attributes {tir.id = 0 : i64} {
  %t = memref.alloc() {tir.name = "t"} : memref<16xf32>
  affine.for %i = 0 to 16 {
    affine.for %r = max affine_map<(d0) -> (0, d0 - 1)>(%i) to min affine_map<(d0) -> (16, d0 + 2)>(%i) {
      %x = affine.load %X[%r] : memref<16xf32>
      affine.store %x, %t[%r] : memref<16xf32>
    }
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %Y[%i] : memref<16xf32>
    affine.for %r = max affine_map<(d0) -> (0, d0 - 1)>(%i) to min affine_map<(d0) -> (16, d0 + 2)>(%i) {
      %y = affine.load %Y[%i] : memref<16xf32>
      %x = affine.load %t[%r] : memref<16xf32>
      %s = arith.addf %y, %x : f32
      affine.store %s, %Y[%i] : memref<16xf32>
    }
  }
  return
}"""
    assert 'memref.alloc() {tir.name = "t"} : memref<3xf32>' in passed(source, *PASSES)
    x, y = RNG.random(16, dtype=np.float32), np.zeros(16, np.float32)
    run(source, x, y)
    padded = np.pad(x, 1)
    np.testing.assert_allclose(y, padded[:-2] + padded[1:-1] + padded[2:], rtol=1e-6)


def test_a_partial_write_does_not_make_a_buffer_private():
    """Each iteration writes half of what it reads; the other half is from the iteration before."""
    source = """
func.func @main(%X: memref<8xf32>, %Y: memref<8xf32>) attributes {tir.id = 0 : i64} {
  %t = memref.alloc() {tir.name = "t"} : memref<2xf32>
  %zero = arith.constant 0.0 : f32
  affine.store %zero, %t[0] : memref<2xf32>
  affine.store %zero, %t[1] : memref<2xf32>
  affine.for %i = 0 to 8 {
    %x = affine.load %X[%i] : memref<8xf32>
    affine.store %x, %t[%i mod 2] : memref<2xf32>
    %a = affine.load %t[0] : memref<2xf32>
    %b = affine.load %t[1] : memref<2xf32>
    %s = arith.addf %a, %b : f32
    affine.store %s, %Y[%i] : memref<8xf32>
  }
  return
}"""
    x, y = RNG.random(8, dtype=np.float32), np.zeros(8, np.float32)
    run(source, x, y)
    np.testing.assert_allclose(y, x + np.concatenate([[0], x[:-1]]).astype(np.float32), rtol=1e-6)


def test_a_buffer_read_before_it_is_written_stays():
    source = """
func.func @main(%Y: memref<8xf32>) attributes {tir.id = 0 : i64} {
  %t = memref.alloc() {tir.name = "t"} : memref<9xf32>
  %one = arith.constant 1.0 : f32
  affine.store %one, %t[0] : memref<9xf32>
  affine.for %i = 0 to 8 {
    %a = affine.load %t[%i] : memref<9xf32>
    %s = arith.addf %a, %a : f32
    affine.store %s, %t[%i + 1] : memref<9xf32>
    affine.store %s, %Y[%i] : memref<8xf32>
  }
  return
}"""
    y = np.zeros(8, np.float32)
    run(source, y)
    np.testing.assert_array_equal(y, 2.0 ** np.arange(1, 9))


def gather(write: str) -> str:
    return f"""
func.func @main(%I: memref<8xindex>, %X: memref<8xf32>, %Y: memref<8xf32>) attributes {{tir.id = 0 : i64}} {{
  %t = memref.alloc() {{tir.name = "t"}} : memref<8x8xf32>
  affine.for %i = 0 to 8 {{
    affine.for %j = 0 to 8 {{
      %x = affine.load %X[%j] : memref<8xf32>
      affine.store %x, %t[{write}, %j] : memref<8x8xf32>
    }}
    %k = affine.load %I[%i] : memref<8xindex>
    %a = memref.load %t[%i, %k] : memref<8x8xf32>
    affine.store %a, %Y[%i] : memref<8xf32>
  }}
  return
}}"""


def test_an_index_that_is_data_keeps_the_whole_buffer():
    assert "memref<8x8xf32>" in passed(gather("%i"), *PASSES)
    where, x, y = RNG.permutation(8).astype(np.int64), RNG.random(8, dtype=np.float32), np.zeros(8, np.float32)
    run(gather("%i"), where, x, y)
    np.testing.assert_array_equal(y, x[where])


def test_symbolic_sizes_shrink_to_constants_and_else_stay():
    source = """
func.func @main(%X: memref<?x16xf32> {tir.name = "X", tir.shape = affine_map<()[s0] -> (s0, 16)>, tir.syms = ["n"]},
                %Y: memref<?x16xf32> {tir.name = "Y", tir.shape = affine_map<()[s0] -> (s0, 16)>, tir.syms = ["n"]})
    attributes {tir.id = 0 : i64} {
  %zero = arith.constant 0 : index
  %n = memref.dim {tir.name = "n"} %X, %zero : memref<?x16xf32>
  %t = memref.alloc(%n) {tir.name = "t"} : memref<?x16xf32, "shared">
  %u = memref.alloc(%n) {tir.name = "u"} : memref<?x16xf32, "shared">
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 16 {
      %x = affine.load %X[%i, %j] : memref<?x16xf32>
      affine.store %x, %t[%i, %j] : memref<?x16xf32, "shared">
    }
    affine.for %j = 0 to 16 {
      %x = affine.load %t[%i, 15 - %j] : memref<?x16xf32, "shared">
      affine.store %x, %u[%i, %j] : memref<?x16xf32, "shared">
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 16 {
      %x = affine.load %u[%n - 1 - %i, %j] : memref<?x16xf32, "shared">
      affine.store %x, %Y[%i, %j] : memref<?x16xf32>
    }
  }
  return
}"""
    text = passed(source, *PASSES)
    assert '{tir.name = "t"} : memref<1x16xf32, "shared">' in text
    assert '{tir.name = "u"} : memref<?x16xf32, "shared">' in text
    for n in (1, 7):
        x, y = RNG.random((n, 16), dtype=np.float32), np.zeros((n, 16), np.float32)
        run(source, x, y)
        np.testing.assert_array_equal(y, x[::-1, ::-1])


KERNEL_BLOCK = """
func.func private @fill(!llvm.ptr, i32)
func.func @main(%Y: memref<8x4xf32>) attributes {{tir.id = 0 : i64}} {{
  %t = memref.alloc() {{tir.name = "t"}} : memref<8x4xf32>
  affine.for %i = 0 to 8 {{
    {before}
    affine.parallel (%v) = (%i) to (%i + 1) {{
      %view = memref.subview %t[%v, 0] [1, 4] [1, 1] {{tir.name = "T"}}
        : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
      %base, %off, %sizes:2, %st:2 = memref.extract_strided_metadata %view
        : memref<1x4xf32, strided<[4, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
      %p = memref.extract_aligned_pointer_as_index %view : memref<1x4xf32, strided<[4, 1], offset: ?>> -> index
      %four = arith.constant 4 : index
      %bytes = arith.muli %off, %four : index
      %at = arith.addi %p, %bytes : index
      %int = arith.index_cast %at : index to i64
      %ptr = llvm.inttoptr %int {{tir.access = "w"}} : i64 to !llvm.ptr
      %iv = arith.index_cast %v : index to i32
      func.call @fill(%ptr, %iv) : (!llvm.ptr, i32) -> ()
    }} {{tir.block = "fill", tir.iters = ["S"], tir.names = ["v"], tir.min = affine_map<() -> (0)>,
       tir.extent = affine_map<() -> (8)>, tir.syms = [], tir.reads = [{reads}],
       tir.writes = [{{buffer = "t", min = affine_map<(d0) -> (d0, 0)>, extent = affine_map<(d0) -> (1, 4)>}}]}}
    affine.for %j = 0 to 4 {{
      %x = affine.load %t[%i, %j] : memref<8x4xf32>
      affine.store %x, %Y[%i, %j] : memref<8x4xf32>
    }}
  }}
  return
}}"""
FILL = """
func.func private @fill(%p: !llvm.ptr, %i: i32) {
  %zero = arith.constant 0 : index
  %n = arith.constant 4 : index
  %one = arith.constant 1 : index
  %x = arith.sitofp %i : i32 to f32
  scf.for %j = %zero to %n step %one {
    %j32 = arith.index_cast %j : index to i32
    %q = llvm.getelementptr %p[%j32] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %x, %q : f32, !llvm.ptr
  }
  return
}"""
READ_T = '{buffer = "t", min = affine_map<(d0) -> (d0, 0)>, extent = affine_map<(d0) -> (1, 4)>}'


def test_a_kernel_that_declares_to_overwrite_makes_its_buffer_private():
    source = KERNEL_BLOCK.format(before="", reads="")
    assert '{tir.name = "t"} : memref<1x4xf32>' in passed(source, *PASSES)
    y = np.zeros((8, 4), np.float32)
    run(source, y, kernel=FILL)
    np.testing.assert_array_equal(y, np.repeat(np.arange(8, dtype=np.float32)[:, None], 4, axis=1))


def test_a_kernel_that_reads_its_output_does_not():
    source = KERNEL_BLOCK.format(before="", reads=READ_T)
    assert passed(source, *PASSES).index("memref.alloc") < passed(source, *PASSES).index("affine.for")


def copies(count: int) -> str:
    """Y = X through `count` buffers of a symbolic size."""
    lines = ['func.func @main(%X: memref<?xf32> {tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]},']
    lines += ['    %Y: memref<?xf32> {tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]})']
    lines += ["    attributes {tir.id = 0 : i64} {", "  %zero = arith.constant 0 : index"]
    lines += ['  %n = memref.dim {tir.name = "n"} %X, %zero : memref<?xf32>']
    lines += [f'  %t{k} = memref.alloc(%n) {{tir.name = "t{k}"}} : memref<?xf32>' for k in range(count)]
    names = ["%X", *(f"%t{k}" for k in range(count)), "%Y"]
    for source, target in itertools.pairwise(names):
        lines += ["  affine.for %i = 0 to %n {", f"    %x = affine.load {source}[%i] : memref<?xf32>"]
        lines += [f"    affine.store %x, {target}[%i] : memref<?xf32>", "  }"]
    return "\n".join([*lines, "  return", "}"])


def test_the_shape_variables_of_a_function_are_read_once(monkeypatch):
    real, calls = views.is_size, []
    monkeypatch.setattr(views, "is_size", lambda op: calls.append(op.name) or real(op))
    counts = []
    for count in (2, 12):
        calls.clear()
        passed(copies(count), "tir-lower-compact")
        counts.append(len(calls))
    assert counts[0] == counts[1] > 0
