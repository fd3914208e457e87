"""reindex_cache_read and reindex_cache_write: layouts, places, every refusal."""

from __future__ import annotations

import pytest
from programs.matmul import matmul
from programs.short import each, nest, program, sblock
from programs.sizes import matmul_sizes
from programs.stages import HALVES, Diagonals, Halves
from programs.symbolic import Turned

from tir_mlir import IndexMap, Schedule
from tir_mlir.script.structural_equal import difference

Pool = program(
    "A:18x4 D:4x16; B:18x4",
    each("B:18x4", "B[vi, vj] = A[vi, vj] * 2.0"),
    each("D i:16 j:4 r:3R", "D[vj, vi] += B[vi + vr, vj]", init="D[vj, vi] = 0.0"),
)
"""A producer and sums of three of its elements."""
POOL = [((18, 4), "float32"), ((4, 16), "float32")]


def assert_same(sch: Schedule, expected) -> None:
    assert difference(sch.mod.mlir, expected.mlir, names=False) is None


# --- what they make ---------------------------------------------------------------------------------------------------


def test_a_packed_operand():
    Expected = program(
        "A:20x18 B:18x24 C:20x24",
        "A_shared = T.alloc_buffer((5, 18, 4), scope='shared')",
        each(
            "A_shared i:20 k:18",
            "T.reads(A[vi, vk])",
            "T.writes(A_shared[vi // 4, vk, vi % 4])",
            "A_shared[vi // 4, vk, vi % 4] = A[vi, vk]",
        ),
        each(
            "C i:20 j:24 k:18R",
            "T.reads(A_shared[vi // 4, vk, vi % 4], B[vk, vj])",
            "T.writes(C[vi, vj])",
            "C[vi, vj] += A_shared[vi // 4, vk, vi % 4] * B[vk, vj]",
            init="C[vi, vj] = 0.0",
        ),
    )
    sch = Schedule(matmul(20, 24, 18))
    made = sch.reindex_cache_read("C", 0, "shared", lambda i, j, k: (i // 4, k, i % 4))
    assert_same(sch, Expected)
    assert sch.get(made).name == "A_shared"


def test_a_result_written_across():
    Expected = program(
        "A:20x18 B:18x24 C:20x24",
        "C_local = T.alloc_buffer((24, 20), scope='local')",
        nest(
            "i_0:3 i_1:7 j:24 k:18",
            sblock(
                "C",
                "vi:20=i_0 * 7 + i_1 vj:24=j vk:18R=k",
                "T.reads(A[vi, vk], B[vk, vj])",
                "T.writes(C_local[vj, vi])",
                "C_local[vj, vi] += A[vi, vk] * B[vk, vj]",
                init="C_local[vj, vi] = 0.0",
                where="i_0 * 7 + i_1 < 20",
            ),
        ),
        nest(
            "i_0:3 i_1:7 j:24",
            sblock(
                "C_local",
                "vi:20=i_0 * 7 + i_1 vj:24=j",
                "T.reads(C_local[vj, vi])",
                "T.writes(C[vi, vj])",
                "C[vi, vj] = C_local[vj, vi]",
                where="i_0 * 7 + i_1 < 20",
            ),
        ),
    )
    sch = Schedule(matmul(20, 24, 18))
    sch.split(sch.get_loops("C")[0], [None, 7])
    sch.reindex_cache_write("C", 0, "local", lambda i, j, k: (j, i))
    assert_same(sch, Expected)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (15, 16, 17), (127, 2, 3)])
def test_products_of_any_size(sizes, same_result):
    sch = Schedule(matmul(*sizes))
    sch.reindex_cache_read("C", "A", "shared", lambda i, j, k: (k // 4, i, k % 4))
    sch.reindex_cache_read("C", 1, "local", lambda i, j, k: (k * sizes[1] + j,))
    sch.reindex_cache_write("C", 0, "global.acc", lambda *v: (v[1] // 8, v[0], v[1] % 8))
    same_result(sch, matmul(*sizes), *matmul_sizes(*sizes))


def test_a_computed_buffer_is_copied_behind_its_writer(same_result):
    sch = Schedule(Pool)
    sch.reindex_cache_read("D", 0, "shared", lambda i, j, r: (j, i + r))
    text = sch.mod.script()
    assert "B_shared = T.alloc_buffer((4, 18)" in text and "B_shared[vj, vi + vr] = B[vi + vr, vj]" in text
    sch.reindex_cache_write("B", 0, "local", lambda i, j: (j, i))
    same_result(sch, Pool, *POOL)


def test_a_window_unfolded(same_result):
    sch = Schedule(Pool)
    sch.reindex_cache_read("D", 0, "shared", lambda i, j, r: (j, i, r))
    same_result(sch, Pool, *POOL)


def test_in_a_loop_around_writer_and_reader(same_result):
    sch = Schedule(Halves)
    sch.reindex_cache_read("C", 0, "shared", lambda i, j: (j, i))
    sch.reindex_cache_write("B", 0, "local", lambda i, j: (j * 4 + i,))
    assert sch.mod.script().count("for j in range(8):") == 4
    same_result(sch, Halves, *HALVES)


def test_symbolic_sizes(same_result):

    sch = Schedule(Turned)
    sch.reindex_cache_read("B", 0, "shared", lambda i, j: (i, j))
    sch.reindex_cache_write("B", 0, "local", lambda i, j: (j, i))
    assert "A_shared = T.alloc_buffer((n, 8)" in sch.mod.script()
    for n in (1, 16, 17):
        same_result(sch, Turned, ((8, n), "float32"), ((n, 8), "float32"))


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_maps_that_do_not_fit(refused):
    sch = Schedule(matmul(20, 24, 18))

    def read(index_map):
        return lambda: sch.reindex_cache_read("C", 0, "shared", index_map)

    refused(sch, r"uses the iters \(vi, vk\), but the map .* uses \(vi, vj\)", read(lambda i, j, k: (i, j)))
    refused(
        sch,
        r"would share an element of the cache, but access A\[0, 0\] and A\[1, 0\]",
        read(lambda i, j, k: (i // 2, k)),
    )
    refused(sch, "an index must not be negative", read(lambda i, j, k: (i - 1, k)))
    refused(sch, "takes 2 indices; there are 3", read(lambda i, j: (i, j)))
    refused(
        sch, "'fast' is not a storage scope", lambda: sch.reindex_cache_read("C", 0, "fast", lambda i, j, k: (i, k))
    )


def test_an_element_with_two_cells(refused):

    sch = Schedule(Diagonals)
    message = r"B\(vi=0, vj=1\) and B\(vi=1, vj=0\) both access B\[1\], but would use two elements of the cache"
    refused(sch, message, lambda: sch.reindex_cache_write("B", 0, "local", lambda i, j: (i, j)))
    sch.reindex_cache_write("B", 0, "local", lambda i, j: (i + j,))


def test_what_was_there_before(refused):
    Own = program("A:4x4 B:4x4", each("A:4x4", "A[vi, vj] = A[vi, vj] + B[vj, vi]"), each("B:4x4", "B[vi, vj] = 0.0"))
    sch = Schedule(Own)
    turned = lambda i, j: (j, i)  # noqa: E731
    refused(sch, '"A" writes A itself', lambda: sch.reindex_cache_read("A", 0, "local", turned))
    refused(
        sch,
        "reads an element of the buffer before it writes it",
        lambda: sch.reindex_cache_write("A", 0, "local", turned),
    )
    sch.reindex_cache_read("A", "B", "local", turned)  # what B held before block B writes it
    assert sch.verify()


def test_several_writers(refused):
    sch = Schedule(matmul(8, 8, 8))
    sch.decompose_reduction("C", sch.get_loops("C")[2])
    refused(
        sch,
        "C is written by several blocks",
        lambda: sch.reindex_cache_write("C_update", 0, "local", lambda i, j, k: (j, i)),
    )


def test_the_source_of_a_view_is_not_transposed(refused):
    sch = Schedule(
        program(
            "A:4 C:4",
            sblock(
                "o",
                "",
                "T.reads(A[0:4])",
                "T.writes(C[0:4])",
                "X = T.match_buffer(A[0:4], (4,))",
                "Y = T.match_buffer(C[0:4], (4,))",
                each("C:4", "Y[vi] = X[vi] + 1.0"),
            ),
        )
    )
    over = IndexMap.from_text("lambda i: i")
    refused(sch, "A is accessed through the view X", lambda: sch.reindex_cache_read("C", 0, "local", over))
    refused(sch, "C is accessed through the view Y", lambda: sch.reindex_cache_write("C", 0, "local", over))
    refused(sch, "A is accessed through the view X", lambda: sch.reindex("C", ("read", 0)))


def test_the_copy_has_the_loops_on_which_its_loops_depend(same_result):
    module = program(
        "A:8 C:6",
        nest("i:6 k:T.max(0,i-3)..T.min(8,i+4)", sblock("C", "vi:6=i vk:8R=k", "C[vi] += A[vk]", init="C[vi] = 0.0")),
    )
    sch = Schedule(module)
    copy = sch.reindex_cache_read("C", 0, "global", lambda i, k: k)
    assert [sch.get(lp).name for lp in sch.get_loops(copy)] == ["i", "k"]
    assert sch.mod.script().count("for k in range(T.max(0, i - 3), T.min(8, i + 4)):") == 2
    same_result(sch, module, ((8,), "float32"), ((6,), "float32"))


def in_a_unit_loop(extent: int = 1):
    """Blocks with a loop inside, as read_at and write_at leave them."""
    return program(
        "A:8x4 B:8x4",
        each(
            f"B i:8 j:{4 // extent}", nest(f"k:{extent}", f"B[vi, vj * {extent} + k] = A[vi, vj * {extent} + k] * 2.0")
        ),
    )


@pytest.mark.parametrize("step", ["reindex_cache_read", "reindex_cache_write"])
def test_a_loop_of_one_iteration_in_the_block(step, same_result):
    program = in_a_unit_loop()
    sch = Schedule(program)
    getattr(sch, step)("B", 0, "local", lambda i, j: (j, i))
    same_result(sch, program, *[((8, 4), "float32")] * 2)
    assert sch.verify()


@pytest.mark.parametrize("step", ["reindex_cache_read", "reindex_cache_write"])
def test_a_longer_loop_in_the_block_is_refused(step, refused):
    sch = Schedule(in_a_unit_loop(2))
    refused(sch, "uses a loop inside the block", lambda: getattr(sch, step)("B", 0, "local", lambda i, j: (j, i)))
