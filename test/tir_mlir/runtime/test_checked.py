"""`build(checked=True)`: accesses that are not proved inside their buffer are checked when they run."""

import ctypes
import threading

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main, nest, sblock, under

from tir_mlir import Schedule
from tir_mlir.build import build
from tir_mlir.errors import BuildError, OutOfBoundsError
from tir_mlir.target import NEON

GATHER = main("A:16x8 P:32:int32 C:32x8", each("pick:32x8", "C[vi, vj] = A[P[vi], vj] * 2.0"))
SCATTER = """
@T.prim_func
def main(A: T.Buffer((8,), "TYPE"), P: T.Buffer((8,), "int64"), c: T.handle):
    n = T.int32()
    C = T.match_buffer(c, (n,), "TYPE")
    for i in range(8):
        with T.block("put"):
            vi = T.axis.opaque(8, i)
            T.reads(A[vi], P[vi])
            T.writes(C[0:n])
            C[P[vi]] = A[vi]
"""
SCHEDULES = {
    "plain": lambda i, j, s: None,
    "parallel": lambda i, j, s: s.parallel(i),
    "vectorized": lambda i, j, s: s.vectorize(j),
    "gather lanes": lambda i, j, s: s.vectorize(i),
    "unrolled": lambda i, j, s: s.unroll(j),
}


def scheduled(name):
    sch = Schedule(parse(GATHER))
    SCHEDULES[name](*sch.get_loops("pick"), sch)
    return sch


def arrays():
    rng = np.random.default_rng(0)
    return rng.random((16, 8), "float32"), rng.integers(0, 16, 32, "int32"), np.zeros((32, 8), "float32")


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_index_outside_raises_with_block_element_and_line(name):
    lib = build(scheduled(name), checked=True)
    a, p, c = arrays()
    lib(a, p, c)
    np.testing.assert_array_equal(c, a[p] * 2)
    p[5] = 16
    with pytest.raises(
        OutOfBoundsError, match=r'main: block "pick" reads A\[16, \d\], outside its shape \(16, 8\)'
    ) as e:
        lib(a, p, c)
    assert (e.value.function, e.value.block, e.value.buffer, e.value.shape) == ("main", "pick", "A", (16, 8))
    assert e.value.place[1] == 1 + next(n for n, line in enumerate(GATHER.splitlines()) if "C[vi, vj] =" in line)
    good = np.arange(32) != 5
    np.testing.assert_array_equal(c[good], a[p[good]] * 2)  # everything else was computed
    p[5] = 0
    lib(a, p, c)  # the next call is a new one
    np.testing.assert_array_equal(c, a[p] * 2)


@pytest.mark.parametrize("index", [-1, -(2**31), 2**31 - 1, 16])
def test_any_index(index):
    a, p, c = arrays()
    p[31] = index
    with pytest.raises(OutOfBoundsError) as caught:
        build(parse(GATHER), checked=True)(a, p, c)
    assert caught.value.index == (index, 0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool", "bfloat16"])
@pytest.mark.parametrize("size", [4, 1, 0])
def test_a_store_outside_changes_nothing(dtype, size):
    memory = np.zeros(64, "uint16" if dtype == "bfloat16" else dtype)
    lib, p = build(parse(SCATTER.replace("TYPE", dtype)), checked=True), np.arange(8)
    with pytest.raises(OutOfBoundsError, match=rf'block "put" writes C\[{size}\], outside its shape \({size},\)'):
        lib(np.ones(8, memory.dtype), p, memory[8 : 8 + size])
    assert not memory[:8].any() and not memory[8 + size :].any()
    assert memory[8 : 8 + size].all()


def test_proved_accesses_are_not_checked():
    text = main("A:16 C:16 ; P:16:int32", each("P:16", "P[vi] = 15 - vi"), each("C:16", "C[vi] = A[P[vi]]"))
    lib = build(parse(text), checked=True)
    assert "__tir_outside" not in lib.llvm_ir
    a, c = np.arange(16, dtype="float32"), np.zeros(16, "float32")
    lib(a, c)
    np.testing.assert_array_equal(c, a[::-1])


def test_an_unverified_affine_access_is_checked(parse):
    text = """func.func @main(%A: memref<8xf32> {tir.name = "A"}, %C: memref<9xf32> {tir.name = "C"}) {
      affine.for %i = 0 to 9 {
        %a = affine.load %A[%i] : memref<8xf32>
        affine.store %a, %C[%i] : memref<9xf32>
      } {tir.loop = "i"}
      return
    }"""
    c = np.ones(9, "float32")
    with pytest.raises(OutOfBoundsError, match=r"main: a statement reads A\[8\], outside its shape \(8,\)"):
        build(parse(text), checked=True)(np.full(8, 2, "float32"), c)
    np.testing.assert_array_equal(c, [2] * 8 + [0])


def test_the_code_cache_keeps_both():
    checked, plain = (build(parse(GATHER), checked=c) for c in (True, False))
    again = build(parse(GATHER), checked=True)
    assert again.timing.cached
    a, p, c = arrays()
    p[3] = -5
    for lib in (checked, again):
        with pytest.raises(OutOfBoundsError, match="-5"):
            lib(a, p, c)
    assert "__tir_outside" in again.llvm_ir and "__tir_outside" not in plain.llvm_ir


def test_calls_of_several_threads_get_their_own_errors():
    lib, found = build(parse(GATHER), checked=True), {}

    def call(number):
        a, p, c = arrays()
        p[number] = -1 - number
        try:
            lib(a, p, c)
        except OutOfBoundsError as error:
            found[number] = error.index[0]

    threads = [threading.Thread(target=call, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {n: -1 - n for n in range(8)}


GUARDED = main(
    "A:16 P:32:int32 C:32",
    nest("i:32:vectorized", sblock("pick", "vi:32=i", "C[vi] = T.if_then_else(P[vi] < 16, A[P[vi]], -1.0)")),
)


def test_lanes_that_do_not_access_are_not_checked():
    lib = build(parse(GUARDED), checked=True)
    a, p, c = np.arange(16, dtype="float32"), np.arange(32, dtype="int32"), np.zeros(32, "float32")
    lib(a, p, c)
    np.testing.assert_array_equal(c, [*range(16), *[-1] * 16])
    p[3] = -7
    with pytest.raises(OutOfBoundsError, match=r"A\[-7\]"):
        lib(a, p, c)


WALK = main(
    "N:8:int32 C:4:int32",
    each(
        "walk:4",
        "at = T.alloc_buffer((1,), 'int32')",
        "at[0] = vi",
        "C[vi] = 0",
        under("while N[at[0]] >= 0:", "at[0] = N[at[0]]", "C[vi] = C[vi] + 1"),
    ),
)


def test_a_while_loop_ends_after_an_access_outside():
    lib, c = build(parse(WALK), checked=True), np.zeros(4, "int32")
    lib(np.array([4, 5, 6, 7, 1, -1, -1, 3 - 4], "int32"), c)
    np.testing.assert_array_equal(c, [3, 1, 1, 1])
    with pytest.raises(OutOfBoundsError, match=r'block "walk" reads N\[8\], outside its shape \(8,\)'):
        lib(np.array([0, 1, 2, 3, 8, 8, 8, 8], "int32")[::-1].copy(), c)


ROWS = main(
    "P:5:int32 V:16 Y:4", each("row:4", "Y[vi] = T.float32(0)", nest("k:P[vi]..P[vi+1]", "Y[vi] = Y[vi] + V[k]"))
)


@pytest.mark.parametrize("kind", ["range", "T.parallel"])
def test_bounds_from_data(kind):
    lib, v, y = (
        build(parse(ROWS.replace("range(4)", f"{kind}(4)")), checked=True),
        np.ones(16, "float32"),
        np.zeros(4, "f4"),
    )
    lib(np.array([0, 3, 3, 9, 16], "int32"), v, y)
    np.testing.assert_array_equal(y, [3, 0, 6, 7])
    with pytest.raises(OutOfBoundsError, match=r'block "row" reads V\[16\], outside its shape \(16,\)'):
        lib(np.array([0, 3, 3, 9, 40], "int32"), v, y)


def test_checked_is_a_bool():
    with pytest.raises(BuildError, match="checked is True or False, not 1"):
        build(parse(GATHER), checked=1)


CALLER = r"""
#include "libpick.h"
void call(int64_t *found) {
  static float a[16 * 8], c[32 * 8];
  static int32_t p[32] = {[7] = 99};
  found[0] = pick(a, p, c);
  for (int n = 0; n < 3; ++n) found[n + 1] = pick_outside()[n];
  p[7] = 3;
  found[4] = pick(a, p, c);
}
"""


def test_an_object_file_for_another_cpu(tmp_path):
    lib = build(parse(GATHER), NEON, checked=True)
    _, header = lib.export(tmp_path / "pick.o")
    assert "const int64_t *pick_outside(void);" in header.read_text()


def test_a_c_caller_reads_the_record(tmp_path):
    lib = build(scheduled("parallel"), driver="tools", checked=True)
    exported = lib.export(tmp_path / "libpick.so")
    shared, header = exported[0], next(path for path in exported if path.suffix == ".h")
    assert "1: read of A in pick, " in header.read_text()
    a, p, c = arrays()
    p[5] = 16
    with pytest.raises(OutOfBoundsError, match=r"A\[16"):
        lib(a, p, c)
    source, obj, made = (tmp_path / name for name in ("call.c", "call.o", "call.so"))
    source.write_text(CALLER)
    from tir_mlir.runtime.tools import toolchain

    toolchain.run("zig", ["cc", "-c", "-fPIC", "-fno-sanitize=all", str(source), "-o", str(obj)])
    toolchain.run("zig", ["ld.lld", "-shared", str(obj), str(shared), "-o", str(made)])
    found = (ctypes.c_int64 * 5)()
    ctypes.CDLL(str(made)).call(found)
    assert list(found) == [-1, 1, 99, 16, 0]
