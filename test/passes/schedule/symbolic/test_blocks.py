"""blockize and tensorize over symbolic sizes: tiles, tails, whole symbolic nests, bindings divided exactly."""

from __future__ import annotations

import pytest
from programs.short import each, program, sblock
from programs.symbolic import Matmul, Twice

from tir_mlir import Schedule, TensorIntrin


def matmul_shapes(n):
    return (n, n + 2), (n + 2, n + 1), (n, n + 1)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_blockize_of_whole_symbolic_loops(depth, right_at):
    sch = Schedule(Matmul)
    sch.blockize(sch.get_loops("C")[depth])
    right_at(sch, matmul_shapes, lambda a, b: a @ b, sizes=(1, 15, 17))


def test_blockize_of_a_symbolic_reduction():
    sch = Schedule(Matmul)
    sch.blockize(sch.get_loops("C")[2])
    assert "vk_o = T.axis.reduce(1, 0)" in sch.mod.script()
    assert "vk_i = T.axis.reduce(k, r)" in sch.mod.script()
    assert "T.reads(A[vi_o, 0:k], B[0:k, vj_o])" in sch.mod.script()


def test_blockize_of_tiles_with_tails(right_at):
    sch = Schedule(Matmul)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    j_0, j_1 = sch.split(j, [None, 8])
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(i_0, j_0, k_0, i_1, k_1, j_1)
    sch.decompose_reduction("C", k_0)
    sch.blockize(i_1)
    right_at(sch, matmul_shapes, lambda a, b: a @ b)


def test_blockize_divides_a_fused_loop(right_at):
    sch = Schedule(Twice)
    _, inner = sch.split(sch.fuse(*sch.get_loops("C")), [None, 16])
    sch.blockize(inner)
    assert "vi_o = T.axis.spatial((n + 1) // 2, i_j_fused_0)" in sch.mod.script()
    assert "vi_i = T.axis.spatial(2, i_j_fused_1 // 8)" in sch.mod.script()
    assert "T.where(vi_o * 2 + i_j_fused_1 // 8 < n)" in sch.mod.script()
    right_at(sch, lambda n: ((n, 8), (n, 8)), lambda a: (a + 1) * 2)


def test_blockize_refuses_a_tile_across_rows(refused):
    sch = Schedule(Twice)
    _, inner = sch.split(sch.fuse(*sch.get_loops("C")), [None, 12])
    refused(sch, "the binding of iter vi mixes .* it holds only where n <= 1", lambda: sch.blockize(inner))


double16_desc = program("A:16 C:16", sblock("root", "", each("double:16", "C[vi] = A[vi] * 2.0")))
double16_impl = program("A:16 C:16", sblock("root", "", each("fast:16", "C[vi] = A[vi] + A[vi]")))
TensorIntrin.register("test.symbolic.double16", double16_desc, double16_impl, override=True)
AnySize = program("A:n C:n", each("C i:n", "C[vi] = A[vi] * 2.0"))
FullTiles = program("A:n C:n", "T.assume(n % 16 == 0)", each("C i:n", "C[vi] = A[vi] * 2.0"))


def tensorized(program) -> Schedule:
    sch = Schedule(program)
    _, inner = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.tensorize(inner, "test.symbolic.double16")
    return sch


def test_tensorize_of_full_tiles(right_at):
    right_at(tensorized(FullTiles), lambda n: ((n,), (n,)), lambda a: a * 2, sizes=(0, 16, 128))


def test_tensorize_of_a_tail_is_refused_with_the_condition(refused):
    sch = Schedule(AnySize)
    _, inner = sch.split(sch.get_loops("C")[0], [None, 16])
    refused(sch, r"n % 16 == 0", lambda: sch.tensorize(inner, "test.symbolic.double16"))
