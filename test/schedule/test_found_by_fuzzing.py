"""What tools/fuzz.py found wrong, each as the smallest program that shows it."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script.parser import parse

NEVER = """
@T.prim_func
def main(A: T.Buffer((1, 1), "int8"), B: T.Buffer((1, 1), "int8")):
    for i in range(1):
        for j in range(1):
            with T.block("low"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
    for i in range(1):
        for j in range(1 - 1 - i):
            with T.block("high"):
                vi = T.axis.spatial(1, i)
                vj = T.axis.spatial(1, i + 1 + j)
                B[vi, vj] = T.int8(2)
"""


@pytest.mark.parametrize("what", ["blocks", "loop"])
def test_a_loop_that_never_runs_has_no_tile(what):
    sch = Schedule(parse(NEVER))
    low, high = sch.get_block("low"), sch.get_block("high")
    with pytest.raises(ScheduleError, match="a loop around block high never runs: iter v[ij] has no values to tile"):
        sch.blockize([low, high] if what == "blocks" else sch.get_loops(high)[0])


GROUPED = """
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 9), "float32")
    B = T.match_buffer(b, (n,), "float32")
    C = T.match_buffer(c, (n, 9), "float32")
    for i, j in T.grid(n, 9):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + B[vi]
"""


def test_a_block_that_declares_its_regions_names_the_sizes_in_them():
    """Its iters do not: the order of what it reads, kept after a copy was put in front, brought the size in."""
    sch = Schedule(parse(GROUPED))
    sch.blockize(sch.get_loops("C")[0])
    sch.cache_read("C", 1, "global")
    assert "T.reads(A[0:n, 0:9], B[0:n])" in sch.mod.script()


SPREAD = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int8")
    B = T.match_buffer(b, (n,), "int8")
    {promise}
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
"""


def test_no_extent_is_negative_without_elements():
    """The last of n elements goes to 2 * (n - 1): with n = 0 the buffer would have -1."""
    sch = Schedule(parse(SPREAD.format(promise="")))
    with pytest.raises(ScheduleError, match=r"negative extent at n = 0[\s\S]*T.assume"):
        sch.transform_layout("B", ("write", 0), lambda i: i * 2, pad_value=0)
    sch = Schedule(parse(SPREAD.format(promise="T.assume(n >= 1)")))
    sch.transform_layout("B", ("write", 0), lambda i: i * 2, pad_value=0)
    assert "B = T.match_buffer(b, (n * 2 - 1,)" in sch.mod.script().replace("var_B", "b").replace("2 * n", "n * 2")


NESTED = """
@T.prim_func
def main(A: T.Buffer((4, 7), "int32"), B: T.Buffer((4, 7), "int32")):
    for i in range(4):
        with T.block("B_o"):
            vo = T.axis.spatial(4, i)
            for j in range(7):
                with T.block("B"):
                    vi = T.axis.spatial(1, 0)
                    vj = T.axis.spatial(7, j)
                    B[vo + vi, vj] = A[vo + vi, vj] + T.int32(1)
"""


@pytest.mark.parametrize("which", ["inner", "outer", "iters"])
def test_a_block_around_others_leaves_what_they_declare(which):
    """Declared regions are maps of the iters around: a new block among these, or other iters, must not shift them."""
    sch = Schedule(parse(NESTED))
    piece, _ = sch.loop_partition(sch.get_loops("B")[0], [2, None])  # their blocks declare regions
    if which == "outer":
        sch.blockize(sch.split(sch.get_loops("B_o")[0], [None, 2])[1])
        assert sch.mod.script().count("T.reads(A[vo_o * 2 + vo_i + vi, vj])") == 2
    elif which == "inner":
        sch.blockize(piece)
        assert "T.reads(A[vo + vi_o, vj_i])" in sch.mod.script()
    else:
        sch.transform_block_layout("B_o", lambda i: (i // 2, i % 2))
        assert sch.mod.script().count("T.reads(A[v0 * 2 + v1 + vi, vj])") == 2
    assert sch.verify()


UPDATED = """
@T.prim_func
def main(A: T.Buffer((2, 1), "int32"), B: T.Buffer((3, 2), "int32"), C: T.Buffer((3, 1), "int32")):
    for i, j, k in T.grid(1, 3, 2):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vj, vi] = T.int32(0)
            C[vj, vi] = C[vj, vi] + A[vk, vi] * B[vj, vk]
"""


def test_the_order_of_regions_that_use_loops_is_not_kept():
    """A block around pieces of a loop has no iters, so its regions speak of loops, which it cannot declare."""
    sch = Schedule(parse(UPDATED))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    sch.loop_partition(sch.get_loops("C_update")[1], [None, 2], preserve_unit_iters=False)
    sch.blockize(sch.get_child_blocks(sch.get_block("C_update_j_common")))
    sch.reindex("C_update_j0", ("read", 1))
    assert sch.verify()


SCATTER = """
@T.prim_func
def main(A: T.Buffer((5,), "int8"), I: T.Buffer((5,), "int32"), B: T.Buffer((3,), "int8")):
    for i in range(5):
        with T.block("B"):
            vi = T.axis.opaque(5, i)
            B[I[vi]] = B[I[vi]] + A[vi]
"""


def test_pieces_of_a_scatter_are_not_known_to_write_all():
    sch = Schedule(parse(SCATTER))
    outer, _ = sch.split(sch.get_loops("B")[0], [5, None])
    with pytest.raises(ScheduleError, match="do not cover its domain"):
        sch.loop_partition(outer, [1])


SUMMED = """
@T.prim_func
def main(A: T.Buffer((9, 9), "int32"), C: T.Buffer((9,), "int32")):
    for k, i in T.grid(9, 9):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
"""


def test_an_init_is_not_moved_into_a_sum_around_a_group():
    """The pieces of a loop stand in blocks without iters, and use the loops around these."""
    sch = Schedule(parse(SUMMED))
    _, piece = sch.loop_partition(sch.get_loops("C")[1], [3])
    with pytest.raises(ScheduleError, match="reduce iter vk uses loop k, which is outside loop i1: the init would run"):
        sch.decompose_reduction("C_i1", piece)
    assert sch.verify()


WINDOW = """
@T.prim_func
def main(A: T.Buffer((7, 4), "float32"), W: T.Buffer((2, 1), "float32"), C: T.Buffer((3, 2), "float32")):
    for i, j, s, r in T.grid(3, 2, 1, 2):
        with T.block("C"):
            vi, vj, vr, vs = T.axis.remap("SSRR", [i, j, r, s])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi * 2 + vr, vj * 2 + vs] * W[vr, vs]
"""


def test_a_declared_region_may_speak_of_other_iters_than_the_accesses():
    sch = Schedule(parse(WINDOW))
    sch.annotate_buffer_access("C", 1, "read", lambda vi, vj, vr, vs: [(vi, vi + 2), (vi - 1, vi + 2)])
    with pytest.raises(ScheduleError, match="T.reads of W is smaller than what the block touches"):
        sch.blockize(sch.get_loops("C")[3], preserve_unit_iters=False)


SHARED = """
@T.prim_func
def main(A: T.Buffer((16, 5), "int32"), W: T.Buffer((2, 2), "int32"), C: T.Buffer((8, 2), "int32")):
    B = T.alloc_buffer((16, 5), "int32")
    for i in range(16):
        with T.block("B_o"):
            vo = T.axis.spatial(16, i)
            for j in range(5):
                with T.block("B"):
                    vi = T.axis.spatial(1, 0)
                    vj = T.axis.spatial(5, j)
                    B[vo + vi, vj] = A[vo + vi, vj] + 1
    for i, j, r, s in T.grid(8, 2, 2, 2):
        with T.block("C"):
            vi, vj, vr, vs = T.axis.remap("SSRR", [i, j, r, s])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + B[vi * 2 + vr, vj * 2 + vs] * W[vr, vs]
"""


def test_parts_of_a_sum_do_not_run_again_in_loops_that_run_it_already():
    sch = Schedule(parse(SHARED))
    sch.loop_partition(sch.get_loops("B")[0], [None, 2], preserve_unit_iters=False)
    sch.compute_at("B_o", sch.get_loops("C")[3], preserve_unit_loops=True)
    with pytest.raises(ScheduleError, match='iterations of block "C" would run where they did not before'):
        sch.reverse_compute_at("C", sch.get_loops("B_o")[4])
    assert sch.verify()


TILED_SUM = """
@T.prim_func
def main(A: T.Buffer((3, 3), "int32"), C: T.Buffer((3,), "int32")):
    for i, k_0, k_1 in T.grid(3, 2, 2):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(3, k_0 * 2 + k_1)
            T.where(k_0 * 2 + k_1 < 3)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
"""


def test_a_piece_of_a_sum_that_began_before_gets_no_init():
    sch = Schedule(parse(TILED_SUM))
    first, second = sch.loop_partition(sch.get_loops("C")[1], [1])
    with pytest.raises(ScheduleError, match='under loop k_01 the reduction of block "C_k_01" does not always begin'):
        sch.decompose_reduction("C_k_01", second)
    sch.decompose_reduction("C_k_00", first)
    assert sch.verify()


ONE_OF_TWO = """
@T.prim_func
def main(A: T.Buffer((2,), "float32"), D: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((2,), "float32")
    C = T.alloc_buffer((2,), "float32")
    for i in range(2):
        with T.block("B"):
            vi = T.axis.spatial(2, i)
            B[vi] = A[vi]
    for i in range(2):
        with T.block("C"):
            vi = T.axis.spatial(2, i)
            C[vi] = B[vi] + A[vi]
    for i in range(1):
        with T.block("D"):
            vi = T.axis.spatial(1, i)
            D[vi] = C[vi * 2 + {at}]
"""


@pytest.mark.parametrize("at", [0, 1])
def test_a_guard_that_leaves_iterations_out_is_not_lost(at):
    """reverse_compute_inline made it; under another loop both iterations would write D[0], and the last would win."""
    sch = Schedule(parse(ONE_OF_TWO.format(at=at)))
    sch.reverse_compute_inline("D")
    assert f"T.where(i == {at})" in sch.mod.script()
    with pytest.raises(ScheduleError, match=f"iterations of its domain; .* they would run, as .*vi *= *{1 - at}"):
        sch.reverse_compute_at("C", sch.get_loops("B")[0])
    assert sch.verify()


LEAVES_OUT = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2.0
    for i in range({loop}):
        with T.block("C"):
            vi = T.axis.spatial(8, {at})
            T.where({guard})
            C[vi] = B[vi] + 1.0
"""


@pytest.mark.parametrize(
    ("loop", "at", "guard", "first"),
    [(4, "i * 2", "i < 4", 1), (4, "i * 2", "i < 3", 1), (8, "i", "i < 3", 3), (3, "i * 3 + 1", "i < 3", 0)],
)
def test_what_steps_or_guards_leave_out_of_a_parameter_stays_out(loop, at, guard, first):
    """What is not written of C is the caller's; under a loop of B the block would run over its whole domain."""
    sch = Schedule(parse(LEAVES_OUT.format(loop=loop, at=at, guard=guard)))
    with pytest.raises(ScheduleError, match=f"iterations of its domain; .* they would run, as .*vi *= *{first}"):
        sch.reverse_compute_at("C", sch.get_loops("B")[0])
    sch.compute_at("B", sch.get_loops("C")[0])
    assert sch.verify()
