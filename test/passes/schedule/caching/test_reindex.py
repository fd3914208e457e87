"""reindex: the copy, its placement and order, its requirements, every refusal."""

from __future__ import annotations

import pytest
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock
from programs.sizes import matmul_sizes
from programs.stages import Diagonals
from programs.symbolic import Turned

from tir_mlir import Schedule
from tir_mlir.script.structural_equal import difference

Flipped = program(
    "A:16x16 B:16x20", nest("i:12 j:16", sblock("A", "vi:(4,16)=i + 4 vj:16=j", "A[15 - vi, vj] = B[vj, vi + 2]"))
)
"""Domains that do not start at 0, indices that run backwards, an offset."""
FLIPPED = [((16, 16), "float32"), ((16, 20), "float32")]


Conv = program(
    "A:1x18 W:3 Y:1x16", each("Y n:1 h:16 r:3R", "Y[vn, vh] += A[vn, vh + vr] * W[vr]", init="Y[vn, vh] = 0.0")
)
CONV = [((1, 18), "float32"), ((3,), "float32"), ((1, 16), "float32")]


def assert_same(sch: Schedule, expected) -> None:
    assert difference(sch.mod.mlir, expected.mlir, names=False) is None


# --- what it makes ----------------------------------------------------------------------------------------------------


def test_a_read_follows_the_iters():
    Expected = program(
        "A:20x18 B:18x24 C:20x24; B_reindex:24x18",
        nest(
            "ax0:24 ax1:18",
            sblock(
                "B_reindex_reindex",
                "v0:24=ax0 v1:18=ax1",
                "T.reads(B[v1, v0])",
                "T.writes(B_reindex[v0, v1])",
                "B_reindex[v0, v1] = B[v1, v0]",
            ),
        ),
        each(
            "C i:20 j:24 k:18R",
            "T.reads(A[vi, vk], B_reindex[vj, vk])",
            "T.writes(C[vi, vj])",
            "C[vi, vj] += A[vi, vk] * B_reindex[vj, vk]",
            init="C[vi, vj] = 0.0",
        ),
    )
    sch = Schedule(matmul(20, 24, 18))
    made = sch.reindex("C", ("read", 1))
    assert_same(sch, Expected)
    assert sch.get(made).name == "B_reindex_reindex"


def test_a_write_is_copied_back_behind_the_loops():
    Expected = program(
        "A:16x16 B:16x20; A_reindex:16x16",
        nest(
            "i:12 j:16",
            sblock(
                "A",
                "vi:(4,16)=i + 4 vj:16=j",
                "T.reads(B[vj, vi + 2])",
                "T.writes(A_reindex[vi, vj])",
                "A_reindex[vi, vj] = B[vj, vi + 2]",
            ),
        ),
        nest(
            "ax0:4..16 ax1:16",
            sblock(
                "A_reindex",
                "v0:(4,16)=ax0 v1:16=ax1",
                "T.reads(A_reindex[v0, v1])",
                "T.writes(A[15 - v0, v1])",
                "A[15 - v0, v1] = A_reindex[v0, v1]",
            ),
        ),
    )
    sch = Schedule(Flipped)
    made = sch.reindex("A", ("write", 0))
    assert_same(sch, Expected)
    assert sch.get(made).name == "A_reindex"


@pytest.mark.parametrize("which", [("read", 0), ("read", 1), ("write", 0), ["read", 0], "A", "B", "C"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (15, 16, 17), (127, 2, 3)])
def test_products_of_any_size(which, sizes, same_result):
    sch = Schedule(matmul(*sizes))
    sch.reindex("C", which)
    same_result(sch, matmul(*sizes), *matmul_sizes(*sizes))


def test_a_name_and_an_object_with_a_name_mean_the_buffer():
    class Named:
        name = "B"

    one, other = Schedule(matmul(4, 4, 4)), Schedule(matmul(4, 4, 4))
    one.reindex("C", ("read", 1))
    other.reindex("C", Named())
    assert one.mod.script() == other.mod.script()


@pytest.mark.parametrize("which", [("read", 0), ("write", 0)])
def test_domains_that_start_elsewhere(which, same_result):
    sch = Schedule(Flipped)
    sch.reindex("A", which)
    same_result(sch, Flipped, *FLIPPED)


def test_a_window_is_unfolded(same_result):
    sch = Schedule(Conv)
    sch.reindex("Y", ("read", 0))
    text = sch.mod.script()
    assert "A_reindex = T.alloc_buffer((1, 16, 3))" in text
    assert "A_reindex[v0, v1, v2] = A[v0, v1 + v2]" in text
    sch.reindex("Y", ("write", 0))
    same_result(sch, Conv, *CONV)


def test_guarded_tiles(same_result):
    sch = Schedule(matmul(20, 24, 18))
    i = sch.get_loops("C")[0]
    sch.split(i, [None, 7])
    sch.reindex("C", ("read", 0))
    sch.reindex("C", ("write", 0))
    same_result(sch, matmul(20, 24, 18), *matmul_sizes(20, 24, 18))


def test_inside_a_block_the_iters_around_stay(same_result):
    sch = Schedule(matmul(20, 24, 18))
    i, j, k = sch.get_loops("C")
    _, i_1 = sch.split(i, [None, 4])
    sch.reorder(j, k, i_1)
    sch.blockize(i_1)
    sch.reindex("C", ("read", 1))
    assert "A_reindex[v0] = A[vi_o * 4 + v0, vk_o]" in sch.mod.script()
    same_result(sch, matmul(20, 24, 18), *matmul_sizes(20, 24, 18))


def test_symbolic_sizes(same_result):

    sch = Schedule(Turned)
    sch.reindex("B", ("read", 0))
    sch.reindex("B", ("write", 0))
    assert "A_reindex = T.alloc_buffer((n, 8))" in sch.mod.script()
    for n in (1, 16, 17):
        same_result(sch, Turned, ((8, n), "float32"), ((n, 8), "float32"))


def test_a_declared_region_follows(same_result):
    Declared = program(
        "A:8x8 B:8x8", each("B:8x8", "T.reads(A[0:8, vi])", "T.writes(B[vi, vj])", "B[vi, vj] = A[vj, vi]")
    )
    sch = Schedule(Declared)
    sch.reindex("B", ("read", 0))
    assert "T.reads(A_reindex[vi, vj])" in sch.mod.script()
    same_result(sch, Declared, ((8, 8), "float32"), ((8, 8), "float32"))


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_two_places_one_element_or_none(refused):
    Bad = program(
        "A:17 P:16:int32 B:16x4",
        each("two:16x4", "B[vi, vj] = A[vi] + A[vi + 1]"),
        each("gather:16x4", "B[vi, vj] = A[T.max(T.min(P[vi], 15), 0)]"),
        each("again:16x4", "B[vi, vj] = B[vi, vj] * 2.0"),
        each("inside:16", nest("k:4", "B[vi, k] = 0.0")),
    )
    sch = Schedule(Bad)
    refused(sch, r'"two" accesses A at different indices', lambda: sch.reindex("two", ("read", 0)))
    refused(sch, "memref.load, at a non-affine index", lambda: sch.reindex("gather", "A"))
    refused(sch, '"again" also writes B, which a copy', lambda: sch.reindex("again", ("read", 0)))
    refused(sch, "reads an element of the buffer before it writes it", lambda: sch.reindex("again", ("write", 0)))
    refused(sch, "uses a loop inside the block", lambda: sch.reindex("inside", ("write", 0)))
    refused(sch, "neither reads nor writes a buffer 'Q'", lambda: sch.reindex("two", "Q"))
    refused(sch, "has no buffer number 3", lambda: sch.reindex("two", ("read", 3)))
    refused(sch, '"buffer" has wrong type', lambda: sch.reindex("two", ("both", 0)), TypeError)


def test_an_element_with_two_instances(refused):

    sch = Schedule(Diagonals)
    message = r"B\(vi=0, vj=1\) and B\(vi=1, vj=0\) both access B\[1\]"
    refused(sch, message, lambda: sch.reindex("B", ("write", 0)))
    sch.reindex("B", ("read", 0))


def test_instances_that_do_not_run(refused):
    Half = program("A:8 C:8; B:8", nest("i:4", sblock("B", "vi:8=i", "B[vi] = A[vi]")), each("C:4", "C[vi] = B[vi]"))
    sch = Schedule(Half)
    refused(sch, r"the copy would also take B_reindex\[4\]", lambda: sch.reindex("B", ("write", 0)))


def test_a_copy_that_would_leave_the_buffer(refused):
    Padded = program("A:8 B:10", each("B:10", "B[vi] = T.if_then_else(vi >= 1 and vi < 9, A[vi - 1], T.float32(0))"))
    sch = Schedule(Padded)
    refused(sch, "A is read at index -1", lambda: sch.reindex("B", ("read", 0)))


def test_blocks_inside(refused):
    sch = Schedule(matmul(8, 8, 8))
    sch.blockize(sch.get_loops("C")[1])
    refused(sch, '"C_o" contains block "C_init"', lambda: sch.reindex("C_o", ("read", 0)))
    refused(sch, '"C_init" is in an init region', lambda: sch.reindex("C_init", ("write", 0)))


UPDATED = main(
    "A:2x1:int32 B:3x2:int32 C:3x1:int32",
    each("C i:1 j:3 k:2R", "C[vj, vi] = C[vj, vi] + A[vk, vi] * B[vj, vk]", init="C[vj, vi] = T.int32(0)"),
)


def test_the_order_of_regions_that_use_loops_is_not_kept():
    """A block around pieces of a loop has no iters, so its regions speak of loops, which it cannot declare."""
    sch = Schedule(parse(UPDATED))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    sch.loop_partition(sch.get_loops("C_update")[1], [None, 2], preserve_unit_iters=False)
    sch.blockize(sch.get_child_blocks(sch.get_block("C_update_j_common")))
    sch.reindex("C_update_j0", ("read", 1))
    assert sch.verify()


# --- iters that only look used, accumulators by name ------------------------------------------------------------------


def packed(extent: int):
    """A row of 64 outputs shares one element of the weights, if `extent` is 64."""
    return program(f"W:9x{-(-extent // 64)} Y:9x{extent}", each(f"Y i:9 j:{extent}", "Y[vi, vj] = W[vi, vj // 64]"))


@pytest.mark.parametrize(("extent", "shape"), [(64, "(9,)"), (65, "(9, 65)")])
def test_an_iter_that_the_index_does_not_depend_on_gives_no_dimension(extent, shape, same_result):
    sch = Schedule(packed(extent))
    sch.reindex("Y", ("read", 0))
    assert f"W_reindex = T.alloc_buffer({shape})" in sch.mod.script()
    rows = ((9, -(-extent // 64)), "float32")
    same_result(sch, packed(extent), rows, ((9, extent), "float32"))


def test_an_accumulator_by_name_is_the_write(same_result):
    declared = program(
        "A:9x7 C:9",
        each("C i:9 k:7R", "T.reads(C[vi], A[vi, vk])", "T.writes(C[vi])", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"),
    )
    sch = Schedule(declared)
    made = sch.reindex("C", "C")
    assert sch.get(made).name == "C_reindex"
    same_result(sch, declared, ((9, 7), "float32"), ((9,), "float32"))


def test_an_accumulator_without_a_start_is_refused(refused):
    sch = Schedule(matmul(20, 24, 18))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    refused(sch, "reads an element of the buffer before it writes it", lambda: sch.reindex("C_update", "C"))
