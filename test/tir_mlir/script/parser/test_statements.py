"""Translation of each TVMScript construct: structure, sizes, pointers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness import scripts
from harness.scripts import Matmul, N, blocks, function, loops, round_trip

from tir_mlir.dialect.ir import enter_context, ops
from tir_mlir.script import PrimFunc, parse
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference

# ---- structure


def test_matmul():
    with enter_context():
        found = [(x.name, x.const_extent, x.id) for x in loops(Matmul)]
        assert found == [("i", 1024, 1), ("j", 1024, 2), ("k", 1024, 3)]
        (block,) = blocks(Matmul)
        assert block.name == "matmul" and block.id == 4
        assert [(i.name, i.kind, i.extent.as_constant()) for i in block.iters] == [
            ("vi", "S", 1024), ("vj", "S", 1024), ("vk", "R", 1024),
        ]  # fmt: skip
        assert block.init is not None
    assert Matmul["main"].attrs == {"global_symbol": "main", "tir.noalias": True}
    text = Matmul.text()
    order = ["affine.if", "arith.constant", "affine.store", "affine.load", "arith.mulf", "arith.addf", "affine.store"]
    position = 0
    for op in order:
        position = text.index(op, position + 1)
    assert "tir.reads" not in text


def test_every_op_has_the_line_of_the_user():
    with enter_context():
        for op in ops(Matmul.mlir.operation):
            if op.name not in ("builtin.module",):
                assert re.match(r'loc\(".*scripts.py":\d+:\d+\)', str(op.location)), op.name
        store = [op for op in ops(Matmul.mlir.operation) if op.name == "affine.store"][-1]
        lines = Path(scripts.__file__).read_text().splitlines()
        line = int(str(store.location).rsplit(":", 2)[1])
        assert "C[vi, vj] +=" in lines[line - 1]


def test_standalone_function_and_names_around_it():
    rows, kind = 4, "int8"

    @T.prim_func
    def copy(A: T.Buffer((rows, N * 2), kind), B: T.Buffer((rows, N * 2), kind)):
        for i, j in T.grid(rows, N * 2):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]

    assert isinstance(copy, PrimFunc) and copy.name == "copy"
    assert "memref<4x32xi8>" in copy.module.text()


def test_options_of_prim_func():
    @T.prim_func(private=True, s_tir=True)
    def inner(A: T.Buffer((4,))):
        pass

    assert inner.attrs == {}
    assert "func.func private @inner" in inner.module.text()
    assert inner.with_attr("tir.noalias", True).attrs == {"tir.noalias": True} and inner.attrs == {}


def test_old_and_new_spelling_are_one():
    old = function(
        """
Y = T.alloc_buffer([16, 8], dtype="float32", scope="global.acc")
for i, j in T.grid(16, 8):
    with T.block("Y"):
        T.block_attr({"my.k": 1})
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = A[vi, vj]
"""
    )
    new = function(
        """
Y = T.sblock_alloc_buffer((16, 8), scope="global.acc")
for i, j in T.grid(16, 8):
    with T.sblock("Y"):
        vi = T.axis.S(16, i)
        vj = T.axis.S(8, j)
        T.sblock_attr({"my.k": T.int32(1)})
        T.reads(A[vi, vj])
        T.writes(Y[vi, vj])
        Y[vi, vj] = A[vi, vj]
"""
    )
    assert difference(old.mlir, new.mlir) is None
    assert 'memref<16x8xf32, "global.acc">' in old.text() and "tir.annotations = {my.k = 1 : i64}" in old.text()


def test_other_names_of_the_namespace():
    mod = parse(
        """
@tvm.script.ir_module
class M:
    @tir.prim_func
    def main(A_1: tir.Buffer[128, "float32"], B_1: tir.Buffer[128, "float32"], C_1: tir.Buffer[128, "float32"]):
        for i_0 in tir.parallel(8):
            for i_2, i_1 in tir.grid(4, 4):
                with tir.block("C"):
                    vi = tir.axis.spatial(128, i_0 * 16 + i_1 * 4 + i_2)
                    tir.reads(A_1[vi], B_1[vi])
                    tir.writes(C_1[vi])
                    C_1[vi] = A_1[vi] + B_1[vi]
"""
    )
    with enter_context():
        assert [x.kind for x in loops(mod)] == ["parallel", "serial", "serial"]
    assert "= (%arg3 * 16 + %arg5 * 4 + %arg4)" in mod.text()


def test_kinds_of_loops():
    mod = function(
        """
for a in T.serial(4, annotations={"my.pragma": "x"}):
    for b in T.vectorized(2, 6):
        for c in T.unroll(4):
            for d in T.thread_binding(32, thread="threadIdx.x"):
                for e in T.thread_binding(0, 2, thread="blockIdx.y"):
                    for f in range(a, T.min(8, b + 3)):
                        B[a, f] = 1.0
"""
    )
    with enter_context():
        found = loops(mod)
        kinds = ["serial", "vectorized", "unrolled", "threadIdx.x", "blockIdx.y", "serial"]
        assert [x.kind for x in found] == kinds
        assert found[0].annotations == {"my.pragma": "x"} and found[1].lower.as_constant() == 2
        assert len(found[5].uppers) == 2


def test_domains_and_axes():
    mod = function(
        """
for i, j in T.grid(8, 8):
    with T.block("B"):
        vi = T.axis.spatial((4, 12), i + 4)
        vj = T.axis.reduce(8, j)
        vo = T.axis.opaque(1, 0)
        with T.init():
            B[vi, 0] = 0.0
        B[vi, 0] = B[vi, 0] + A[vi, vj]
"""
    )
    with enter_context():
        (block,) = blocks(mod)
        found = [(i.kind, i.min.as_constant(), i.extent.as_constant()) for i in block.iters]
        assert found == [("S", 4, 8), ("R", 0, 8), ("O", 0, 1)]


def test_where_goes_around_the_block():
    mod = function(
        """
for i, j in T.grid(3, 6):
    for k in range(8):
        with T.block("B"):
            vi = T.axis.spatial(16, i * 6 + j)
            vk = T.axis.spatial(8, k)
            T.where(i * 6 + j < 16)
            B[vi, vk] = A[vi, vk]
"""
    )
    assert "(d0, d1) : (d0 * -6 - d1 + 15 >= 0)" in mod.text() and "{tir.where}" in mod.text()
    with enter_context():
        assert blocks(mod)[0].where is not None


def test_nested_blocks_and_init_with_loops():
    mod = function(
        """
for i0, k0 in T.grid(4, 2):
    with T.block("o"):
        vi0, vk0 = T.axis.remap("SR", [i0, k0])
        T.reads(A[vi0 * 4:vi0 * 4 + 4, vk0 * 4:vk0 * 4 + 4])
        T.writes(B[vi0 * 4:vi0 * 4 + 4, 0])
        with T.init():
            for i1 in range(4):
                with T.block("init"):
                    vi1 = T.axis.spatial(4, i1)
                    B[vi0 * 4 + vi1, 0] = T.float32(0)
        for i1, k1 in T.grid(4, 4):
            with T.block("i"):
                vi1, vk1 = T.axis.remap("SR", [i1, k1])
                B[vi0 * 4 + vi1, 0] += A[vi0 * 4 + vi1, vk0 * 4 + vk1]
"""
    )
    assert "tir.reads" not in mod.text()  # declared as computed: nothing to keep
    with enter_context():
        assert [b.name for b in blocks(mod)] == ["o", "init", "i"]


def test_the_explicit_root_block():
    implicit = function("for i in range(16):\n    B[i, 0] = 1.0")
    explicit = function(
        'with T.block("root"):\n    T.reads()\n    T.writes()\n    for i in range(16):\n        B[i, 0] = 1.0'
    )
    assert difference(implicit.mlir, explicit.mlir) is None
    declared = function(
        'with T.block("root"):\n    T.writes(B[0:16, 0:8])\n    for i in range(16):\n        B[i, 0] = 1.0'
    )
    assert 'tir.block = "root"' in declared.text() and "tir.writes" in declared.text()


def test_names_of_blocks():
    mod = function('with T.block(""):\n    B[0, 0] = 1.0\nwith T.block():\n    B[0, 1] = 1.0')
    with enter_context():
        assert [b.name for b in blocks(mod)] == ["", ""]


# ---- sizes, strides, pointers


def test_shape_variables():
    mod = round_trip(
        parse(
            """
from __future__ import annotations
@T.prim_func
def main(A: T.Buffer((n, 16), "float16"), b: T.handle, k: T.int32, alpha: T.float32):
    m = T.int32()
    B = T.match_buffer(b, (m, n * 2))
    Y = T.alloc_buffer((n, 4))
    for i, j in T.grid(n, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float16(0)
"""
        )
    )
    text = mod.text()
    assert "memref<?x16xf16>" in text and '{tir.name = "n"}' in text and 'tir.syms = ["m", "n"]' in text
    assert "memref.alloc(%dim)" in text and "%arg2: index" in text and "%arg3: f32" in text


def test_a_string_names_a_variable_too():
    @T.prim_func
    def main(A: T.Buffer(("rows", 4), "float32")):
        for i in range(A.shape[0]):
            with T.block("A"):
                vi = T.axis.spatial(A.shape[0], i)
                A[vi, 0] = 1.0

    assert 'tir.name = "rows"' in main.module.text()


IMPL = """
@T.prim_func
def impl(a: T.handle, b: T.handle):
    {sa}
    A = T.match_buffer(a, (16, 16), "float32", offset_factor=16, strides={strides}, scope="global.A_reg")
    B = T.match_buffer(b, (16, 16), "float32", offset_factor=16)
    with T.block("root"):
        T.reads(A[0:16, 0:16], B[0:16, 0:16])
        T.writes(B[0:16, 0:16])
        {call}
"""


@pytest.mark.parametrize(
    ("sa", "strides", "call"),
    [
        (
            'sa = T.var("int32")',
            "[sa, 1]",
            'T.evaluate(T.call_extern("f", A.access_ptr("r"), B.access_ptr("w"), sa, dtype="int32"))',
        ),
        (
            "sa = T.int32()",
            "(sa, 1)",
            'T.evaluate(T.call_extern("int32", "f", A.access_ptr("r"), B.access_ptr(2), A.strides[0]))',
        ),
        (
            "pass",
            '("sa", 1)',
            'T.call_extern("int32", "f", T.tvm_access_ptr(T.type_annotation("float32"), A.data, A.elem_offset, '
            "A.strides[0] * 16, 1), T.tvm_access_ptr(T.type_annotation(dtype='float32'), B.data, B.elem_offset, 256, "
            '2, dtype="handle"), A.strides[0])',
        ),
    ],
)
def test_strides_and_pointers(sa: str, strides: str, call: str):
    mod = round_trip(parse(IMPL.format(sa=sa, strides=strides, call=call)))
    first = parse(IMPL.format(sa='sa = T.var("int32")', strides="[sa, 1]", call=(
        'T.evaluate(T.call_extern("f", A.access_ptr("r"), B.access_ptr("w"), sa, dtype="int32"))')))  # fmt: skip
    assert difference(mod.mlir, first.mlir) is None
    text = mod.text()
    assert 'memref<16x16xf32, strided<[?, 1], offset: ?>, "global.A_reg">' in text
    assert 'tir.strides = ["sa", ""]' in text and 'tir.access = "r"' in text and 'tir.access = "w"' in text
    assert "func.func private @f(!llvm.ptr, !llvm.ptr, i32) -> i32" in text


def test_match_buffer_of_a_region():
    mod = function(
        """
sa = T.var("int32")
for i in range(4):
    with T.block("call"):
        vi = T.axis.spatial(4, i)
        T.reads(A[vi * 4:vi * 4 + 4, 0:8], B[vi * 4:vi * 4 + 4, 0:8])
        T.writes(B[vi * 4:vi * 4 + 4, 0:8])
        A_1 = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:8], [4, 8], dtype="float32", strides=[sa, 1], offset_factor=4)
        B_1 = T.match_buffer(B[vi * 4:vi * 4 + 4, 0:8], (4, 8), strides=("B_s0", 1), offset_factor=4)
        T.call_extern("int32", "f", A_1.access_ptr("r"), B_1.access_ptr("w"), sa, B_1.strides[0], sa * 2, vi)
"""
    )
    text = mod.text()
    assert "memref.subview" in text and 'tir.name = "A_1"' in text and "strided<[8, 1], offset: ?>" in text
    assert "tir.reads" in text and "tir.writes" in text
