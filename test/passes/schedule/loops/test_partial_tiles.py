"""Tiles that do not divide an extent: guards, reversed accesses, nested tiles, and blocks moved under them."""

from __future__ import annotations

import pytest
from programs.reduction import row_sums
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule


def flipped(n: int):
    return program(f"A:{n} C:{n}", each(f"C i:{n}", f"C[vi] = A[{n} - 1 - vi]"))


Symbolic = program("A:nx6 B:nx6", each("B i:n j:6", "B[vi, vj] = A[vi, vj] + 1.0"))
SymbolicSums = program("A:3xnx6 C:3", each("C i:3 k:nR j:6R", "C[vi] += A[vi, vk, vj]", init="C[vi] = 0.0"))
OneColumn = program(
    "A:6x1 B:6x1", each("B:6x1", "B[vi, vj] = T.if_then_else(vj >= 1, A[vi, vj - 1], T.float32(0)) + A[vi, vj]")
)
"""Padding of a single column: both neighbors are always outside."""
LateStart = program(
    "A:4x8 C:4; X:4",
    each("ones:4", "X[vi] = 1.0"),
    each("X i:4 k:8R", "X[vi] += A[vi, vk]", init="X[vi] = 0.0", where="1 <= k"),
    each("C:4", "C[vi] = X[vi]"),
)
"""The guard leaves k = 0 out: the init never runs, and X keeps the ones."""


@pytest.mark.parametrize("depth", [0, 1])
def test_blockize_of_a_guarded_reduction_guards_its_init(depth, same_result):
    sch = Schedule(row_sums(7, 3))
    i, _ = sch.get_loops("C")
    outer, inner = sch.split(i, [None, 4])
    sch.blockize((outer, inner)[depth])
    text = sch.mod.script()
    assert text.count("T.where(") == 2  # the init's and the update's
    if depth == 0:
        assert "vi_i = T.axis.spatial(7, i_0 * 4 + i_1)" in text  # the tile is the domain, not the 8 of the loops
    same_result(sch, row_sums(7, 3), ((7, 3), "float32"), ((7,), "float32"))


def test_blockize_of_a_guarded_reduction_loop(same_result):
    sch = Schedule(row_sums(7, 3))
    i, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    k_0, k_1 = sch.split(k, [None, 2])
    sch.reorder(i_0, k_0, i_1, k_1)
    sch.blockize(k_0)
    text = sch.mod.script()
    assert "vk_i = T.axis.reduce(3, k_0 * 2 + k_1)" in text
    same_result(sch, row_sums(7, 3), ((7, 3), "float32"), ((7,), "float32"))


@pytest.mark.parametrize("n", [0, 1, 5, 8])
def test_blockize_of_a_ragged_symbolic_tile(n, same_result):
    sch = Schedule(Symbolic)
    i, _ = sch.get_loops("B")
    _, i_1 = sch.split(i, [None, 4])
    sch.blockize(i_1)
    assert "T.where(vi_o * 4 + i_1 < n)" in sch.mod.script()
    same_result(sch, Symbolic, ((n, 6), "float32"), ((n, 6), "float32"))


def test_blockize_of_a_symbolic_nest_is_one_block(same_result):
    sch = Schedule(Symbolic)
    i, _ = sch.get_loops("B")
    sch.blockize(i)
    assert "vi_o = T.axis.spatial(1, 0)" in sch.mod.script()
    same_result(sch, Symbolic, ((17, 6), "float32"), ((17, 6), "float32"))


@pytest.mark.parametrize("n", [0, 1, 5, 8])
def test_blockize_of_a_fused_symbolic_nest_is_one_block(n, same_result):
    sch = Schedule(Symbolic)
    sch.blockize(sch.fuse(*sch.get_loops("B")))
    text = sch.mod.script()
    assert "vi_o = T.axis.spatial(1, 0)" in text and "vi_i = T.axis.spatial(n, i_j_fused // 6)" in text
    same_result(sch, Symbolic, ((n, 6), "float32"), ((n, 6), "float32"))


def test_blockize_of_a_fused_symbolic_sum_reports_its_size(refused):
    sch = Schedule(SymbolicSums)
    fused = sch.fuse(*sch.get_loops("C")[1:])
    refused(sch, "inner part of iter vk has no constant size; split the symbolic loop", lambda: sch.blockize(fused))


@pytest.mark.parametrize("n", [1, 5, 8])
def test_blockize_of_a_tile_of_a_fused_symbolic_sum(n, same_result):
    sch = Schedule(SymbolicSums)
    fused = sch.fuse(*sch.get_loops("C")[1:])
    sch.blockize(sch.split(fused, [None, 12])[1])
    same_result(sch, SymbolicSums, ((3, n, 6), "float32"), ((3,), "float32"))


def test_blockize_of_a_loop_that_starts_late(same_result):
    Middle = program("A:16 C:16", nest("i:4..12", sblock("C", "vi:(4,12)=i", "C[vi] = A[vi] + 1.0")))
    sch = Schedule(Middle)
    sch.blockize(sch.get_loops("C")[0])
    assert "vi_i = T.axis.spatial(8, i - 4)" in sch.mod.script()
    same_result(sch, Middle, ((16,), "float32"), ((16,), "float32"))


def test_blockize_takes_the_side_of_a_choice_that_became_constant(same_result):
    sch = Schedule(OneColumn)
    sch.blockize(sch.get_loops("B")[1], preserve_unit_iters=False)
    text = sch.mod.script()
    assert "= T.float32(0.0) + A[vi_o, 0]" in text and "A[vi_o, -1]" not in text
    same_result(sch, OneColumn, ((6, 1), "float32"), ((6, 1), "float32"))


def test_an_init_that_never_ran_stays_so(refused):
    sch = Schedule(LateStart)
    refused(sch, "excludes the start of its reduce iters", lambda: sch.blockize(sch.get_loops("X")[1]))


@pytest.mark.parametrize("factors", [[4, 4], [2, 3]])
@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("kind", ["serial", "vthread"])
def test_a_consumer_moved_into_tiles_beyond_the_end_is_guarded(factors, depth, kind, same_result):
    sch = Schedule(flipped(4))
    loops = sch.split(sch.get_loops("C")[0], factors)
    copy = sch.cache_write("C", 0, "shared")
    if kind != "serial":
        sch.bind(loops[0], kind)
    sch.reverse_compute_at(copy, loops[depth])
    assert sch.mod.script().count(f"T.where(i_0 * {factors[1]} + ") == 2  # the tiles that hold nothing copy nothing
    if kind == "serial":
        same_result(sch, flipped(4), ((4,), "float32"), ((4,), "float32"))


def test_reverse_compute_inline_of_a_copied_row(same_result):
    """The copy holds just the row of the iteration, so the merged block writes X once an iteration."""

    RowAtATime = program(
        "A:3x9 C:3x9; X:9",
        nest(
            "i:3",
            nest("j:9", sblock("X", "RS i j", "X[vj] = A[vi, vj] + 1.0")),
            nest("j:9", sblock("C", "SS i j", "C[vi, vj] = X[8 - vj] + X[vj]")),
        ),
    )
    sch = Schedule(RowAtATime)
    sch.blockize(sch.get_loops("X")[1])
    sch.cache_read("X", 0, "global.x")
    sch.reverse_compute_inline("X")
    same_result(sch, RowAtATime, ((3, 9), "float32"), ((3, 9), "float32"))


def test_compute_inline_takes_the_side_of_a_choice_that_became_constant(same_result):
    FirstColumn = program(
        "A:6x1 C:6; B:6x1",
        each("B:6x1", "B[vi, vj] = T.if_then_else(vj >= 1, A[vi, vj - 1], T.float32(0)) + A[vi, vj]"),
        each("C:6", "C[vi] = B[vi, 0]"),
    )
    sch = Schedule(FirstColumn)
    sch.compute_inline("B")
    assert "C[vi] = T.float32(0.0) + A[vi, 0]" in sch.mod.script()
    same_result(sch, FirstColumn, ((6, 1), "float32"), ((6,), "float32"))
