"""Loop kinds: unrolled, vectorized, parallel, thread-bound; memory in loops."""

import numpy as np
import pytest
from harness.lowered import OPENMP, passed, run
from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower import LOWERINGS, LoweringWarning

RNG = np.random.default_rng(2)
VECTOR = ("tir-lower-blocks", "tir-lower-vectorize")


def func(args: str, body: str) -> str:
    return f"func.func @main({args}) attributes {{tir.id = 0 : i64}} {{\n{body}\n  return\n}}"


def test_unrolled():
    source = func(
        "%X: memref<12xf32>, %Y: memref<12xf32>",
        """affine.for %i = 0 to 4 {
      affine.for %j = 0 to 3 {
        %x = affine.load %X[%i * 3 + %j] : memref<12xf32>
        affine.store %x, %Y[%j * 4 + %i] : memref<12xf32>
      } {tir.kind = "unrolled"}
    }""",
    )
    text = passed(source, "tir-lower-unroll")
    assert text.count("affine.store") == 3 and text.count("affine.for") == 1
    x, y = RNG.random(12, dtype=np.float32), np.zeros(12, np.float32)
    run(source, x, y)
    np.testing.assert_array_equal(y, x.reshape(4, 3).T.ravel())


UNROLLED_NEST = func(
    "%X: memref<?xf32>, %Y: memref<64xf32>, %I: memref<64xi32>",
    """affine.for %k = 0 to 8 {
      affine.for %i = affine_map<(d0) -> (d0 * 8)>(%k) to affine_map<(d0) -> (d0 * 8 + 4)>(%k) {
        affine.for %j = 0 to 2 {
          affine.for %l = 0 to affine_map<(d0) -> (d0 + 1)>(%j) {
            %x = affine.load %X[%i floordiv 4 + %j * 4 + %l] : memref<?xf32>
            affine.store %x, %Y[%i + %j * 4] : memref<64xf32>
          }
          %n = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%i, %j)
          %v = arith.index_cast %n : index to i32
          %m = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 4)>(%i, %j)
          memref.store %v, %I[%m] : memref<64xi32>
        } {tir.kind = "unrolled"}
      } {tir.kind = "unrolled"}
    }""",
)


def test_nested_unrolled_loops_with_bounds_data_and_indices():
    """The variable is used in accesses, in bounds, in other index arithmetic and as data; one lower bound varies."""
    text = passed(UNROLLED_NEST, "tir-lower-unroll")
    assert text.count("affine.store") == text.count("memref.store") == 8
    x, y, seen = RNG.random(32, dtype=np.float32), np.zeros(64, np.float32), np.zeros(64, np.int32)
    run(UNROLLED_NEST, x, y, seen)
    for i in (8 * k + i for k in range(8) for i in range(4)):
        for j in range(2):
            assert y[i + 4 * j] == x[i // 4 + 5 * j] and seen[i + 4 * j] == 2 * i + j


def test_unrolling_copies_accesses_as_they_are():
    """Each access of a copy has the map of the loop's, over a constant: ops are cloned and not made again."""
    source = func(
        "%Y: memref<16xf32>",
        """%one = arith.constant 1.0 : f32
    affine.for %i = 0 to 4 { affine.store %one, %Y[%i * 3 + 2] : memref<16xf32> } {tir.kind = "unrolled"}""",
    )
    text = passed(source, "tir-lower-unroll")
    assert text.count("affine.store") == text.count("* 3 + 2]") == 4


def test_constants_do_not_count_for_the_limit_of_unrolling():
    """Inner loops are unrolled first: their constants are no code of the outer loop."""
    source = func(
        "%Y: memref<64xf32>",
        """%one = arith.constant 1.0 : f32
    affine.for %i = 0 to 4 {
      affine.for %j = 0 to 4 { affine.store %one, %Y[%i * 4 + %j] : memref<64xf32> } {tir.kind = "unrolled"}
    } {tir.kind = "unrolled"}""",
    )
    with enter_context():
        small, large = (ir.Module.parse(source) for _ in range(2))
        LOWERINGS["tir-lower-unroll"].run(large, limit=16)
        assert "affine.for" not in str(large)
        with pytest.warns(LoweringWarning, match="it would become 16 ops, at most 15"):
            LOWERINGS["tir-lower-unroll"].run(small, limit=15)
        assert str(small).count("affine.for") == 1


def test_huge_loops_are_not_unrolled():
    source = func(
        "%Y: memref<100000xf32>",
        """%one = arith.constant 1.0 : f32
    affine.for %i = 0 to 100000 { affine.store %one, %Y[%i] : memref<100000xf32> } {tir.kind = "unrolled"}""",
    )
    text = passed(source, "tir-lower-unroll")
    assert text.count("affine.for") == 1 and "unrolled" not in text


def scale(n: int, index: str, kind: str = "vectorized") -> str:
    size = 4 * n
    return func(
        f"%X: memref<{size}xf32>, %S: memref<1xf32>, %Y: memref<{size}xf32>",
        f"""affine.for %j = 0 to {n} {{
      %x = affine.load %X[{index}] : memref<{size}xf32>
      %s = affine.load %S[0] : memref<1xf32>
      %m = arith.mulf %x, %s : f32
      affine.store %m, %Y[{index}] : memref<{size}xf32>
    }} {{tir.kind = "{kind}"}}""",
    )


@pytest.mark.parametrize("n", [1, 2, 7, 16, 50, 64, 65, 100, 128])
@pytest.mark.parametrize("index", ["%j", "%j + 3", "%j * 2", "%j * 2 + 1"])
def test_vectors_of_any_width(n, index):
    x, s = RNG.random(4 * n + 4, dtype=np.float32)[: 4 * n], np.array([3], np.float32)
    y, want = np.zeros_like(x), np.zeros_like(x)
    if n > 2 or "+" not in index:
        run(scale(n, index), x, s, y)
        at = [eval(index.replace("%j", str(j))) for j in range(n)]
        want[at] = x[at] * 3
        np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("stride", [-4, -3, -2, -1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    ("type_", "dtype"), [("f32", np.float32), ("f64", np.float64), ("i8", np.int8), ("bf16", np.int16)]
)
def test_elements_some_way_apart(stride, type_, dtype):
    n, size = 23, 23 * 5
    first = size - 1 if stride < 0 else 0
    source = func(
        f"%X: memref<{size}x{type_}>, %Y: memref<{n}x{type_}>",
        f"""affine.for %j = 0 to {n} {{
      %x = affine.load %X[%j * {stride} + {first}] : memref<{size}x{type_}>
      affine.store %x, %Y[%j] : memref<{n}x{type_}>
    }} {{tir.kind = "vectorized"}}""",
    )
    text = passed(source, *VECTOR)
    assert ("vector.shuffle" in text) == (abs(stride) < 5) and "affine.for" not in text
    x, y = RNG.integers(-100, 100, size).astype(dtype), np.zeros(n, dtype)
    run(source, x, y)
    np.testing.assert_array_equal(y, x[first::stride][:n])


@pytest.mark.parametrize("n", [2, 16, 19])
def test_gathered_elements(n):
    source = func(
        f"%X: memref<9x50xf32>, %R: memref<3xi32>, %C: memref<{n}xi32>, %Y: memref<3x{n}xf32>",
        f"""affine.for %i = 0 to 3 {{ affine.for %j = 0 to {n} {{
      %r = affine.load %R[%i] : memref<3xi32>
      %row = arith.index_cast %r : i32 to index
      %c = affine.load %C[%j] : memref<{n}xi32>
      %one = arith.constant 1 : i32
      %d = arith.addi %c, %one : i32
      %column = arith.index_cast %d : i32 to index
      %next = arith.index_cast %c : i32 to index
      %x = memref.load %X[%row, %column] : memref<9x50xf32>
      %y = memref.load %X[%i, %next] : memref<9x50xf32>
      %z = memref.load %X[%row, %j] : memref<9x50xf32>
      %s = arith.addf %x, %y : f32
      %t = arith.addf %s, %z : f32
      affine.store %t, %Y[%i, %j] : memref<3x{n}xf32>
    }} {{tir.kind = "vectorized"}} }}""",
    )
    assert "vector.gather" in passed(source, *VECTOR)
    x, r, c = RNG.random((9, 50), np.float32), np.array([8, 0, 3], np.int32), RNG.integers(0, 49, n).astype(np.int32)
    y = np.zeros((3, n), np.float32)
    run(source, x, r, c, y)
    np.testing.assert_array_equal(y, x[r][:, c + 1] + x[:3][:, c] + x[r][:, :n])


def test_contiguous_is_one_vector_operation():
    text = passed(scale(16, "%j + 3"), *VECTOR)
    assert "affine.vector_load %arg0[3] : memref<64xf32>, vector<16xf32>" in text
    assert "vector.broadcast" in text and "affine.vector_store" in text and "affine.for" not in text


def test_long_loops_run_in_register_wide_chunks():
    text = passed(scale(100, "%j"), *VECTOR)
    assert "affine.for %arg3 = 0 to 6" in text and "vector<16xf32>" in text and "vector<4xf32>" in text


SERIAL = {
    "a reduction": "%c = affine.load %Y[0] : memref<40xf32>\n%s = arith.addf %c, %x : f32\n"
    "affine.store %s, %Y[0] : memref<40xf32>",
    "a recurrence": "%c = affine.load %Y[%j] : memref<40xf32>\n%s = arith.addf %c, %x : f32\n"
    "affine.store %s, %Y[%j + 1] : memref<40xf32>",
    "a condition": "affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%j) { affine.store %x, %Y[0] : memref<40xf32> }",
    "an inner window": "affine.for %r = 0 to 3 { %c = affine.load %Y[%j + %r] : memref<40xf32>\n"
    "%s = arith.addf %c, %x : f32\naffine.store %s, %Y[%j + %r] : memref<40xf32> }",
}


@pytest.mark.parametrize("name", SERIAL)
def test_ops_without_a_vector_form_run_as_written(name):
    body = f"affine.for %j = 0 to 32 {{\n%x = affine.load %X[%j] : memref<40xf32>\n{SERIAL[name]}\n}}"
    marked = func("%X: memref<40xf32>, %Y: memref<40xf32>", body + ' {tir.kind = "vectorized"}')
    plain = func("%X: memref<40xf32>, %Y: memref<40xf32>", body)
    assert "vector<" not in passed(marked, *VECTOR)
    x, start = RNG.random(40, dtype=np.float32), RNG.random(40, dtype=np.float32)
    got, want = start.copy(), start.copy()
    run(marked, x, got)
    run(plain, x, want)
    np.testing.assert_array_equal(got, want)


def test_vectors_go_through_uniform_loops_and_conditions():
    source = func(
        "%A: memref<4x8xf32>, %B: memref<8x20xf32>, %C: memref<4x20xf32>",
        """affine.for %i = 0 to 4 {
      affine.for %j = 0 to 20 {
        affine.for %k = 0 to 8 {
          affine.if affine_set<(d0) : (d0 == 0)>(%k) {
            %zero = arith.constant 0.0 : f32
            affine.store %zero, %C[%i, %j] : memref<4x20xf32>
          }
          %c = affine.load %C[%i, %j] : memref<4x20xf32>
          %a = affine.load %A[%i, %k] : memref<4x8xf32>
          %b = affine.load %B[%k, %j] : memref<8x20xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%i, %j] : memref<4x20xf32>
        }
      } {tir.kind = "vectorized"}
    }""",
    )
    text = passed(source, *VECTOR)
    assert text.count("affine.for") == 3 and "vector<16xf32>" in text and "vector<4xf32>" in text
    a, b = RNG.random((4, 8), dtype=np.float32), RNG.random((8, 20), dtype=np.float32)
    c = np.zeros((4, 20), np.float32)
    run(source, a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-6)


def test_the_loop_variable_as_data_and_a_gather():
    source = func(
        "%I: memref<10xindex>, %X: memref<10xf32>, %Y: memref<10xf32>",
        """affine.for %j = 0 to 10 {
      %k = affine.load %I[%j] : memref<10xindex>
      %x = memref.load %X[%k] : memref<10xf32>
      %q = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%j)
      %sum = arith.addi %q, %j : index
      %i = arith.index_cast %sum : index to i32
      %f = arith.sitofp %i : i32 to f32
      %s = arith.addf %x, %f : f32
      affine.store %s, %Y[%j] : memref<10xf32>
    } {tir.kind = "vectorized"}""",
    )
    assert "affine.for" not in passed(source, *VECTOR)
    where, x, y = RNG.permutation(10).astype(np.int64), RNG.random(10, dtype=np.float32), np.zeros(10, np.float32)
    run(source, where, x, y)
    j = np.arange(10)
    np.testing.assert_allclose(y, x[where] + j // 3 + j, rtol=1e-6)


def test_bool_buffers_stay_scalar():
    source = func(
        "%X: memref<16xf32>, %M: memref<16xi1>",
        """%half = arith.constant 0.5 : f32
    affine.for %j = 0 to 16 {
      %x = affine.load %X[%j] : memref<16xf32>
      %m = arith.cmpf olt, %x, %half : f32
      affine.store %m, %M[%j] : memref<16xi1>
    } {tir.kind = "vectorized"}""",
    )
    x, m = RNG.random(16, dtype=np.float32), np.zeros(16, np.bool_)
    run(source, x, m)
    np.testing.assert_array_equal(m, x < 0.5)


PARALLEL = """
  %t = memref.alloc() {tir.name = "t"} : memref<64x32xf32>
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 32 {
      %x = affine.load %X[%i, %j] : memref<64x32xf32>
      affine.store %x, %t[DATA, %j] : memref<64x32xf32>
    }
    affine.for %j = 0 to 32 {
      %x = affine.load %t[DATA, 31 - %j] : memref<64x32xf32>
      affine.store %x, %Y[%i, %j] : memref<64x32xf32>
    }
  } {tir.kind = "parallel", tir.loop = "i"}"""


@pytest.mark.parametrize("row", ["0", "%i"])
def test_parallel_with_a_private_buffer(row):
    source = func("%X: memref<64x32xf32>, %Y: memref<64x32xf32>", PARALLEL.replace("DATA", row))
    text = passed(source, "tir-lower-compact", "tir-lower-parallel", "tir-lower-allocs")
    assert text.index("affine.parallel") < text.index("memref.alloca") and "memref<1x32xf32>" in text
    x, y = RNG.random((64, 32), dtype=np.float32), np.zeros((64, 32), np.float32)
    run(source, x, y, libs=(OPENMP,))
    np.testing.assert_array_equal(y, x[:, ::-1])


def test_iterations_that_share_a_buffer_run_serially_and_say_so():
    source = func(
        "%X: memref<64xf32>, %Y: memref<64xf32>",
        """%t = memref.alloc() {tir.name = "sum"} : memref<1xf32>
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %t[0] : memref<1xf32>
    affine.for %i = 0 to 64 {
      %c = affine.load %t[0] : memref<1xf32>
      %x = affine.load %X[%i] : memref<64xf32>
      %s = arith.addf %c, %x : f32
      affine.store %s, %t[0] : memref<1xf32>
      affine.store %s, %Y[%i] : memref<64xf32>
    } {tir.kind = "parallel", tir.loop = "i"}""",
    )
    x, y = RNG.random(64, dtype=np.float32), np.zeros(64, np.float32)
    with pytest.warns(LoweringWarning, match='parallel loop "i".*share buffer "sum"'):
        run(source, x, y)
    np.testing.assert_allclose(y, np.cumsum(x), rtol=1e-5)


@pytest.mark.filterwarnings("error")
def test_a_buffer_that_iterations_only_read_or_split_is_no_race():
    source = func(
        "%X: memref<8x32xf32>, %Y: memref<8x32xf32>",
        """%t = memref.alloc() {tir.name = "t"} : memref<8x32xf32>
    affine.for %i = 0 to 8 {
      affine.for %j = 0 to 32 {
        %x = affine.load %X[%i, %j] : memref<8x32xf32>
        affine.store %x, %t[7 - %i, %j] : memref<8x32xf32>
      } {tir.kind = "vectorized"}
    } {tir.kind = "parallel"}
    affine.for %i = 0 to 8 {
      affine.for %j = 0 to 32 {
        %x = affine.load %t[%i, %j] : memref<8x32xf32>
        affine.store %x, %Y[%i, %j] : memref<8x32xf32>
      } {tir.kind = "vectorized"}
    } {tir.kind = "parallel"}""",
    )
    x, y = RNG.random((8, 32), dtype=np.float32), np.zeros((8, 32), np.float32)
    run(source, x, y, libs=(OPENMP,))
    np.testing.assert_array_equal(y, x[::-1])


def test_parallel_bounds_that_are_a_minimum():
    source = func(
        "%Y: memref<50xf32>",
        """%one = arith.constant 1.0 : f32
    affine.for %i = 0 to 4 {
      affine.for %j = 0 to min affine_map<(d0) -> (16, 50 - d0 * 16)>(%i) {
        affine.store %one, %Y[%i * 16 + %j] : memref<50xf32>
      } {tir.kind = "parallel"}
    }""",
    )
    y = np.zeros(50, np.float32)
    run(source, y, libs=(OPENMP,))
    np.testing.assert_array_equal(y, 1)


def test_thread_bindings_run_in_order():
    source = func(
        "%Y: memref<8x4xf32>",
        """affine.for %b = 0 to 8 {
      affine.for %t = 0 to 4 {
        %i = arith.index_cast %t : index to i32
        %x = arith.sitofp %i : i32 to f32
        affine.store %x, %Y[%b, %t] : memref<8x4xf32>
      } {tir.kind = "threadIdx.x"}
    } {tir.kind = "blockIdx.x"}""",
    )
    assert "tir.kind" not in passed(source, "tir-lower-parallel-threads")
    y = np.zeros((8, 4), np.float32)
    run(source, y)
    np.testing.assert_array_equal(y, np.tile(np.arange(4, dtype=np.float32), (8, 1)))


def loop_with_buffer(size: int, count: int) -> str:
    return func(
        "%Y: memref<1xf32>",
        f"""affine.for %i = 0 to {count} {{
      %t = memref.alloc() {{tir.name = "t"}} : memref<{size}xf32>
      affine.for %j = 0 to 4 {{
        %n = arith.index_cast %i : index to i32
        %x = arith.sitofp %n : i32 to f32
        affine.store %x, %t[%j * {size // 4}] : memref<{size}xf32>
      }}
      affine.for %j = 0 to 4 {{
        %x = affine.load %t[%j * {size // 4}] : memref<{size}xf32>
        affine.store %x, %Y[0] : memref<1xf32>
      }}
    }}""",
    )


@pytest.mark.parametrize(("size", "op"), [(64, "memref.alloca"), (65536, "memref.alloc(")])
def test_memory_is_made_once_not_in_the_loop(size, op):
    source = loop_with_buffer(size, 1_000_000)
    text = passed(source, "tir-lower-allocs")
    assert text.index(op) < text.index("affine.for")
    assert ("memref.dealloc" in text) == (op == "memref.alloc(")
    y = np.zeros(1, np.float32)
    run(source, y)
    assert y[0] == 999_999


def test_stack_has_a_limit():
    body = "\n".join(
        f"%t{i} = memref.alloc() : memref<4096xf32>\naffine.store %one, %t{i}[0] : memref<4096xf32>" for i in range(6)
    )
    text = passed(func("%Y: memref<1xf32>", "%one = arith.constant 1.0 : f32\n" + body), "tir-lower-allocs")
    assert text.count("memref.alloca") == 4 and text.count("memref.dealloc") == 2
