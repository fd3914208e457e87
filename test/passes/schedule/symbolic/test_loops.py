"""Loops of symbolic sizes: split with its tail, fuse, reorder, kinds; guards are those needed and no others."""

import pytest
from programs.short import each, program
from programs.symbolic import Matmul, Twice

from tir_mlir import Schedule


def matmul_shapes(n):
    return (n, n + 2), (n + 2, n + 1), (n, n + 1)


def twice_shapes(n):
    return (n, 8), (n, 8)


def test_every_loop_primitive_on_tails(right_at):
    sch = Schedule(Matmul)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    j_0, j_1 = sch.split(j, [None, 16])
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(i_0, j_0, k_0, i_1, k_1, j_1)
    sch.decompose_reduction("C", k_0)
    sch.parallel(i_0)
    sch.unroll(k_1)
    sch.vectorize(j_1)
    sch.annotate(j_0, "my.note", 1)
    assert "T.where(i_0 * 4 + i_1 < n and j_0 * 16 + j_1 < m and r_0 * 4 + r_1 < k)" in sch.mod.script()
    right_at(sch, matmul_shapes, lambda a, b: a @ b)


@pytest.mark.parametrize("factors", [[None, 16], [None, 4, 4], [None, 5]])
def test_split_fused(factors, right_at):
    sch = Schedule(Twice)
    fused = sch.fuse(*sch.get_loops("C"))
    sch.split(fused, factors)
    right_at(sch, twice_shapes, lambda a: (a + 1) * 2)


def test_bindings_under_ranges_are_the_shortest():
    sch = Schedule(Twice)
    f_0, f_1 = sch.split(sch.fuse(*sch.get_loops("C")), [None, 16])
    assert "vi = T.axis.spatial(n, i_j_fused_0 * 2 + i_j_fused_1 // 8)" in sch.mod.script()
    assert "vj = T.axis.spatial(8, i_j_fused_1 % 8)" in sch.mod.script()
    sch.fuse(f_0, f_1)
    assert "T.where(i_j_fused_0_i_j_fused_1_fused < n * 8)" in sch.mod.script()


def test_a_split_of_a_split_has_one_extent_and_no_guard_twice(right_at):
    sch = Schedule(Twice)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.split(i_0, [None, 4])
    assert "for i_0_0, i_0_1, i_1, j in T.grid((n + 63) // 64, 4, 16, 8):" in sch.mod.script()
    assert "T.where(i_0_0 * 64 + i_0_1 * 16 + i_1 < n)" in sch.mod.script()  # i_0 < ceil(n / 16) follows
    right_at(sch, twice_shapes, lambda a: (a + 1) * 2)


def test_a_guard_on_inner_loops_alone_stays(right_at):
    sch = Schedule(Twice)
    _, i_1 = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.split(i_1, [None, 5])
    assert "T.where(i_0 * 16 + i_1_0 * 5 + i_1_1 < n and i_1_0 * 5 + i_1_1 < 16)" in sch.mod.script()
    right_at(sch, twice_shapes, lambda a: (a + 1) * 2)


def test_fuse_passes_over_loops_that_run_once(right_at):
    Units = program("A:nx8 C:nx8", each("C u:1 i:n j:8", "C[vi, vj] = A[vi, vj] * 2.0"))
    sch = Schedule(Units)
    sch.fuse(*sch.get_loops("C"))
    assert "vi = T.axis.spatial(n, u_i_j_fused // 8)" in sch.mod.script()
    right_at(sch, twice_shapes, lambda a: a * 2)


def test_vectorize_a_symbolic_loop(right_at):
    sch = Schedule(Twice)
    sch.vectorize(sch.get_loops("C")[0])
    assert "T.vectorized(n)" in sch.mod.script()
    right_at(sch, twice_shapes, lambda a: (a + 1) * 2)


def test_bind_a_symbolic_loop(right_at):
    sch = Schedule(Twice)
    sch.bind(sch.get_loops("C")[0], "threadIdx.x")
    assert 'T.thread_binding(n, thread="threadIdx.x")' in sch.mod.script()
    right_at(sch, twice_shapes, lambda a: (a + 1) * 2)
