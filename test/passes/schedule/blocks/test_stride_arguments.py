"""tensorize: a kernel's arguments may be sums of strides and products with constants, such as a stride in bytes."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule, TensorIntrin, build, interpret
from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.runtime.kernels import emit, register_kernel

COPY = """
@T.prim_func
def {name}(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 8), "float32", {strided})
    C = T.match_buffer(c, (4, 8), "float32", scope="local", strides=[8, 1])
    with T.block("root"):
        T.reads(A[0:4, 0:8])
        T.writes(C[0:4, 0:8])
        {body}
"""
LOOPS = """for i, k in T.grid(4, 8):
            with T.block("copy"):
                vi, vk = T.axis.remap("SS", [i, k])
                C[vi, vk] = A[vi, vk]"""
CALL = 'T.call_extern("int32", "copy_rows", C.access_ptr("w"), A.access_ptr("r"), {})'
KERNEL = (
    """
llvm.func @copy_rows(%c: !llvm.ptr, %a: !llvm.ptr, %bytes: i32) -> i32 {
  %done = llvm.mlir.constant(0 : i32) : i32
"""
    + "".join(
        f"""
  %n{r} = llvm.mlir.constant({r} : i32) : i32
  %at{r} = llvm.mul %bytes, %n{r} : i32
  %from{r} = llvm.getelementptr %a[%at{r}] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  %row{r} = llvm.load %from{r} {{alignment = 4 : i64}} : !llvm.ptr -> vector<8xf32>
  %to{r} = llvm.getelementptr %c[{32 * r}] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %row{r}, %to{r} {{alignment = 4 : i64}} : vector<8xf32>, !llvm.ptr
"""
        for r in range(4)
    )
    + """
  llvm.return %done : i32
}
"""
)
PROGRAM = main("A:8x24 B:8x24", each("B i:8 k:24", "B[vi, vk] = A[vi, vk] + T.float32(1)"))


def register(argument: str) -> None:
    desc = COPY.format(name="desc", strided="", body=LOOPS)
    impl = COPY.format(name="impl", strided="strides=[s, 1]", body=CALL.format(argument))
    impl = impl.replace("    A = T.match", "    s = T.int32()\n    A = T.match", 1)
    TensorIntrin.register("copy_rows", parse(desc)["desc"], parse(impl)["impl"], override=True)


def tiled() -> tuple[Schedule, object]:
    sch = Schedule(parse(PROGRAM))
    tiles = sch.cache_read("B", "A", "local")
    i, k = sch.get_loops(tiles)
    (i_0, i_1), (k_0, k_1) = sch.split(i, [None, 4]), sch.split(k, [None, 8])
    sch.reorder(i_0, k_0, i_1, k_1)
    sch.transform_layout(tiles, ("write", 0), lambda i, k: (i // 4, k // 8, i % 4, k % 8))
    return sch, i_1


@pytest.mark.parametrize("argument", ["s * 4", "4 * s", "s + s * 3"])
def test_a_stride_in_bytes(argument):
    register(argument)
    register_kernel("copy_rows", lambda: emit(KERNEL), override=True)
    sch, loop = tiled()
    sch.tensorize(loop, "copy_rows")
    assert "A_1.strides[0] * 4" in sch.mod.script()
    assert sch.verify()
    a, b = np.random.default_rng(0).random((8, 24), dtype=np.float32), np.zeros((8, 24), np.float32)
    for module in (sch, parse(sch.mod.script())):
        b[:] = 0
        build(module)(a, b)
        np.testing.assert_array_equal(b, a + 1)


@pytest.mark.parametrize("argument", ["s // 2", "s % 3"])
def test_a_divided_stride(argument, refused):
    register(argument)
    sch, loop = tiled()
    text = 'the implementation of "copy_rows" uses a stride variable in an index, or divides one'
    refused(sch, text, lambda: sch.tensorize(loop, "copy_rows"))


def test_another_factor_is_another_stride():
    """The description says what the kernel does with four times the stride, not with twice or five times."""
    register("s * 4")
    sch, loop = tiled()
    sch.tensorize(loop, "copy_rows")
    a, b = np.random.default_rng(0).random((8, 24), dtype=np.float32), np.zeros((8, 24), np.float32)
    interpret(sch, a, b)
    np.testing.assert_array_equal(b, a + 1)
    before, after = sch.mod.script().rsplit("A_1.strides[0] * 4", 1)
    twice = parse(f"{before}A_1.strides[0] * 2{after}")
    interpret(twice, a, b)
    assert (b != a + 1).any()
    with pytest.raises(NotInterpreted, match="no intrinsic matches this call of"):
        interpret(parse(f"{before}A_1.strides[0] * 5 + 1{after}"), a, b)


STENCIL = """
@T.prim_func
def main(A: T.Buffer((66, 66), "float32"), B: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi + 2, vj + 2]
"""
HALO = """
@T.prim_func
def {name}(a: T.handle, b: T.handle):
    s, t = T.int32(), T.int32()
    A = T.match_buffer(a, (18, 18), "float32", offset_factor=1, strides=[s, 1])
    B = T.match_buffer(b, (18, 18), "float32", offset_factor=1, strides=[t, 1], scope="local")
    with T.block("root"):
        T.reads(A[0:18, 0:18])
        T.writes(B[0:18, 0:18])
"""
HALO_LOOPS = """        for i, j in T.grid(18, 18):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
"""
HALO_CALL = '        T.evaluate(T.call_extern("int32", "copy_tile", B.access_ptr("w"), A.access_ptr("r"), t, s))\n'


def stencil_tiles():
    sch = Schedule(parse(STENCIL))
    i, j = sch.get_loops("B")
    (i_0, i_1), (j_0, j_1) = sch.split(i, [None, 16]), sch.split(j, [None, 16])
    sch.reorder(i_0, j_0, i_1, j_1)
    return sch, j_0


def test_a_tile_with_a_halo_is_tensorized_as_the_refusal_says(refused):
    desc, impl = (
        parse(HALO.format(name=name) + body)[name] for name, body in (("desc", HALO_LOOPS), ("impl", HALO_CALL))
    )
    TensorIntrin.register("halo", desc, impl, override=True)
    sch, j_0 = stencil_tiles()
    copy = sch.cache_read("B", 0, "local")
    sch.compute_at(copy, j_0)
    inner = sch.get_loops(copy)[-2]
    refused(sch, "; or copy by read_at", lambda: sch.tensorize(inner, "halo"))
    sch, j_0 = stencil_tiles()
    sch.tensorize(sch.read_at(j_0, "B", 0, "local"), "halo")
    assert "copy_tile" in sch.mod.script()
