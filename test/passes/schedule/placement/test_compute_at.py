"""compute_at: a producer runs where its consumers need it."""

import pytest
from programs.elementwise import chain
from programs.parsed import parse
from programs.reduction import scaled_row_sums
from programs.short import each, main, nest, program, sblock
from programs.sizes import vectors
from programs.stencil import blur
from programs.symbolic import Twice

from tir_mlir import Schedule

# --- what it does -----------------------------------------------------------------------------------------------------


def test_the_producer_covers_the_needed_region(same_result):
    sch = Schedule(blur(64))
    outer, _ = sch.split(sch.get_loops("C")[0], [4, 16])
    sch.compute_at("P", outer)
    text = sch.mod.script()
    assert "for ax0 in range(18):" in text
    assert "vi = T.axis.spatial(66, i_0 * 16 + ax0)" in text
    assert "T.where" not in text and "for i in range(66)" not in text
    same_result(sch, blur(64), *vectors(64, 2))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("tile", [5, 16])
def test_halo_of_tiles_that_do_not_divide(n, tile, same_result):
    sch = Schedule(blur(n))
    outer, _inner = sch.split(sch.get_loops("C")[0], [None, tile])
    sch.compute_at("P", outer)
    same_result(sch, blur(n), *vectors(n, 2))
    assert sch.get_loops("P")[0] == outer


def test_a_guard_where_the_tile_leaves_the_domain(same_result):
    sch = Schedule(blur(16))
    outer, _ = sch.split(sch.get_loops("C")[0], [None, 5])
    sch.compute_at("P", outer)
    assert "T.where(i_0 * 5 + ax0 < 18)" in sch.mod.script()
    same_result(sch, blur(16), *vectors(16, 2))


def test_a_loop_of_one_element():
    for keep, loops in ((False, ["i", "j"]), (True, ["i", "j", "ax0", "ax1"])):
        sch = Schedule(chain(4, 6))
        sch.compute_at("C", sch.get_loops("D")[1], preserve_unit_loops=keep)
        assert [sch.get(lp).name for lp in sch.get_loops("C")] == loops


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (17, 1), (16, 127)])
def test_three_stages_in_turn(n, m, same_result):
    sch = Schedule(chain(n, m))
    _i, j = sch.get_loops("D")
    j_0, _j_1 = sch.split(j, [None, 4])
    sch.compute_at("C", j_0)
    sch.compute_at("B", j_0)
    assert sch.get_child_blocks(j_0) == [sch.get_block(b) for b in "BCD"]
    same_result(sch, chain(n, m), ((n, m), "float32"), ((n, m), "float32"))


def test_three_stages_from_the_front(same_result):
    sch = Schedule(chain(7, 9))
    sch.compute_at("B", sch.get_loops("C")[0])
    sch.compute_at("C", sch.get_loops("D")[0])
    same_result(sch, chain(7, 9), ((7, 9), "float32"), ((7, 9), "float32"))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 33])
def test_a_symbolic_size(n, same_result):
    sch = Schedule(Twice)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.compute_at("B", i_0)
    assert [sch.get(lp).name for lp in sch.get_loops("B")] == ["i_0", "ax0", "ax1"]
    same_result(sch, Twice, ((n, 8), "float32"), ((n, 8), "float32"))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (16, 17), (127, 2)])
def test_a_reduction_runs_in_full(n, m, same_result):
    sch = Schedule(scaled_row_sums(n, m))
    sch.compute_at("S", sch.get_loops("C")[0], preserve_unit_loops=True)
    text = sch.mod.script()
    assert f"for i in range({n}):" in text and f"T.grid(1, {m})" in text
    same_result(sch, scaled_row_sums(n, m), ((n, m), "float32"), ((n,), "float32"))


def test_a_reduction_beneath_a_tiled_guarded_loop(same_result):
    sch = Schedule(scaled_row_sums(17, 5))
    outer, _inner = sch.split(sch.get_loops("C")[0], [None, 4])
    sch.compute_at("S", outer)
    sch.decompose_reduction("S", sch.get_loops("S")[1])
    same_result(sch, scaled_row_sums(17, 5), ((17, 5), "float32"), ((17,), "float32"))


def test_places_in_the_body():
    def program():
        sch = Schedule(chain(4, 6))
        i, _ = sch.get_loops("D")
        sch.compute_at("C", i)
        return sch, i

    for index, order in ((-1, "BCD"), (-2, "BCD"), (0, "BCD")):
        sch, i = program()
        sch.compute_at("B", i, index=index)
        assert [sch.get(b).name for b in sch.get_child_blocks(i)] == list(order)


@pytest.mark.parametrize("index", [1, 2, 7, -3])
def test_places_that_do_not_fit(index, refused):
    sch = Schedule(chain(4, 6))
    i, _ = sch.get_loops("D")
    sch.compute_at("C", i)
    refused(sch, rf"position {index} in the body of loop i does not fit; it must lie in \[0, 0\]",
            lambda: sch.compute_at("B", i, index=index))  # fmt: skip


def test_under_a_parallel_loop_each_iteration_computes_its_own(same_result):
    sch = Schedule(blur(33))
    outer, _ = sch.split(sch.get_loops("C")[0], [None, 8])
    sch.parallel(outer)
    sch.compute_at("P", outer)  # the halo is written twice, but the buffer can be one copy an iteration
    same_result(sch, blur(33), *vectors(33, 2))


def test_under_a_vectorized_loop(same_result):
    sch = Schedule(chain(5, 16))
    _, j = sch.get_loops("D")
    sch.vectorize(j)
    sch.compute_at("C", j)
    same_result(sch, chain(5, 16), ((5, 16), "float32"), ((5, 16), "float32"))


def test_the_kinds_of_the_old_loops_are_dropped():
    sch = Schedule(blur(16))
    sch.parallel(sch.get_loops("P")[0])
    sch.compute_at("P", sch.get_loops("C")[0])
    assert all(sch.get(lp).kind == "serial" for lp in sch.get_loops("P"))


def test_two_consumers_under_one_loop(same_result):
    Two = program(
        "A:8x6 C:8x6 D:8x6; P:8x6",
        each("P:8x6", "P[vi, vj] = A[vi, vj] + 1.0"),
        nest(
            "i:8",
            nest("j:6", sblock("C", "SS i j", "C[vi, vj] = P[vi, vj]")),
            nest("j:6", sblock("D", "SS i j", "D[vi, vj] = P[vi, 5 - vj]")),
        ),
    )
    sch = Schedule(Two)
    i, j = sch.get_loops("C")
    with pytest.raises(Exception, match='consumer "D" of block "P" is not under loop j'):
        sch.compute_at("P", j)
    sch.compute_at("P", i)
    assert "for ax0 in range(6):" in sch.mod.script()
    same_result(sch, Two, *[((8, 6), "float32")] * 3)


def test_a_transposed_reader(same_result):
    Turned = program(
        "A:5x7 C:7x5; P:5x7", each("P:5x7", "P[vi, vj] = A[vi, vj] + 1.0"), each("C:7x5", "C[vi, vj] = P[vj, vi]")
    )
    sch = Schedule(Turned)
    sch.compute_at("P", sch.get_loops("C")[0])
    assert 'vi, vj = T.axis.remap("SS", [ax0, i])' in sch.mod.script()
    same_result(sch, Turned, ((5, 7), "float32"), ((7, 5), "float32"))


def test_a_reader_through_a_remainder(same_result):
    Around = program("A:6 C:20; P:6", each("P:6", "P[vi] = A[vi] + 1.0"), each("C:20", "C[vi] = P[vi % 6]"))
    sch = Schedule(Around)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 4])
    sch.compute_at("P", i_0)
    same_result(sch, Around, ((6,), "float32"), ((20,), "float32"))


# --- declared regions -------------------------------------------------------------------------------------------------


ROWS_OF_FOUR = main(
    "A:64 C:64; B:64", each("B:64", "B[vi] = A[vi] * 2.0"), each("C:16", nest("j:4", "C[vi * 4 + j] = B[vi * 4 + j]"))
)


@pytest.mark.parametrize(
    ("declared", "extent", "start"),
    [
        (lambda i: ((0, 64),), 64, "ax0"),
        (lambda i: ((i // 4 * 16, i // 4 * 16 + 16),), 16, "i // 4 * 16 + ax0"),
        (lambda i: ((i * 4 - 4, i * 4 + 8),), 12, "i * 4 + ax0 - 4"),
        (lambda i: ((i * 4, i * 4 + 1),), 4, "i * 4 + ax0"),  # smaller than what is read: that is computed
    ],
)
def test_a_region_declared_by_the_user_is_computed(declared, extent, start, same_result):
    program = parse(ROWS_OF_FOUR)
    sch = Schedule(program)
    sch.annotate_buffer_access("C", 0, "read", declared)
    sch.compute_at("B", sch.get_loops("C")[0])
    assert sch.get(sch.get_loops("B")[1]).extent == extent
    assert f"vi = T.axis.spatial(64, {start})" in sch.mod.script()
    same_result(sch, program, ((64,), "float32"), ((64,), "float32"))


def test_a_declared_region_that_is_written_is_not_needed():
    sch = Schedule(parse(ROWS_OF_FOUR))
    sch.annotate_buffer_access("C", 0, "write", lambda i: ((0, 64),))
    sch.compute_at("B", sch.get_loops("C")[0])
    assert sch.get(sch.get_loops("B")[1]).extent == 4
