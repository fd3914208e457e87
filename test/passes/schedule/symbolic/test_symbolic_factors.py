"""split with a symbolic inner factor, fuse with a symbolic inner loop: quotients by sizes, products with sizes."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from programs.short import each, program
from programs.symbolic import Matmul

from tir_mlir import Schedule
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.script import IRModule, parse
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

Scaled = program("A:nxm B:nxm", each("B i:n j:m", "B[vi, vj] = A[vi, vj] * 2.0"))


@I.ir_module
class Shifted:
    """Every row but the first one is the sum of two: rows in parallel are right, one row after the other is not."""

    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n, m = T.int32(), T.int32()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (n, m + 1), "float32")
        for i, j in T.grid(n, m + 1):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.opaque(m + 1, j)
                B[vi, vj] = T.if_then_else(vj == 0, T.float32(0), B[vi, vj - 1] + A[vi, vj - 1])


Cube = program("A:nxmxk B:nxmxk", each("B i:n j:m p:k", "B[vi, vj, vp] = A[vi, vj, vp] + 1.0"))


def flat(n):
    return (n, 13), (n, 13)


def _check(sch: Schedule, right_at, shapes=flat, expected=lambda a: a * 2) -> None:
    assert parse(sch.mod.script()).equal(sch.mod)
    assert sch.verify()
    right_at(sch, shapes, expected)


def _fused(program=Scaled, count=2):
    sch = Schedule(program)
    return sch, sch.fuse(*sch.get_loops("B")[:count])


def test_fuse(right_at):
    sch, _ = _fused()
    assert "for i_j_fused in range(n * m):" in sch.mod.script()
    assert "vi = T.axis.spatial(n, i_j_fused // m)" in sch.mod.script()
    assert "vj = T.axis.spatial(m, i_j_fused % m)" in sch.mod.script()
    _check(sch, right_at)


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("parallel", None),
        ("vectorize", "guards the binding of iter vj, which is not affine; choose"),
        ("unroll", '"i_j_fused" is kept as a loop: its extent is not constant'),
    ],
)
def test_kinds_of_a_fused_loop(kind, kept, right_at):
    sch, fused = _fused()
    getattr(sch, kind)(fused)
    with pytest.warns(LoweringWarning, match=kept) if kept else nullcontext():
        _check(sch, right_at)


@pytest.mark.parametrize("factors", [[None, 4], [4, None], [None, 4, 8], [2, None, 3]])
def test_split_of_a_fused_loop_in_parallel(factors, right_at):
    sch, fused = _fused()
    outer, *_ = sch.split(fused, factors)
    sch.parallel(outer)
    _check(sch, right_at)


def test_reorder_of_tiles_of_a_fused_loop(right_at):
    sch, fused = _fused()
    outer, inner = sch.split(fused, [None, 4])
    sch.reorder(inner, outer)
    _check(sch, right_at)


def test_fuse_of_three_symbolic_loops(right_at):
    sch, fused = _fused(Cube, 3)
    assert "vi = T.axis.spatial(n, i_j_p_fused // k // m)" in sch.mod.script()
    assert "vj = T.axis.spatial(m, i_j_p_fused // k % m)" in sch.mod.script()
    sch.parallel(fused)
    _check(sch, right_at, lambda n: ((n, 3, 5), (n, 3, 5)), lambda a: a + 1)


def test_fuse_one_by_one_is_the_same(right_at):
    sch, first = _fused(Cube)
    second = sch.fuse(first, sch.get_loops("B")[1])
    sch.parallel(second)
    _check(sch, right_at, lambda n: ((n, 3, 5), (n, 3, 5)), lambda a: a + 1)


@pytest.mark.parametrize("factors", [[4, None], [2, None, 8], [2, 3, None], [3, None, 1]])
def test_split_by_a_symbolic_inner_factor(factors, right_at):
    sch = Schedule(Scaled)
    sch.split(sch.get_loops("B")[0], factors)
    _check(sch, right_at)


def test_the_text_of_a_split():
    sch = Schedule(Scaled)
    sch.split(sch.get_loops("B")[0], [4, None])
    assert "for i_0, i_1, j in T.grid(4, (n + 3) // 4, m):" in sch.mod.script()
    assert "vi = T.axis.spatial(n, i_0 * ((n + 3) // 4) + i_1)" in sch.mod.script()
    assert "T.where(i_0 * ((n + 3) // 4) + i_1 < n)" in sch.mod.script()


def test_tiles_of_symbolic_size_are_reordered_and_run_in_parallel(right_at):
    sch = Schedule(Scaled)
    i, j = sch.get_loops("B")
    i_0, i_1 = sch.split(i, [4, None])
    j_0, j_1 = sch.split(j, [2, None])
    sch.reorder(i_0, j_0, i_1, j_1)
    sch.parallel(sch.fuse(i_0, j_0))
    sch.vectorize(j_1)
    with pytest.warns(LoweringWarning, match='vectorized loop "j_1" runs serially'):
        _check(sch, right_at)


def test_no_guard_where_the_factors_divide(right_at):
    @I.ir_module
    class Fours:
        @T.prim_func
        def main(a: T.handle, b: T.handle):
            n = T.int32()
            A = T.match_buffer(a, (n * 4,), "float32")
            B = T.match_buffer(b, (n * 4,), "float32")
            for i in range(n * 4):
                with T.block("B"):
                    vi = T.axis.spatial(n * 4, i)
                    B[vi] = A[vi] * 2.0

    sch = Schedule(Fours)
    outer, _ = sch.split(sch.get_loops("B")[0], [4, None])
    sch.parallel(outer)
    assert "T.where" not in sch.mod.script()
    _check(sch, right_at, lambda n: ((n * 4,), (n * 4,)))


def test_unit_loops_outside_a_symbolic_factor_leave_it_affine(right_at):
    sch = Schedule(Scaled)
    sch.split(sch.get_loops("B")[0], [1, None])
    assert 'vi, vj = T.axis.remap("SS", [i_1, j])' in sch.mod.script()
    _check(sch, right_at)


def test_a_sum_over_a_split_by_a_symbolic_factor(right_at):
    sch = Schedule(Matmul)
    i, j, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [3, None])
    sch.reorder(k_0, i, j, k_1)
    right_at(sch, lambda n: ((n, n + 2), (n + 2, n + 1), (n, n + 1)), lambda a, b: a @ b)
    assert sch.verify()


def test_a_sum_over_fused_loops(right_at):
    sch = Schedule(Matmul)
    i, j, _ = sch.get_loops("C")
    sch.parallel(sch.fuse(i, j))
    right_at(sch, lambda n: ((n, n + 2), (n + 2, n + 1), (n, n + 1)), lambda a, b: a @ b)


def test_rows_of_a_recurrence(right_at):
    sch = Schedule(Shifted)
    i, j = sch.get_loops("B")
    i_0, _i_1 = sch.split(i, [4, None])
    sch.parallel(i_0)
    sch.split(j, [2, None])
    assert sch.verify()
    right_at(sch, lambda n: ((n, 13), (n, 14)), lambda a: np.pad(a.cumsum(1), ((0, 0), (1, 0))))


def test_a_fused_recurrence_is_not_parallel(refused):
    sch, fused = _fused(Shifted)
    refused(sch, "whether two iterations of B access one element of B: undecided", lambda: sch.parallel(fused))


def test_tiles_of_a_recurrence_are_not_reordered(refused):
    sch = Schedule(Shifted)
    j_0, j_1 = sch.split(sch.get_loops("B")[1], [4, None])
    refused(sch, "undecided", lambda: sch.reorder(j_1, j_0))
    refused(sch, "undecided", lambda: sch.parallel(j_0))


def test_a_fused_sum_is_not_parallel(refused):
    sch = Schedule(Matmul)
    _, j, k = sch.get_loops("C")
    fused = sch.fuse(j, k)
    refused(sch, "undecided", lambda: sch.parallel(fused))


def test_steps_that_do_not_know_such_bindings_refuse(refused):
    sch, _ = _fused()
    refused(sch, "the binding of iter vj, which is not affine, decides where", lambda: sch.compute_inline("B"))


@pytest.mark.parametrize(
    "step",
    [
        lambda sch: sch.cache_write("B", 0, "global"),
        lambda sch: sch.reindex("B", ("write", 0)),
        lambda sch: sch.reindex_cache_write("B", 0, "global", lambda i, j: (j, i)),
    ],
    ids=["cache_write", "reindex", "reindex_cache_write"],
)
def test_a_fused_loop_fills_a_copy(step, right_at):
    """The digits of a loop over all of n * m are all pairs."""
    sch, _ = _fused()
    step(sch)
    _check(sch, right_at)


def test_a_part_of_a_fused_loop_fills_no_copy(refused):
    sch, fused = _fused()
    _outer, _ = sch.split(fused, [None, 4])
    refused(sch, "the binding of iter vj, which is not affine", lambda: sch.cache_write("B", 0, "global"))


def test_a_block_with_such_bindings_reads_a_copy(right_at):
    sch, _ = _fused()
    sch.cache_read("B", 0, "global")
    sch.reindex("B", ("read", 0))
    _check(sch, right_at)


def test_a_unit_loop_goes_around_such_bindings(right_at):
    sch, _ = _fused()
    sch.add_unit_loop("B")
    assert "for i_j_fused, u in T.grid(n * m, 1):" in sch.mod.script()
    _check(sch, right_at)


def ragged(n):
    return (n, 2 * n + 13), (n, 2 * n + 13)


def _tiled(program=Scaled):
    """Both loops split by constants, the outer two fused: the product of two quotients."""
    sch = Schedule(program)
    i, j = sch.get_loops("B")
    (i0, i1), (j0, j1) = sch.split(i, [None, 64]), sch.split(j, [None, 16])
    sch.reorder(i0, j0, i1, j1)
    return sch, sch.fuse(i0, j0), sch.fuse(i1, j1)


def test_fuse_of_quotients_runs_in_parallel(right_at):
    sch, fused, _ = _tiled()
    assert "in T.grid((n + 63) // 64 * ((m + 15) // 16), 1024):" in sch.mod.script()
    assert "vi = T.axis.spatial(n, i_0_j_0_fused // ((m + 15) // 16) * 64 + i_1_j_1_fused // 16)" in sch.mod.script()
    assert "vj = T.axis.spatial(m, i_0_j_0_fused % ((m + 15) // 16) * 16 + i_1_j_1_fused % 16)" in sch.mod.script()
    sch.parallel(fused)
    assert IRModule.from_mlir(sch.mod.text()).equal(sch.mod)
    _check(sch, right_at, ragged)


@pytest.mark.parametrize("factors", [[None, 4], [3, None]])
def test_split_of_a_loop_over_quotients_in_parallel(factors, right_at):
    sch, fused, _ = _tiled()
    outer, _ = sch.split(fused, factors)
    sch.parallel(outer)
    _check(sch, right_at, ragged)


def test_a_loop_over_quotients_is_bound_to_threads():
    sch, fused, inner = _tiled()
    sch.bind(fused, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    assert 'T.thread_binding((n + 63) // 64 * ((m + 15) // 16), thread="blockIdx.x")' in sch.mod.script()
    assert parse(sch.mod.script()).equal(sch.mod)


def test_three_quotients_fused_at_once_and_one_by_one(right_at):
    texts = []
    for step in (lambda sch, a, b, c: sch.fuse(a, b, c), lambda sch, a, b, c: sch.fuse(sch.fuse(a, b), c)):
        sch = Schedule(Cube)
        pairs = [sch.split(loop, [None, 4]) for loop in sch.get_loops("B")]
        sch.reorder(*(outer for outer, _ in pairs), *(inner for _, inner in pairs))
        sch.parallel(step(sch, *(outer for outer, _ in pairs)))
        _check(sch, right_at, lambda n: ((n, 3, n + 2), (n, 3, n + 2)), lambda a: a + 1)
        texts.append(sch.mod.script().count("(n + 3) // 4 * ((m + 3) // 4) * ((k + 3) // 4)"))
    assert min(texts) >= 1


def test_quotients_that_a_recurrence_runs_along_stay_serial(refused):
    sch, fused, inner = _tiled(Shifted)
    refused(sch, "whether two iterations of B access one element of B: undecided", lambda: sch.parallel(fused))
    refused(sch, "whether two iterations of B access one element of B: undecided", lambda: sch.parallel(inner))


def test_a_quotient_that_may_be_negative_is_no_factor(refused):
    main = program("A:mxn", each("A i:(m-n)//4O j:nO", "A[vi, vj] = T.float32(0)"))
    sch = Schedule(main)
    refused(sch, "neither affine nor a product of sizes", lambda: sch.fuse(*sch.get_loops("A")))


def test_a_loop_over_quotients_fills_a_copy(right_at):
    @I.ir_module
    class Coarse:
        @T.prim_func
        def main(a: T.handle, b: T.handle):
            n, m = T.int32(), T.int32()
            A = T.match_buffer(a, (n, m), "float32")
            B = T.match_buffer(b, ((n + 3) // 4, (m + 1) // 2), "float32")
            for i, j in T.grid((n + 3) // 4, (m + 1) // 2):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi * 4, vj * 2] * 2.0

    sch, _ = _fused(Coarse)
    sch.cache_write("B", 0, "global")
    _check(sch, right_at, lambda n: ((n, 2 * n + 3), ((n + 3) // 4, n + 2)), lambda a: a[::4, ::2] * 2)
