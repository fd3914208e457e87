"""tensorize: what fits becomes the implementation and computes the same; what does not is refused with the reason."""

from __future__ import annotations

import textwrap

import pytest

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.dialect.context import entered
from tir_mlir.dialect.errors import IntrinError
from tir_mlir.dialect.views import Block
from tir_mlir.dialect.walk import all_blocks, find
from tir_mlir.intrin.library import outer_product
from tir_mlir.passes.schedule.tensorize import explain_tensorize
from tir_mlir.script.parser import parse

SQUARE = ((64, 64), "float32")


def func(params: str, body: str, option: str = ""):
    text = f"@T.prim_func{option}\ndef main({params}):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return parse(text)


def buffers(**shapes: str) -> str:
    return ", ".join(f"{name}: T.Buffer({shape})" for name, shape in shapes.items())


def matmul(update: str = "C[vi, vj] + A[vi, vk] * B[vj, vk]", extents: str = "64, 64, 64", **shapes: str):
    """`C += A * B^T` by default, without an init."""
    shapes = {"A": '(64, 64), "float32"', "B": '(64, 64), "float32"', "C": '(64, 64), "float32"'} | shapes
    body = f"""
    for i, j, k in T.grid({extents}):
        with T.block("mm"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = {update}
    """
    return func(buffers(**shapes), body)


def tiled(mod, order: str = "ijk", tile: int = 16):
    """The schedule with 16-tiles of the three loops inside, in some order, and the outermost loop of the tile."""
    sch = Schedule(mod)
    outer, inner = [], {}
    for letter, loop in zip("ijk", sch.get_loops("mm"), strict=True):
        first, second = sch.split(loop, factors=[None, tile])
        outer.append(first)
        inner[letter] = second
    sch.reorder(*outer, *(inner[x] for x in order))
    return sch, inner[order[0]]


@pytest.fixture(scope="module")
def mm16() -> str:
    return outer_product(16, 16, 16)


@pytest.fixture
def intrinsic():
    """Register intrinsics for one test."""
    names: list[str] = []

    def register(name: str, desc, impl) -> str:
        TensorIntrin.register(name, desc, impl, override=True)
        names.append(name)
        return name

    yield register
    from tir_mlir.dialect import intrinsics

    for name in names:
        intrinsics._known.pop(name, None)


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


@pytest.mark.parametrize("m, n, k", [(16, 16, 1), (1, 16, 16), (16, 1, 16)])
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
    mod = parse("""
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, 4, m, 16))
    B = T.match_buffer(b, (n, 4, m, 16))
    for i0, j0, i1, j1 in T.grid(n, m, 4, 16):
        with T.block("copy"):
            v0, v1, v2, v3 = T.axis.remap("SSSS", [i0, i1, j0, j1])
            B[v0, v1, v2, v3] = A[v0, v1, v2, v3]
""")
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch = Schedule(mod)
    sch.tensorize(sch.get_loops("copy")[2], name)
    assert parse(sch.mod.script()).equal(sch.mod)
    name = copy_intrinsic(intrinsic, "strides=[$, 1], offset_factor=16")
    sch = Schedule(mod)
    loop = sch.get_loops("copy")[2]
    refused(sch, "for all that is known of its strides", lambda: sch.tensorize(loop, name))


# --- what does not ------------------------------------------------------------------------------------------------


MISFITS = {
    "map": (
        dict(update="C[vi, vj] + A[vi, vk] * B[vk, vj]"),
        r"the intrinsic reads B\[vj, vk\], the block reads B\[vk, vj\] there; a view cannot swap",
    ),
    "scope": (dict(A='(64, 64), "float32", scope="shared"'), 'wants scope "global", A is in "shared"'),
    "payload": (dict(update="C[vi, vj] - A[vi, vk] * B[vj, vk]"), r"the block computes subf\(C, mulf\(A, B\)\)"),
    "dtype": (
        dict.fromkeys("ABC", '(64, 64), "float64"'),
        "computes addf.* : f32, the block computes addf.* : f64",
    ),
    "order": (dict(update="C[vi, vj] * A[vi, vk] + B[vj, vk]"), "so the order of iterations matters"),
}


@pytest.mark.parametrize("change, text", MISFITS.values(), ids=MISFITS.keys())
def test_misfits_say_what_differs(change, text, mm16, refused):
    sch, loop = tiled(matmul(**change))
    refused(sch, text, lambda: sch.tensorize(loop, mm16))


def test_wrong_extent(mm16, refused):
    sch, loop = tiled(matmul(), tile=8)
    refused(sch, "wants vi: 16 spatial.*the block has vi_i: 8 spatial", lambda: sch.tensorize(loop, mm16))


def test_a_single_point(mm16, refused):
    sch = Schedule(matmul())
    refused(
        sch, r"single point\).*\n.*takes the loop around the tile", lambda: sch.tensorize(sch.get_block("mm"), mm16)
    )


def test_guard(mm16, refused):
    sch, loop = tiled(
        matmul(
            extents="50, 64, 64",
            A='(50, 64), "float32"',
            C='(50, 64), "float32"',
        )
    )
    refused(sch, "guarded by T.where", lambda: sch.tensorize(loop, mm16))


def test_holes(mm16):
    mod = func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"', C='(64, 64), "float32"'),
        """
        for i0, j0 in T.grid(4, 4):
            with T.block("o"):
                vi0, vj0 = T.axis.remap("SS", [i0, j0])
                for i, j, k in T.grid(16, 16, 8):
                    with T.block("mm"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        vk = T.axis.reduce(15, k * 2)
                        C[vi0 * 16 + vi, vj0 * 16 + vj] = C[vi0 * 16 + vi, vj0 * 16 + vj] + A[
                            vi0 * 16 + vi, vk] * B[vj0 * 16 + vj, vk]
        """,
        "(check_well_formed=False)",
    )
    with entered():
        block = all_blocks(mod.mlir.operation)[0]
        assert "(vi, vj, vk) = (0, 0, 1) is left out" in explain_tensorize(block, mm16)


def test_init_must_be_taken_out_first(mm16, refused, same_result):
    mod = func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"', C='(64, 64), "float32"'),
        """
        for i, j, k in T.grid(64, 64, 64):
            with T.block("mm"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
    )
    sch, loop = tiled(mod)
    block = sch.blockize(loop)
    refused(sch, "decompose_reduction takes the init out", lambda: sch.tensorize(block, mm16))
    sch.decompose_reduction(block, sch.get_loops(block)[2])
    sch.tensorize(block, mm16)
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


# --- what the implementation asks ---------------------------------------------------------------------------------


def copy_intrinsic(intrinsic, impl_facts: str, shape: str = "(4, 16)"):
    """An intrinsic that copies a tile by a call, with facts of its implementation's parameters."""
    desc = func(
        buffers(A=f'{shape}, "float32"', B=f'{shape}, "float32"'),
        f"for i, j in T.grid{shape}:\n    B[i, j] = A[i, j]",
    )["main"]
    impl = parse(
        f"""
@T.prim_func
def main(a: T.handle, b: T.handle):
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, {shape}, "float32", {impl_facts.replace("$", "s")})
    B = T.match_buffer(b, {shape}, "float32", {impl_facts.replace("$", "t")})
    with T.block("root"):
        T.reads(A[0:4, 0:16])
        T.writes(B[0:4, 0:16])
        T.evaluate(T.call_extern("int32", "copy_tile", A.access_ptr("r"), B.access_ptr("w")))
"""
    )["main"]
    return intrinsic("copy_tile", desc, impl)


def copy_program(shape: str = "(64, 64)", index: str = "vi, vj", extents: str = "64, 64"):
    return func(
        buffers(A=f'{shape}, "float32"', B=f'{shape}, "float32"'),
        f"""
        for i, j in T.grid({extents}):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[{index}] = A[{index}]
        """,
    )


def copy_tile(mod, extents: tuple[int, int] = (4, 16)):
    sch = Schedule(mod)
    tiles = [sch.split(x, factors=[None, f]) for x, f in zip(sch.get_loops("copy"), extents, strict=True)]
    sch.reorder(*(t[0] for t in tiles), *(t[1] for t in tiles))
    return sch, tiles[0][1]


def test_offset_factor_is_proved(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[$, 1], offset_factor=16")
    sch, loop = copy_tile(copy_program())
    sch.tensorize(loop, name)
    assert sch.mod.script().count("offset_factor=16") == 2
    text = (
        r'"copy_tile" must start at a multiple of 16 elements \(offset_factor\); the region of A does not at vi_o = 0'
    )
    sch, loop = copy_tile(copy_program("(64, 72)", "vi, vj + 8"))
    refused(sch, text, lambda: sch.tensorize(loop, name))
    # 72-element rows: only every other tile of 4 rows would do, but 4 * 72 is a multiple of 16 and every tile does
    sch, loop = copy_tile(copy_program("(64, 72)"))
    sch.tensorize(loop, name)
    sch, loop = copy_tile(copy_program("(64, 70)"))
    refused(sch, "does not at vi_o = 1, vj_o = 0", lambda: sch.tensorize(loop, name))


def test_a_pointer_that_only_writes(intrinsic):
    """What the description does not read is not read by the implementation either, though a pointer could."""
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch, loop = copy_tile(copy_program())
    block = sch.blockize(loop)
    sch.tensorize(block, name)
    assert (sch.get(block).reads, sch.get(block).writes) == (["A"], ["B"])
    assert parse(sch.mod.script()).equal(sch.mod)


def test_constant_strides_must_be_met(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[64, 1]")
    sch, loop = copy_tile(copy_program())
    sch.tensorize(loop, name)
    sch, loop = copy_tile(copy_program("(64, 80)"))
    refused(sch, "needs the stride 64 in dimension 0, the region of A has 80", lambda: sch.tensorize(loop, name))


def test_innermost_stride(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch, loop = copy_tile(copy_program("(64, 64, 2)", "vi, vj, 0"))
    refused(sch, "needs the stride 1 in dimension 1, the region of A has 2", lambda: sch.tensorize(loop, name))


def test_a_pointer_without_strides_means_a_dense_region(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "offset_factor=1")
    sch, loop = copy_tile(copy_program("(64, 16)", extents="64, 16"))
    sch.tensorize(loop, name)
    sch, loop = copy_tile(copy_program())
    refused(sch, "a dense region: declare A with strides", lambda: sch.tensorize(loop, name))


def test_one_stride_variable_for_two_buffers(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[s, 1]")
    sch, loop = copy_tile(copy_program())
    sch.tensorize(loop, name)
    mod = func(
        buffers(A='(64, 80), "float32"', B='(64, 64), "float32"'),
        """
        for i, j in T.grid(64, 64):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        """,
    )
    sch, loop = copy_tile(mod)
    refused(sch, '"copy_tile" has one stride s for A and B', lambda: sch.tensorize(loop, name))


def test_a_unit_dimension_only_of_the_intrinsic(intrinsic, refused):
    desc = func(buffers(A='(1, 16), "float32"', B='(1, 16), "float32"'), "for j in range(16):\n    B[0, j] = A[0, j]")[
        "main"
    ]
    name = intrinsic("row", desc, desc)
    mod = func(
        buffers(A='(64,), "float32"', B='(64,), "float32"'),
        """
        for j in range(64):
            with T.block("copy"):
                vj = T.axis.spatial(64, j)
                B[vj] = A[vj]
        """,
    )
    sch = Schedule(mod)
    _, tile = sch.split(sch.get_loops("copy")[0], factors=[None, 16])
    refused(sch, r"unit dimension \(0\) that A has not", lambda: sch.tensorize(tile, name))


def test_the_symbol_may_be_taken(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    mod = func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"'),
        """
        for i, j in T.grid(64, 64):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i in range(1):
            with T.block("other"):
                vi = T.axis.spatial(1, i)
                T.reads()
                T.writes()
                T.evaluate(T.call_extern("int32", "copy_tile", vi))
        """,
    )
    sch, loop = copy_tile(mod)
    refused(sch, "has a function copy_tile of type", lambda: sch.tensorize(loop, name))


def test_caches_in_special_scopes(same_result):
    """The schedule of the course's chapter, on a small matrix."""
    mod = func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"', C='(64, 64), "float32"'),
        """
        for i, j, k in T.grid(64, 64, 64):
            with T.block("mm"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
    )
    sch, loop = tiled(mod)
    block = sch.blockize(loop)
    _, j, k = sch.get_loops(block)
    for number, scope in enumerate(("global.A_reg", "global.B_reg")):
        sch.compute_at(sch.cache_read(block, number, scope), k)
    sch.reverse_compute_at(sch.cache_write(block, 0, "global.accumulator"), j)
    sch.decompose_reduction(block, k)
    sch.tensorize(block, outer_product(16, 16, 16, ("global.A_reg", "global.B_reg", "global.accumulator")))
    assert 'strides=("A_s0", 1), scope="global.A_reg"' in sch.mod.script()
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


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


@pytest.mark.parametrize("params, body, text", BAD.values(), ids=BAD.keys())
def test_parameters_agree(params, body, text):
    desc = func(buffers(A='(4,), "float32"', B='(4,), "float32"'), "for i in range(4):\n    B[i] = A[i]")["main"]
    impl = func(params, f"for i in range(4):\n    {body}")["main"]
    with pytest.raises(IntrinError, match=text):
        TensorIntrin.register("bad", desc, impl)
    assert "bad" not in TensorIntrin.list()


def test_a_description_is_a_tensor_computation():
    params = buffers(A='(4,), "float32"', B='(4,), "float32"')
    odd = func(params, "for i in range(3):\n    B[i + 1] = B[i] + A[i]")["main"]
    with pytest.raises(IntrinError, match="no pure tensor computation: B is read at another index"):
        TensorIntrin.register("bad", odd, odd)
    with pytest.raises(IntrinError, match="made by @T.prim_func .* not str"):
        TensorIntrin.register("bad", "text", odd)
    unused = func(params, "for i in range(4):\n    B[i] = T.float32(0)")["main"]
    with pytest.raises(IntrinError, match="does not use parameter A"):
        TensorIntrin.register("bad", unused, unused)


def test_outer_products_are_told_apart_by_their_scopes():
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
    with entered():
        view = Block(find(sch.mod.mlir, block.id))
        text = explain_tensorize(view, [mm16, "outer_product_8x8x8"])
    assert f"{mm16}: fits (vi = vi_i, vj = vj_i, vk = vk_i; A = A, B = B, C = C)" in text
    assert "outer_product_8x8x8: does not fit" in text
