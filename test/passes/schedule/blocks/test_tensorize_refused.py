"""tensorize: mismatches and unmet requirements of the implementation are refused with the reason."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.tensorized import SQUARE, buffers, copy_intrinsic, copy_program, copy_tile, func, matmul, tiled

from tir_mlir import Schedule
from tir_mlir.dialect.ir import all_blocks, enter_context
from tir_mlir.intrin.outer_products import outer_product
from tir_mlir.passes.schedule.blocks.tensorize import explain_tensorize

# --- what does not ------------------------------------------------------------------------------------------------


MISFITS = {
    "map": (
        dict(update="C[vi, vj] + A[vi, vk] * B[vk, vj]"),
        r"the intrinsic reads B\[vj, vk\], the block reads B\[vk, vj\] there; a view cannot swap",
    ),
    "scope": (dict(A='(64, 64), "float32", scope="shared"'), 'needs scope "global", A is in "shared"'),
    "payload": (dict(update="C[vi, vj] - A[vi, vk] * B[vj, vk]"), r"the block computes subf\(C, mulf\(A, B\)\)"),
    "dtype": (dict.fromkeys("ABC", '(64, 64), "float64"'), "computes addf.* : f32, the block computes addf.* : f64"),
    "order": (dict(update="C[vi, vj] * A[vi, vk] + B[vj, vk]"), "so the order of iterations matters"),
}


@pytest.mark.parametrize(("change", "text"), MISFITS.values(), ids=MISFITS.keys())
def test_mismatches_list_the_differences(change, text, mm16, refused):
    sch, loop = tiled(matmul(**change))
    refused(sch, text, lambda: sch.tensorize(loop, mm16))


def test_wrong_extent(mm16, refused):
    sch, loop = tiled(matmul(), tile=8)
    refused(sch, "needs vi: 16 spatial.*the block has vi_i: 8 spatial", lambda: sch.tensorize(loop, mm16))


def test_a_single_point(mm16, refused):
    sch = Schedule(matmul())
    refused(
        sch,
        r"single point\).*\n.*pass the loop around the tile to tensorize",
        lambda: sch.tensorize(sch.get_block("mm"), mm16),
    )


def test_guard(mm16, refused):
    sch, loop = tiled(matmul(extents="50, 64, 64", A='(50, 64), "float32"', C='(50, 64), "float32"'))
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
    with enter_context():
        block = all_blocks(mod.mlir.operation)[0]
        assert "(vi, vj, vk) = (0, 0, 1) is left out" in str(explain_tensorize(block, mm16))


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
    refused(sch, "apply decompose_reduction at the outermost loop", lambda: sch.tensorize(block, mm16))
    sch.decompose_reduction(block, sch.get_loops(block)[2])
    sch.tensorize(block, mm16)
    same_result(sch, mod, SQUARE, SQUARE, SQUARE)


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
    refused(sch, "needs stride 64 in dimension 0, but the region of A has 80", lambda: sch.tensorize(loop, name))


def test_innermost_stride(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch, loop = copy_tile(copy_program("(64, 64, 2)", "vi, vj, 0"))
    refused(sch, "needs stride 1 in dimension 1, but the region of A has 2", lambda: sch.tensorize(loop, name))


def test_a_pointer_without_strides_means_a_dense_region(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "offset_factor=1")
    sch, loop = copy_tile(copy_program("(64, 16)", extents="64, 16"))
    sch.tensorize(loop, name)
    sch, loop = copy_tile(copy_program())
    refused(sch, "a contiguous region: declare A with strides", lambda: sch.tensorize(loop, name))


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
    refused(sch, '"copy_tile" uses one stride s for A and B', lambda: sch.tensorize(loop, name))


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
    refused(sch, r"unit dimension \(0\) that A lacks", lambda: sch.tensorize(tile, name))


def calling(name: str):
    """A copy, and a call of an external function."""
    return func(
        buffers(A='(64, 64), "float32"', B='(64, 64), "float32"'),
        f"""
        for i, j in T.grid(64, 64):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i in range(1):
            with T.block("other"):
                vi = T.axis.spatial(1, i)
                T.reads()
                T.writes()
                T.evaluate(T.call_extern("int32", "{name}", vi))
        """,
    )


def test_the_symbol_may_be_taken(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch, loop = copy_tile(calling("copy_tile"))
    refused(sch, "has a function copy_tile of type", lambda: sch.tensorize(loop, name))
    refused(sch, "rename one of the two functions", lambda: sch.tensorize(loop, name))
    sch, loop = copy_tile(calling("another"))
    sch.tensorize(loop, name)


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
