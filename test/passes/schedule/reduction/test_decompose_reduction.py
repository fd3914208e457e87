"""decompose_reduction: the init becomes a block of its own, or the step is refused."""

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.matmul import matmul_nt
from programs.parsed import parse
from programs.reduction import RepeatedRowSums, SymbolicRowSums
from programs.short import each, main, nest, program, sblock
from programs.sizes import matmul_nt_sizes

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError

# --- what it does -----------------------------------------------------------------------------------------------------


def test_the_init_is_inserted_before_the_loop():
    places = [("i", ["i_init", "j_init"]), ("j", ["i", "j_init"]), ("kk", ["i", "j"])]
    for number, (_, loops) in enumerate(places):
        sch = Schedule(matmul_nt(4, 5, 6))
        init = sch.decompose_reduction("C", sch.get_loops("C")[number])
        assert sch.get(init).name == "C_init" and [sch.get(lp).name for lp in sch.get_loops(init)] == loops
        assert "with T.init():" not in sch.mod.script()


def test_what_it_prints():
    sch = Schedule(matmul_nt(4, 5, 6))
    block = sch.get_block("C")
    init = sch.decompose_reduction(block, sch.get_loops("C")[0])
    assert sch.get(block).name == "C_update" and sch.get(init).writes == ["C"]
    text = sch.mod.script()
    assert "for i_init, j_init in T.grid(4, 5):" in text
    assert 'vi, vj = T.axis.remap("SS", [i_init, j_init])' in text
    assert "T.reads(C[vi, vj], A[vi, vk], B[vj, vk])" in text


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (15, 16, 17), (17, 1, 5), (2, 127, 3)])
def test_every_place(number, n, m, k, same_result):
    sch = Schedule(matmul_nt(n, m, k))
    sch.decompose_reduction("C", sch.get_loops("C")[number])
    same_result(sch, matmul_nt(n, m, k), *matmul_nt_sizes(n, m, k))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 33])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_symbolic_size(n, number, same_result):
    sch = Schedule(SymbolicRowSums)
    sch.split(sch.get_loops("C")[0], [None, 16])
    init = sch.decompose_reduction("C", sch.get_loops("C")[number])
    assert "T.where(i_0_init * 16 + i_1_init < n)" in sch.mod.script() or number
    assert sch.get(init).name == "C_init"
    same_result(sch, SymbolicRowSums, ((n, 8), "float32"), ((n,), "float32"))


@pytest.mark.parametrize("m", [0, 1, 15, 16, 17])
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("number", [0, 1])
def test_an_empty_reduction_gives_its_init(m, split, number):
    """Compiled code writes the init of a reduction over nothing, as written and decomposed."""

    Long = program("A:3xm C:3", each("C i:3 k:mR", "C[vi] += A[vi, vk]", init="C[vi] = 2.0"))
    sch = Schedule(Long)
    if split:
        sch.split(sch.get_loops("C")[1], [None, 16])
    sch.decompose_reduction("C", sch.get_loops("C")[number])
    a, before = np.ones((3, m), np.float32), np.full(3, 7, np.float32)
    after = before.copy()
    quick_build(Long)(a, before)
    quick_build(sch)(a, after)
    np.testing.assert_array_equal(before, m + 2)
    np.testing.assert_array_equal(after, m + 2)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_guard_on_spatial_loops_is_kept(number, same_result):
    sch = Schedule(matmul_nt(15, 3, 4))
    sch.split(sch.get_loops("C")[0], [None, 4])
    sch.decompose_reduction("C", sch.get_loops("C")[number])
    assert sch.mod.script().count("T.where(") == 2
    same_result(sch, matmul_nt(15, 3, 4), *matmul_nt_sizes(15, 3, 4))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_guard_on_reduce_loops_is_dropped(number, same_result):
    sch = Schedule(matmul_nt(4, 3, 15))
    sch.split(sch.get_loops("C")[2], [None, 4])
    sch.decompose_reduction("C", sch.get_loops("C")[number])
    assert sch.mod.script().count("T.where(") == 1
    same_result(sch, matmul_nt(4, 3, 15), *matmul_nt_sizes(4, 3, 15))


def test_tiled_with_the_reduction_in_the_middle(same_result):
    sch = Schedule(matmul_nt(15, 17, 9))
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    j_0, j_1 = sch.split(j, [None, 8])
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(i_0, j_0, k_0, i_1, k_1, j_1)
    init = sch.decompose_reduction("C", k_0)
    assert [sch.get(lp).name for lp in sch.get_loops(init)] == ["i_0", "j_0", "i_1_init", "j_1_init"]
    same_result(sch, matmul_nt(15, 17, 9), *matmul_nt_sizes(15, 17, 9))


def test_kinds_and_annotations_are_copied(same_result):
    sch = Schedule(matmul_nt(8, 16, 4))
    _i, j, k = sch.get_loops("C")
    sch.reorder(k, j)
    sch.vectorize(j)
    sch.annotate(j, "key", 1)
    sch.annotate("C", "mark", 2)
    init = sch.decompose_reduction("C", k)
    copy = sch.get(sch.get_loops(init)[1])
    assert (copy.kind, copy.annotations) == ("vectorized", {"key": 1}) and sch.get(init).annotations == {"mark": 2}
    same_result(sch, matmul_nt(8, 16, 4), *matmul_nt_sizes(8, 16, 4))


def test_fused_spatial_loops(same_result):
    sch = Schedule(matmul_nt(3, 5, 7))
    i, j, _ = sch.get_loops("C")
    fused = sch.fuse(i, j)
    sch.decompose_reduction("C", fused)
    assert "i_j_fused_init // 5" in sch.mod.script()
    same_result(sch, matmul_nt(3, 5, 7), *matmul_nt_sizes(3, 5, 7))


def test_a_maximum_and_two_results(same_result):
    Extremes = program(
        "A:7x9:int32 C:7:int32 D:7:int32",
        each(
            "C i:7 k:9R",
            "C[vi] = T.max(C[vi], A[vi, vk])",
            "D[vi] = T.min(D[vi], A[vi, vk])",
            init="C[vi] = -100; D[vi] = 100",
        ),
    )
    sch = Schedule(Extremes)
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    same_result(sch, Extremes, ((7, 9), "int32"), ((7,), "int32"), ((7,), "int32"))


def test_after_blockize(same_result):
    sch = Schedule(matmul_nt(16, 16, 16))
    i, j, k = sch.get_loops("C")
    tiles = [sch.split(loop, [None, 4]) for loop in (i, j, k)]
    sch.reorder(*[t[0] for t in tiles], *[t[1] for t in tiles])
    outer = sch.blockize(tiles[0][1])
    init = sch.decompose_reduction(outer, sch.get_loops(outer)[2])
    assert sch.get(init).name == "C_o_init" and sch.get(outer).name == "C_o_update"
    same_result(sch, matmul_nt(16, 16, 16), *matmul_nt_sizes(16, 16, 16))


# --- what it refuses --------------------------------------------------------------------------------------------------


def test_refuses_a_loop_inside_the_sum(refused):
    sch = Schedule(matmul_nt(4, 5, 16))
    i, _j, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [None, 4])
    refused(sch, "reduce iter vk uses loop k.*_0, which is outside loop", lambda: sch.decompose_reduction("C", k_1))
    sch.reorder(k_0, i)
    refused(sch, "would run again in the middle of the reduction", lambda: sch.decompose_reduction("C", i))
    sch.decompose_reduction("C", k_0)


def test_refuses_a_loop_elsewhere(refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    sch.cache_write("C", 0, "local")
    ax0 = sch.get_loops("C_local")[0]
    refused(sch, r'loop ax0 is not around block "C" \(its loops: i, j, kk\)', lambda: sch.decompose_reduction("C", ax0))


def test_refuses_a_block_without_a_reduction(refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    sch.cache_write("C", 0, "local")
    i, _ = sch.get_loops("C_local")
    refused(sch, 'block "C_local" has no init', lambda: sch.decompose_reduction("C_local", i))
    loop = sch.get_loops("C")[0]
    sch.decompose_reduction("C", loop)
    refused(sch, 'block "C_update" has no init', lambda: sch.decompose_reduction("C_update", loop))
    refused(sch, "this is the root block", lambda: sch.decompose_reduction("root", loop))


PREFIXES = main(
    "A:8x4 C:8 D:8x4",
    nest(
        "i:8 k:4",
        sblock("C", "SR i k", "C[vi] = C[vi] + A[vi, vk]", init="C[vi] = 1.0"),
        sblock("D", "SS i k", "D[vi, vk] = C[vi] * 2.0"),
    ),
)


@pytest.mark.parametrize("number", [0, 1])
def test_others_may_read_what_is_written_before(number, same_result):
    """D reads the partial sums, in the loop of the sum, after each term."""
    module = parse(PREFIXES)
    sch = Schedule(module)
    sch.decompose_reduction("C", sch.get_loops("C")[number])
    same_result(sch, module, ((8, 4), "float32"), ((8,), "float32"), ((8, 4), "float32"))
    assert sch.verify()


def test_refuses_others_that_write_the_result(refused):
    text = (
        PREFIXES.replace("D[vi, vk] = C[vi] * 2.0", "D[vi, vk] = 2.0")
        + """
            with T.block("E"):
                vi, vk = T.axis.remap("SO", [i, k])
                C[vi] = C[vi] * 0.5
"""
    )
    sch = Schedule(parse(text))
    refused(sch, "C is (also )?written by", lambda: sch.decompose_reduction("C", sch.get_loops("C")[1]))


def test_refuses_where_others_would_see_the_init(refused, same_result):
    Used = program(
        "A:8x4 C:8 D:8",
        nest(
            "i:8",
            nest("k:4", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0")),
            sblock("D", "vi:8=i", "D[vi] = C[vi] + C[7 - vi]"),
        ),
    )
    sch = Schedule(Used)
    i, k = sch.get_loops("C")
    message = "an element of C is read that no iteration of loop i has written yet, but the init of block .C. would be"
    refused(sch, message, lambda: sch.decompose_reduction("C", i))
    sch.decompose_reduction("C", k)
    same_result(sch, Used, ((8, 4), "float32"), ((8,), "float32"), ((8,), "float32"))


def test_refuses_an_init_ahead_of_a_repetition(refused, same_result):
    sch = Schedule(RepeatedRowSums)
    i, t, k = sch.get_loops("C")
    for loop in (i, t):
        refused(sch, 'loop t repeats block "C"', lambda loop=loop: sch.decompose_reduction("C", loop))
    sch.decompose_reduction("C", k)
    same_result(sch, RepeatedRowSums, ((8, 4), "float32"), ((8,), "float32"))


def test_refuses_points_that_are_met_twice(refused, same_result):
    Around = program(
        "A:4x4 C:4", nest("i:8 k:4", sblock("C", "vi:4=i % 4 vk:4R=k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    )
    sch = Schedule(Around)
    i, k = sch.get_loops("C")
    refused(sch, 'two iterations of block "C" are the same point', lambda: sch.decompose_reduction("C", i))
    sch.decompose_reduction("C", k)
    same_result(sch, Around, ((4, 4), "float32"), ((4,), "float32"))


def test_a_guard_that_relates_spatial_and_reduce_loops(same_result):
    sch = Schedule(matmul_nt(3, 4, 5))
    _i, j, k = sch.get_loops("C")
    sch.split(sch.fuse(j, k), [None, 3])
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    same_result(sch, matmul_nt(3, 4, 5), ((3, 5), "float32"), ((4, 5), "float32"), ((3, 4), "float32"))

    main = program(
        "A:9x9 C:9",
        nest("i:12 k:9", sblock("C", "vi:9=i vk:9R=k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0", where="i + k < 9")),
    )
    sch = Schedule(main)
    sch.decompose_reduction("C", sch.get_loops("C")[1])
    assert "T.where(i < 9)" in sch.mod.script()
    same_result(sch, main, ((9, 9), "float32"), ((9,), "float32"))


def test_a_guard_on_parts_and_their_sums(same_result):
    """The last part of a sum is shorter; each part starts anew."""
    sch = Schedule(matmul_nt(3, 4, 10))
    parts = sch.rfactor(sch.split(sch.get_loops("C")[2], [None, 4])[0], 0)
    init = sch.decompose_reduction(parts, sch.get_loops(parts)[3])
    assert "T.where" not in sch.mod.script().split('"C_rf_init"')[1].split("C_rf[")[0]
    assert sch.get(init).name == "C_rf_init"
    same_result(sch, matmul_nt(3, 4, 10), ((3, 10), "float32"), ((4, 10), "float32"), ((3, 4), "float32"))


def test_a_guard_on_loops_that_run_the_block_only_once(same_result):
    sch = Schedule(matmul_nt(5, 3, 4))
    outer, _ = sch.split(sch.get_loops("C")[0], [None, 5], preserve_unit_iters=False)
    _, inner = sch.split(outer, [3, None], preserve_unit_iters=False)  # two of these three iterations are empty
    sch.decompose_reduction("C", inner)
    assert sch.mod.script().count("T.where(") == 2
    same_result(sch, matmul_nt(5, 3, 4), *matmul_nt_sizes(5, 3, 4))


def test_refuses_wrong_handles(refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    refused(sch, "wrong type", lambda: sch.decompose_reduction("C", "C"), TypeError)
    refused(sch, 'a block with the name "Z"', lambda: sch.decompose_reduction("Z", sch.get_loops("C")[0]))


Biased = program(
    "A:5x4 B:5 C:5", nest("g:1 i:5 k:4", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = B[vi]"))
)
"""A sum that begins with a bias."""


def test_inputs_of_the_init_are_computed_before_the_loop(refused):
    sch = Schedule(Biased)
    g, i, _k = sch.get_loops("C")
    sch.read_at(g, "C", "B", "shared")
    refused(
        sch,
        'block "B_shared" writes B_shared under loop g, and the init reads it',
        lambda: sch.decompose_reduction("C", g),
    )
    sch.decompose_reduction("C", i)
    assert sch.verify()
    a, b, c = np.ones((5, 4), "float32"), np.arange(5, dtype="float32"), np.zeros(5, "float32")
    quick_build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, b + 4)


SUMMED = main(
    "A:9x9:int32 C:9:int32", nest("k:9 i:9", sblock("C", "SR i k", "C[vi] = C[vi] + A[vi, vk]", init="C[vi] = 0"))
)


def test_an_init_is_not_moved_into_a_sum_around_a_group():
    """The pieces of a loop stand in blocks without iters, and use the loops around these."""
    sch = Schedule(parse(SUMMED))
    _, piece = sch.loop_partition(sch.get_loops("C")[1], [3])
    with pytest.raises(ScheduleError, match="reduce iter vk uses loop k, which is outside loop i1: the init would run"):
        sch.decompose_reduction("C_i1", piece)
    assert sch.verify()


TILED_SUM = main(
    "A:3x3:int32 C:3:int32",
    nest(
        "i:3 k_0:2 k_1:2",
        sblock(
            "C", "vi:3=i vk:3R=k_0 * 2 + k_1", "C[vi] = C[vi] + A[vi, vk]", init="C[vi] = 0", where="k_0 * 2 + k_1 < 3"
        ),
    ),
)


def test_a_continued_partial_sum_gets_no_init():
    sch = Schedule(parse(TILED_SUM))
    first, second = sch.loop_partition(sch.get_loops("C")[1], [1])
    with pytest.raises(ScheduleError, match='under loop k_01 the reduction of block "C_k_01" does not always begin'):
        sch.decompose_reduction("C_k_01", second)
    sch.decompose_reduction("C_k_00", first)
    assert sch.verify()


def joined():
    """The time steps with the sums of a step in a buffer of their own."""

    return program(
        "X:5 U:5x5 H:4x5; Z:3x5",
        each("start:5", "H[0, vi] = X[vi]"),
        nest(
            "t:3",
            nest("i:5 k:5", sblock("Z", "OSR t i k", "Z[vt, vi] += H[vt, vk] * U[vk, vi]", init="Z[vt, vi] = 0.0")),
            nest("i:5", sblock("H", "OS t i", "H[vt + 1, vi] = Z[vt, vi]")),
        ),
    )


@pytest.mark.parametrize("number", [1, 2])
def test_an_ordered_iter_of_an_outer_loop_is_fixed(number):
    sch = Schedule(joined())
    loop = sch.get_loops("Z")[number]
    init = sch.decompose_reduction("Z", loop)
    assert "vt = T.axis.opaque(3, t)" in sch.mod.script()
    assert [sch.get(lp).name for lp in sch.get_loops(init)] == [["t", "i_init"], ["t", "i"]][number - 1]
    u, h = np.random.default_rng(0).random((5, 5), np.float32), np.full((4, 5), np.nan, np.float32)
    x = u[2].copy()
    quick_build(sch.mod)(x, u, h)
    np.testing.assert_allclose(h, [x @ np.linalg.matrix_power(u, t) for t in range(4)], rtol=1e-5)
    assert sch.verify()


def test_an_ordered_iter_of_a_loop_under_the_init_is_refused(refused):
    sch = Schedule(joined())
    refused(
        sch,
        'block "Z" has the ordered iter vt; a reduction has spatial and reduce iters',
        lambda: sch.decompose_reduction("Z", sch.get_loops("Z")[0]),
    )
