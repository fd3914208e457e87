"""tensorize: a matching block is replaced by the implementation with equal results; the registry of intrinsics."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import nest, program, sblock
from programs.tensorized import SQUARE, buffers, copy_intrinsic, copy_program, copy_tile, func, matmul, tiled

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.dialect.diagnostics import IntrinError
from tir_mlir.dialect.ir import Block, enter_context, find
from tir_mlir.intrin.outer_products import outer_product
from tir_mlir.passes.schedule.blocks.tensorize import explain_tensorize

# --- what fits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["ijk", "kij", "jki"])
def test_a_loop_in_any_order(order, mm16, same_result):
    mod = matmul()
    sch, loop = tiled(mod, order)
    sch.tensorize(loop, mm16)
    text = sch.mod.script()
    assert text.count("T.match_buffer") == 3 and "outer_product_16x16x16" in text
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


UPDATES = {
    "product swapped": "C[vi, vj] + B[vj, vk] * A[vi, vk]",
    "sum swapped": "A[vi, vk] * B[vj, vk] + C[vi, vj]",
    "A and B exchanged": "C[vi, vj] + B[vi, vk] * A[vj, vk]",
    "A with itself": "C[vi, vj] + A[vi, vk] * A[vj, vk]",
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES.keys())
def test_operands_in_any_order(update, mm16, same_result):
    mod = matmul(update)
    sch, loop = tiled(mod)
    sch.tensorize(loop, mm16)
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


def test_transposed_result_takes_the_other_role(mm16, same_result):
    mod = func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"', C='(64, 64), "float32"'),
        """
        for i, j, k in T.grid(64, 64, 64):
            with T.block("mm"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vj, vi] = C[vj, vi] + A[vi, vk] * B[vj, vk]
        """,
    )
    sch, loop = tiled(mod)
    sch.tensorize(loop, mm16)
    views = [line.strip() for line in sch.mod.script().splitlines() if "match_buffer" in line]
    assert views[0].startswith("A_1 = T.match_buffer(B[") and views[1].startswith("B_1 = T.match_buffer(A[")
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


def test_batch_dimensions_are_points(mm16, same_result):
    mod = func(
        buffers(A='(3, 32, 32), "float32"', B='(32, 1, 32), "float32"', C='(3, 32, 32), "float32"'),
        """
        for b, i, j, k in T.grid(3, 32, 32, 32):
            with T.block("mm"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vj, 0, vk]
        """,
    )
    sch = Schedule(mod)
    _, i, j, k = sch.get_loops("mm")
    tiles = [sch.split(x, factors=[None, 16]) for x in (i, j, k)]
    sch.reorder(*(t[0] for t in tiles), *(t[1] for t in tiles))
    sch.tensorize(tiles[0][1], mm16)
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, mod, ((3, 32, 32), "float32"), ((32, 1, 32), "float32"), ((3, 32, 32), "float32"))


def test_the_block_keeps_handle_regions_and_annotations(mm16):
    sch, loop = tiled(matmul())
    block = sch.blockize(loop)
    sch.annotate(block, "mine", 1)
    before = sch.get(block)
    sch.tensorize(block, mm16)
    after = sch.get(block)
    assert (after.name, after.iters, after.annotations) == (before.name, before.iters, {"mine": 1})
    assert (after.reads, after.writes) == (before.reads, before.writes)
    assert parse(sch.mod.script()).equal(sch.mod)


@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 1), (1, 16, 16), (16, 1, 16)])
def test_unit_extents(m, n, k, intrinsic, same_result):
    """An intrinsic with an extent of 1, implemented by plain loops."""
    body = f"""
    with T.block("root"):
        for i, j, k in T.grid({m}, {n}, {k}):
            with T.block("u"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
    """
    shapes = buffers(A=f'({m}, {k}), "float32"', B=f'({n}, {k}), "float32"', C=f'({m}, {n}), "float32"')
    desc = func(shapes, body)["main"]
    name = intrinsic("unit", desc, desc)
    mod = matmul()
    sch = Schedule(mod)
    tiles = [sch.split(x, factors=[None, f]) for x, f in zip(sch.get_loops("mm"), (m, n, k), strict=True)]
    sch.reorder(*(t[0] for t in tiles), *(t[1] for t in tiles))
    sch.tensorize(tiles[0][1], name)
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


def test_an_implementation_of_ordinary_loops(intrinsic, same_result):
    shapes = buffers(A='(16, 16), "float32"', B='(16, 16), "float32"')
    desc = func(shapes, "for i, j in T.grid(16, 16):\n    B[i, j] = A[i, j] + T.float32(1)")["main"]
    impl = func(
        shapes,
        """
        with T.block("root"):
            T.block_attr({"by": "rows"})
            for r in range(16):
                with T.block("row"):
                    vr = T.axis.spatial(16, r)
                    A_1 = T.match_buffer(A[vr, 0:16], (1, 16))
                    for c in range(16):
                        B[vr, c] = T.float32(1) + A_1[0, c]
        """,
    )["main"]
    name = intrinsic("plus_one", desc, impl)
    mod = func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"'),
        """
        for i, j in T.grid(64, 64):
            with T.block("plus"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
        """,
    )
    sch = Schedule(mod)
    tiles = [sch.split(x, factors=[None, 16]) for x in sch.get_loops("plus")]
    sch.reorder(*(t[0] for t in tiles), *(t[1] for t in tiles))
    sch.tensorize(tiles[0][1], name)
    assert 'T.block("row")' in sch.mod.script() and '"by": "rows"' in sch.mod.script()
    same_result(sch, mod, SQUARE, SQUARE)


def test_an_implementation_with_a_buffer_of_its_own(intrinsic, same_result):
    shapes = buffers(A='(4, 16), "float32"', B='(4, 16), "float32"')
    desc = func(shapes, "for i, j in T.grid(4, 16):\n    B[i, j] = A[i, j]")["main"]
    impl = func(
        shapes,
        """
        with T.block("root"):
            row = T.alloc_buffer((4, 16))
            for i, j in T.grid(4, 16):
                with T.block("in"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    row[vi, vj] = A[vi, vj]
            for i, j in T.grid(4, 16):
                with T.block("out"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = row[vi, vj]
        """,
    )["main"]
    mod = copy_program()
    sch, loop = copy_tile(mod)
    sch.tensorize(loop, intrinsic("buffered", desc, impl))
    same_result(sch, mod, SQUARE, SQUARE)


def test_symbolic_sizes(intrinsic, refused):
    """Strides that are variables are handed on; offsets are proved as far as they can be."""
    mod = program(
        "A:nx4xmx16 B:nx4xmx16",
        nest(
            "i0:n j0:m i1:4 j1:16",
            sblock("copy", "v0:n=i0 v1:4=i1 v2:m=j0 v3:16=j1", "B[v0, v1, v2, v3] = A[v0, v1, v2, v3]"),
        ),
    )
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch = Schedule(mod)
    sch.tensorize(sch.get_loops("copy")[2], name)
    assert parse(sch.mod.script()).equal(sch.mod)
    for factor in (8, 16):  # strides are multiples of the numbers in them
        name = copy_intrinsic(intrinsic, f"strides=[$, 1], offset_factor={factor}")
        sch = Schedule(mod)
        sch.tensorize(sch.get_loops("copy")[2], name)
    name = copy_intrinsic(intrinsic, "strides=[$, 1], offset_factor=128")
    sch = Schedule(mod)
    loop = sch.get_loops("copy")[2]
    refused(sch, "must start at a multiple of 128 elements", lambda: sch.tensorize(loop, name))


# --- the registry -------------------------------------------------------------------------------------------------


def test_names(mm16):
    sch, loop = tiled(matmul())
    with pytest.raises(IntrinError, match=f"did you mean .*{mm16}"):
        sch.tensorize(loop, mm16 + "x")
    assert TensorIntrin.get("nothing", allow_missing=True) is None
    found = TensorIntrin.get(mm16)
    assert found is not None and found.name == mm16 and mm16 in TensorIntrin.list()
    with pytest.raises(IntrinError, match="registered already; pass override=True"):
        TensorIntrin.register(mm16, matmul()["main"], matmul()["main"])


BAD = {
    "count": (buffers(A='(4,), "float32"'), "A[i] = A[i] + T.float32(1)", "description has 2 parameters .* 1 "),
    "shape": (
        buffers(A='(4,), "float32"', B='(5,), "float32"'),
        "B[i] = A[i]",
        r"shape of parameter B is \(4,\) .* \(5,\)",
    ),
    "dtype": (buffers(A='(4,), "float16"', B='(4,), "float16"'), "B[i] = A[i]", 'dtype of parameter A is "float32"'),
    "scope": (
        buffers(A='(4,), "float32", scope="shared"', B='(4,), "float32"'),
        "B[i] = A[i]",
        'scope of parameter A is "global" .* "shared"',
    ),
}


@pytest.mark.parametrize(("params", "body", "text"), BAD.values(), ids=BAD.keys())
def test_parameters_agree(params, body, text):
    desc = func(buffers(A='(4,), "float32"', B='(4,), "float32"'), "for i in range(4):\n    B[i] = A[i]")["main"]
    impl = func(params, f"for i in range(4):\n    {body}")["main"]
    with pytest.raises(IntrinError, match=text):
        TensorIntrin.register("bad", desc, impl)
    assert "bad" not in TensorIntrin.list()


def test_a_description_is_a_tensor_computation():
    params = buffers(A='(4,), "float32"', B='(4,), "float32"')
    odd = func(params, "for i in range(3):\n    B[i + 1] = B[i] + A[i]")["main"]
    with pytest.raises(IntrinError, match="not a pure tensor computation: B is read at another index"):
        TensorIntrin.register("bad", odd, odd)
    with pytest.raises(IntrinError, match=r"must be a @T.prim_func .* not str"):
        TensorIntrin.register("bad", "text", odd)
    unused = func(params, "for i in range(4):\n    B[i] = T.float32(0)")["main"]
    with pytest.raises(IntrinError, match="does not use parameter A"):
        TensorIntrin.register("bad", unused, unused)


def test_outer_products_are_distinguished_by_their_scopes():
    assert outer_product(8, 8, 8) == outer_product(8, 8, 8)
    names = {outer_product(8, 8, 8, scopes) for scopes in (("s", "global", "global"), ("global", "s", "global"))}
    assert len(names) == 2
    with pytest.raises(IntrinError, match="registered already"):
        outer_product(8, 8, 4, name="outer_product_8x8x8")
    with pytest.raises(ValueError, match="multiples of 4"):
        outer_product(8, 6, 8)


def test_explain(mm16):
    sch, loop = tiled(matmul())
    block = sch.blockize(loop)
    outer_product(8, 8, 8)
    with enter_context():
        view = Block(find(sch.mod.mlir, block.id))
        text = str(explain_tensorize(view, [mm16, "outer_product_8x8x8"]))
    assert f"{mm16}: fits (vi = vi_i, vj = vj_i, vk = vk_i; A = A, B = B, C = C)" in text
    assert "outer_product_8x8x8: does not fit\n  not with vi = " in text
    assert str(sch.explain_tensorize(block, [mm16, "outer_product_8x8x8"])) == text


def test_explain_reports_every_alignment(mm16):
    sch, loop = tiled(matmul())
    before = sch.mod.script()
    found = sch.explain_tensorize(loop, mm16)
    assert found and found[mm16] and sch.mod.script() == before
    fits, other = found[mm16].ways
    assert not fits.differences and dict(fits.operands) == {"A": "A", "B": "B", "C": "C"}
    assert dict(other.operands) == {"A": "B", "B": "A", "C": "C"} and other.differences
    alone = sch.explain_tensorize("mm", mm16)
    assert not alone and "is a single point" in str(alone)
