"""split, fuse, reorder: the loops of a nest."""

from __future__ import annotations

import numpy as np
import pytest
from programs.elementwise import scale
from programs.matmul import matmul_nt
from programs.parsed import parse
from programs.short import each, nest, program, sblock
from programs.sizes import matmul_nt_sizes
from programs.symbolic import add_one

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScheduleWarning
from tir_mlir.script.structural_equal import difference

Skewed = program("A:18x20", each("A i:16O j:18O", "A[vi + 1, vj] = A[vi, vj + 1]"))
"""A sweep in which row i needs the element up and to the right of it."""


def test_split_that_divides_needs_no_guard(same_result):
    sch = Schedule(scale(32, 48))
    i, _ = sch.get_loops("B")
    outer, inner = sch.split(i, [None, 8])
    text = sch.mod.script()
    assert "for i_0, i_1, j in T.grid(4, 8, 48):" in text
    assert "vi = T.axis.spatial(32, i_0 * 8 + i_1)" in text
    assert "T.where" not in text
    assert sch.get(outer).extent == 4 and sch.get(inner).extent == 8
    same_result(sch, scale(32, 48), ((32, 48), "float32"), ((32, 48), "float32"))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_split_of_any_size(n, same_result):
    sch = Schedule(scale(n, 3))
    i, _ = sch.get_loops("B")
    sch.split(i, [None, 16])
    if n % 16:
        assert f"T.where(i_0 * 16 + i_1 < {n})" in sch.mod.script()
    same_result(sch, scale(n, 3), ((n, 3), "float32"), ((n, 3), "float32"))


def blocked_sums(n, block):
    """Row i sums up to the first row of its block."""

    return program(
        f"A:{n} B:{n}",
        nest(
            f"i:{n}",
            sblock("zero", f"vi:{n}=i", "B[vi] = 0.0"),
            nest(f"k:i//{block}*{block}", sblock("B", "SR i k", "B[vi] = B[vi] + A[vk]")),
        ),
    )


@pytest.mark.parametrize("n", [24, 29])
def test_split_folds_the_bounds_of_loops_beneath(n, same_result):
    sch = Schedule(blocked_sums(n, 8))
    _i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 8])
    assert "for k in range(i_0 * 8):" in sch.mod.script()
    _, i_1 = sch.fission(i_1, after="zero")
    sch.reorder(sch.get_loops("B")[-1], i_1)  # the range of k does not depend on i_1
    assert sch.verify()
    same_result(sch, blocked_sums(n, 8), ((n,), "float32"), ((n,), "float32"))


def test_bounds_that_use_the_inner_loop_stay():
    sch = Schedule(blocked_sums(24, 4))
    sch.split(sch.get_loops("B")[0], [None, 8])
    assert "for k in range(i_0 * 8 + i_1 // 4 * 4):" in sch.mod.script()


def test_split_into_three(same_result):
    sch = Schedule(scale(30, 2))
    i, _ = sch.get_loops("B")
    sch.split(i, [2, None, 4])
    text = sch.mod.script()
    assert "for i_0, i_1, i_2, j in T.grid(2, 4, 4, 2):" in text
    assert "T.where(i_0 * 16 + i_1 * 4 + i_2 < 30)" in text
    same_result(sch, scale(30, 2), ((30, 2), "float32"), ((30, 2), "float32"))


def test_split_of_a_split_adds_up_guards(same_result):
    sch = Schedule(scale(50, 2))
    i, _ = sch.get_loops("B")
    outer, _ = sch.split(i, [None, 8])
    sch.split(outer, [None, 3])
    same_result(sch, scale(50, 2), ((50, 2), "float32"), ((50, 2), "float32"))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 33])
def test_split_of_a_symbolic_loop(n, same_result):
    sch = Schedule(add_one(8))
    i, _ = sch.get_loops("B")
    sch.split(i, [None, 16])
    assert "T.where(i_0 * 16 + i_1 < n)" in sch.mod.script()
    same_result(sch, add_one(8), ((n, 8), "float32"), ((n, 8), "float32"))


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([None, None], "2 of .* are None"),
        ([0, None], "factor 0 is not positive"),
        ([-1, 4], "factor -1 is not positive"),
        ([4, 4], r"multiply to 16, less than the extent 32"),
        ([], "at least one factor"),
        ([1 << 32, 1 << 32], "multiply to .*, which does not fit an index"),
    ],
)
def test_split_refuses_factors(factors, message, refused):
    sch = Schedule(scale(32, 48))
    i, _ = sch.get_loops("B")
    refused(sch, message, lambda: sch.split(i, factors))


@pytest.mark.parametrize("factors", ["48", 3, None, 2.0, [2.0, None], [True, None], ["4", None]], ids=repr)
def test_split_takes_integers(factors, refused):
    sch = Schedule(scale(32, 48))
    i, _ = sch.get_loops("B")
    refused(sch, "factor", lambda: sch.split(i, factors), TypeError)


def test_split_takes_integers_of_numpy():
    sch = Schedule(scale(32, 48))
    i, _ = sch.get_loops("B")
    sch.split(i, np.array([4, 8]))
    assert "factors=[4, 8]" in str(sch.trace)


def guarded(guard: str, n: int = 10, step: int = 4):
    """A loop of 10 iterations, of which the guard leaves some."""
    return program(
        f"A:{n} B:{n}", nest("i:3 j:10", sblock("B", f"vi:{n}=i * {step} + j", "B[vi] = A[vi] + 1.0", where=f"{guard}"))
    )


@pytest.mark.parametrize("factors", [[None, 4], [3, 4], [16, None]], ids=repr)
def test_split_without_a_guard_where_one_excludes_the_rest(factors, same_result):
    program = guarded("i * 4 + j < 10 and j < 4")
    sch = Schedule(program)
    sch.split(sch.get_loops("B")[1], factors, disable_predication=True)
    assert sch.mod.script().count("T.where") == 1
    same_result(sch, program, ((10,), "float32"), ((10,), "float32"))
    assert sch.verify()


def beyond(guard: str):
    """A loop of 3 iterations; the guard, with other numbers, would leave one beyond them."""
    return program("A:3", each("A:3", "A[vi] = A[vi] + 1.0", where=f"{guard}"))


def test_split_without_a_guard_where_the_factors_do_not_reach_what_one_leaves():
    sch = Schedule(beyond("i == 5"))
    sch.split(sch.get_loops("A")[0], [2, 2], disable_predication=True)
    assert sch.verify()


def test_split_refuses_to_omit_a_guard_where_the_factors_reach_that(refused):
    sch = Schedule(beyond("i == 5"))
    refused(sch, "do not divide", lambda: sch.split(sch.get_loops("A")[0], [2, 3], disable_predication=True))


def test_split_refuses_to_omit_a_guard_that_excludes_less(refused):
    sch = Schedule(guarded("i * 10 + j < 25", 25, 10))
    refused(sch, "do not divide", lambda: sch.split(sch.get_loops("B")[1], [None, 4], disable_predication=True))


def test_split_refuses_annotated_and_bound_loops(refused):
    sch = Schedule(scale(32, 48))
    i, j = sch.get_loops("B")
    sch.annotate(i, "my.pragma", 1)
    sch.bind(j, "threadIdx.x")
    refused(sch, "annotations", lambda: sch.split(i, [None, 4]))
    refused(sch, "bound to threadIdx.x", lambda: sch.split(j, [None, 4]))


def test_split_drops_the_kind():
    sch = Schedule(scale(32, 48))
    i, _ = sch.get_loops("B")
    sch.parallel(i)
    with pytest.warns(ScheduleWarning, match="loop i was parallel; split makes serial loops"):
        outer, _ = sch.split(i, [None, 4])
    assert sch.get(outer).kind == "serial"


def test_unit_loops_stay_in_bindings_by_default():
    for keep, binding in ((True, "i_0 * 32 + i_1"), (False, "i_1")):
        sch = Schedule(scale(32, 48))
        i, _ = sch.get_loops("B")
        sch.split(i, [1, 32], preserve_unit_iters=keep)
        text = sch.mod.script()
        assert f"vi = T.axis.spatial(32, {binding})" in text or (not keep and 'remap("SS", [i_1, j])' in text)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (17, 1), (16, 127)])
def test_fuse(n, m, same_result):
    sch = Schedule(scale(n, m))
    fused = sch.fuse(*sch.get_loops("B"))
    assert sch.get(fused).extent == n * m and sch.get(fused).name == "i_j_fused"
    same_result(sch, scale(n, m), ((n, m), "float32"), ((n, m), "float32"))


def test_fuse_then_split_back_simplifies():
    sch = Schedule(scale(16, 32))
    fused = sch.fuse(*sch.get_loops("B"))
    sch.split(fused, [16, 32])
    assert 'vi, vj = T.axis.remap("SS", [i_j_fused_0, i_j_fused_1])' in sch.mod.script()


def test_fuse_of_one_loop_renames_it():
    sch = Schedule(scale(16, 32))
    i, _ = sch.get_loops("B")
    assert sch.get(sch.fuse(i)).name == "i_fused"


def test_fuse_with_a_symbolic_outer_loop(same_result):
    sch = Schedule(add_one(8))
    sch.fuse(*sch.get_loops("B"))
    same_result(sch, add_one(8), ((5, 8), "float32"), ((5, 8), "float32"))


def test_fuse_refuses(refused):
    sch = Schedule(scale(16, 32))
    i, j = sch.get_loops("B")
    refused(sch, "not directly inside", lambda: sch.fuse(j, i))
    refused(sch, "at least one loop", lambda: sch.fuse(), ValueError)
    sch.annotate(j, "my.key", "value")
    refused(sch, "annotations", lambda: sch.fuse(i, j))


def test_reorder(same_result):
    sch = Schedule(matmul_nt(17, 16, 15))
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i)
    assert "for kk, j, i in T.grid(15, 16, 17):" in sch.mod.script()
    assert sch.get_loops("C") == [k, j, i]
    same_result(sch, matmul_nt(17, 16, 15), *matmul_nt_sizes(17, 16, 15))


def test_reorder_of_a_tiled_reduction(same_result):
    sch = Schedule(matmul_nt(16, 16, 17))
    i, _, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    k_0, k_1 = sch.split(k, [None, 5])
    sch.reorder(k_1, i_0, k_0, i_1)
    same_result(sch, matmul_nt(16, 16, 17), *matmul_nt_sizes(16, 16, 17))


def test_reorder_keeps_kinds_with_their_loops():
    sch = Schedule(scale(16, 32))
    i, j = sch.get_loops("B")
    sch.parallel(i)
    sch.reorder(j, i)
    assert sch.get(i).kind == "parallel" and sch.get(j).kind == "serial"


def test_reorder_refuses(refused):
    sch = Schedule(matmul_nt(4, 4, 4))
    i, j, _ = sch.get_loops("C")
    refused(sch, "passed twice", lambda: sch.reorder(i, i))
    other = Schedule(scale(4, 4))
    refused(sch, "another schedule", lambda: sch.reorder(i, other.get_loops("B")[0]), IndexError)
    sch.reorder(j)  # nothing to do
    sweep = Schedule(Skewed)
    refused(
        sweep,
        "backwards: A.i=0, j=1. and A.i=1, j=0. touch A.1, 1.",
        lambda: sweep.reorder(*sweep.get_loops("A")[::-1]),
    )


def test_reorder_refuses_to_reverse_a_dependence(refused, same_result):
    # The order of k matters: every step scales what came before it.
    Horner = program("A:4x16 C:4", each("C i:4 k:16R", "C[vi] = C[vi] * 2.0 + A[vi, vk]", init="C[vi] = 0.0"))
    sch = Schedule(Horner)
    i, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [4, 4])
    refused(
        sch, r"backwards: C\(i=0, k_0=0, k_1=1\) and C\(i=0, k_0=1, k_1=0\) touch C\[0\]", lambda: sch.reorder(k_1, k_0)
    )
    sch.reorder(k_0, k_1, i)
    same_result(sch, Horner, ((4, 16), "float32"), ((4,), "float32"))


def test_dead_handles_name_the_consuming_step(refused):
    sch = Schedule(scale(32, 48))
    i, _ = sch.get_loops("B")
    sch.split(i, [None, 4])
    refused(
        sch,
        r"step 3, split\(loop=i, .*consumed loop i and returned loop i_0, loop i_1",
        lambda: sch.unroll(i),
        ValueError,
    )


def test_trace_replays():
    sch = Schedule(matmul_nt(32, 32, 32))
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    sch.reorder(j, i_1)
    sch.parallel(i_0)
    sch.unroll(k)
    scope = {"Schedule": Schedule}
    exec(str(sch.trace), scope)
    again = Schedule(matmul_nt(32, 32, 32))
    scope["apply_trace"](again)
    assert again.mod.script() == sch.mod.script()
    third = Schedule(matmul_nt(32, 32, 32))
    sch.trace.replay(third)
    assert third.mod.script() == sch.mod.script()


def test_copies_go_separate_ways():
    sch = Schedule(scale(32, 48))
    i, j = sch.get_loops("B")
    other = sch.copy()
    sch.parallel(i)
    other.unroll(j)
    assert sch.get(i).kind == "parallel" and other.get(i).kind == "serial"
    assert other.get(j).kind == "unrolled" and sch.get(j).kind == "serial"


def test_mod_is_a_snapshot():
    sch = Schedule(scale(32, 48))
    before = sch.mod
    text = before.script()
    sch.split(sch.get_loops("B")[0], [None, 4])
    assert before.script() == text and sch.mod.script() != text


def test_unit_loops_around_go_from_bindings_too():
    shifted = program("A:16", nest("i:16 u:1", sblock("A", "vi:16=i + u", "A[vi] = 0.0")))
    kept, dropped = Schedule(shifted), Schedule(shifted)
    for sch, preserve in ((kept, True), (dropped, False)):
        sch.split(sch.get_loops("A")[0], [1, 17], preserve_unit_iters=preserve)
    assert "vi = T.axis.spatial(16, i_0 * 17 + i_1 + u)" in kept.mod.script()
    assert "vi = T.axis.spatial(16, i_1)" in dropped.mod.script()


def test_conditions_and_bounds_that_a_unit_loop_decides_are_folded():
    """Without the loop variable `if i < 1` holds and `max(0, i - 1)` is 0: what is printed reads back as the same."""
    module = program(
        "A:3 P:1:int32 C:1",
        nest("i:1 k:T.max(0,i-1)..T.min(3,i+4)", sblock("C", "vi:1=i vk:3R=k", "C[vi] += A[vk]", init="C[vi] = 0.0")),
        each("D:1", "C[vi] += 1.0", where="P[i] > 0 and i < 1"),
    )
    sch = Schedule(module)
    for name in "CD":
        sch.fuse(sch.get_loops(name)[0])
    text = sch.mod.script()
    assert "for i_fused, k in T.grid(1, 3):" in text and ">= 0" not in text
    assert difference(parse(text).mlir, sch.mod.mlir) is None


def rows_from_3(end: str, columns: str):
    return parse(f"""
@T.prim_func
def main(a: T.handle, b: T.handle):
    n, m = T.int32(), T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    T.assume(n >= 8 and m >= 5)
    for i in range(3, {end}):
        for j in range({columns}):
            with T.block("B"):
                vi, vj = T.axis.spatial((3, {end}), i), T.axis.spatial({columns}, j)
                B[vi, vj] = A[vi, vj] + T.float32(1)
""")


@pytest.mark.parametrize("n", [8, 9, 21])
@pytest.mark.parametrize(
    ("end", "columns", "step"),
    [
        ("n", "m", lambda sch, i, j: sch.split(i, [None, 8])),
        ("n", "m", lambda sch, i, j: sch.split(i, [8, None])),
        ("n", "5", lambda sch, i, j: sch.fuse(i, j)),
        ("n", "5", lambda sch, i, j: sch.split(sch.fuse(i, j), [None, 16])),
        ("8", "m", lambda sch, i, j: sch.fuse(i, j)),
    ],
)
def test_a_symbolic_loop_that_starts_elsewhere(end, columns, step, n):
    sch = Schedule(rows_from_3(end, columns))
    step(sch, *sch.get_loops("B"))
    a, got = np.random.default_rng(0).random((n, 7), np.float32), np.zeros((n, 7), np.float32)
    build(sch)(a, got)
    want = np.zeros_like(a)
    rows, used = slice(3, eval(end, {"n": n})), 7 if columns == "m" else 5
    want[rows, :used] = a[rows, :used] + 1
    np.testing.assert_array_equal(got, want)
    assert sch.verify()
