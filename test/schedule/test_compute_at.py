"""compute_at: a producer runs where its consumers need it, or the step is refused."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def blur(n: int):
    """A producer with a halo of one element on each side of what the consumer computes."""

    @I.ir_module
    class Blur:
        @T.prim_func
        def main(A: T.Buffer((n + 2,), "float32"), C: T.Buffer((n,), "float32")):
            P = T.alloc_buffer((n + 2,), "float32")
            for i in range(n + 2):
                with T.block("P"):
                    vi = T.axis.spatial(n + 2, i)
                    P[vi] = A[vi] * 2.0
            for i in range(n):
                with T.block("C"):
                    vi = T.axis.spatial(n, i)
                    C[vi] = P[vi] + P[vi + 1] + P[vi + 2]

    return Blur


def chain(n: int, m: int):
    """Three stages, element by element."""

    @I.ir_module
    class Chain:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), D: T.Buffer((n, m), "float32")):
            B = T.alloc_buffer((n, m), "float32")
            C = T.alloc_buffer((n, m), "float32")
            for i, j in T.grid(n, m):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1.0
            for i, j in T.grid(n, m):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] * 2.0
            for i, j in T.grid(n, m):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = C[vi, vj] - 3.0

    return Chain


def sums(n: int, m: int):
    """A reduction and a block that reads it."""

    @I.ir_module
    class Sums:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), C: T.Buffer((n,), "float32")):
            S = T.alloc_buffer((n,), "float32")
            for i, k in T.grid(n, m):
                with T.block("S"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        S[vi] = 0.0
                    S[vi] += A[vi, vk]
            for i in range(n):
                with T.block("C"):
                    vi = T.axis.spatial(n, i)
                    C[vi] = S[vi] * 2.0

    return Sums


@I.ir_module
class Symbolic:
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "float32")
        C = T.match_buffer(c, (n, 8), "float32")
        B = T.alloc_buffer((n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(n, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2.0


def vectors(n: int, extra: int = 0):
    return ((n + extra,), "float32"), ((n,), "float32")


# --- what it does -----------------------------------------------------------------------------------------------------


def test_the_producer_runs_over_what_is_needed(same_result):
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
    outer, inner = sch.split(sch.get_loops("C")[0], [None, tile])
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
    i, j = sch.get_loops("D")
    j_0, j_1 = sch.split(j, [None, 4])
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
    sch = Schedule(Symbolic)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.compute_at("B", i_0)
    assert [sch.get(lp).name for lp in sch.get_loops("B")] == ["i_0", "ax0", "ax1"]
    same_result(sch, Symbolic, ((n, 8), "float32"), ((n, 8), "float32"))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (16, 17), (127, 2)])
def test_a_reduction_runs_in_full(n, m, same_result):
    sch = Schedule(sums(n, m))
    sch.compute_at("S", sch.get_loops("C")[0], preserve_unit_loops=True)
    text = sch.mod.script()
    assert f"for i in range({n}):" in text and f"T.grid(1, {m})" in text
    same_result(sch, sums(n, m), ((n, m), "float32"), ((n,), "float32"))


def test_a_reduction_beneath_a_tiled_guarded_loop(same_result):
    sch = Schedule(sums(17, 5))
    outer, inner = sch.split(sch.get_loops("C")[0], [None, 4])
    sch.compute_at("S", outer)
    sch.decompose_reduction("S", sch.get_loops("S")[1])
    same_result(sch, sums(17, 5), ((17, 5), "float32"), ((17,), "float32"))


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


def test_the_kinds_of_the_old_loops_are_gone():
    sch = Schedule(blur(16))
    sch.parallel(sch.get_loops("P")[0])
    sch.compute_at("P", sch.get_loops("C")[0])
    assert all(sch.get(lp).kind == "serial" for lp in sch.get_loops("P"))


def test_two_consumers_under_one_loop(same_result):
    @I.ir_module
    class Two:
        @T.prim_func
        def main(A: T.Buffer((8, 6), "float32"), C: T.Buffer((8, 6), "float32"), D: T.Buffer((8, 6), "float32")):
            P = T.alloc_buffer((8, 6), "float32")
            for i, j in T.grid(8, 6):
                with T.block("P"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    P[vi, vj] = A[vi, vj] + 1.0
            for i in range(8):
                for j in range(6):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = P[vi, vj]
                for j in range(6):
                    with T.block("D"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        D[vi, vj] = P[vi, 5 - vj]

    sch = Schedule(Two)
    i, j = sch.get_loops("C")
    with pytest.raises(Exception, match='consumer "D" of block "P" is not beneath loop j'):
        sch.compute_at("P", j)
    sch.compute_at("P", i)
    assert "for ax0 in range(6):" in sch.mod.script()
    same_result(sch, Two, *[((8, 6), "float32")] * 3)


def test_a_transposed_reader(same_result):
    @I.ir_module
    class Turned:
        @T.prim_func
        def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
            P = T.alloc_buffer((5, 7), "float32")
            for i, j in T.grid(5, 7):
                with T.block("P"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    P[vi, vj] = A[vi, vj] + 1.0
            for i, j in T.grid(7, 5):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = P[vj, vi]

    sch = Schedule(Turned)
    sch.compute_at("P", sch.get_loops("C")[0])
    assert 'vi, vj = T.axis.remap("SS", [ax0, i])' in sch.mod.script()
    same_result(sch, Turned, ((5, 7), "float32"), ((7, 5), "float32"))


def test_a_reader_through_a_remainder(same_result):
    @I.ir_module
    class Around:
        @T.prim_func
        def main(A: T.Buffer((6,), "float32"), C: T.Buffer((20,), "float32")):
            P = T.alloc_buffer((6,), "float32")
            for i in range(6):
                with T.block("P"):
                    vi = T.axis.spatial(6, i)
                    P[vi] = A[vi] + 1.0
            for i in range(20):
                with T.block("C"):
                    vi = T.axis.spatial(20, i)
                    C[vi] = P[vi % 6]

    sch = Schedule(Around)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 4])
    sch.compute_at("P", i_0)
    same_result(sch, Around, ((6,), "float32"), ((20,), "float32"))


# --- what it refuses --------------------------------------------------------------------------------------------------


def test_refuses_a_place_that_makes_no_sense(refused):
    sch = Schedule(chain(4, 6))
    refused(sch, 'loop i is already around block "B"', lambda: sch.compute_at("B", sch.get_loops("B")[0]))
    refused(sch, 'block "D" writes D, which lives outside', lambda: sch.compute_at("D", sch.get_loops("C")[0]))
    refused(sch, 'consumer "C" of block "B" is not beneath', lambda: sch.compute_at("B", sch.get_loops("D")[0]))


def test_refuses_what_nobody_reads(refused):
    @I.ir_module
    class Unread:
        @T.prim_func
        def main(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
            P = T.alloc_buffer((4,), "float32")
            for i in range(4):
                with T.block("P"):
                    vi = T.axis.spatial(4, i)
                    P[vi] = A[vi]
            for i in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(4, i)
                    C[vi] = A[vi]

    sch = Schedule(Unread)
    refused(sch, 'block "P" has no consumer', lambda: sch.compute_at("P", sch.get_loops("C")[0]))


def test_refuses_another_scope(refused):
    sch = Schedule(chain(4, 6))
    sch.blockize(sch.get_loops("D")[1])
    refused(sch, 'is not in the scope of block "C"', lambda: sch.compute_at("C", sch.get_loops("D")[0]))


def test_refuses_an_input_that_is_overwritten(refused, same_result):
    @I.ir_module
    class Overwritten:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            P = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = A[vi] * 2.0
            for i in range(8):
                with T.block("reset"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi]

    sch = Schedule(Overwritten)
    (i,) = sch.get_loops("C")
    refused(sch, 'block "reset" writes A after block "P" has read it', lambda: sch.compute_at("P", i))


def test_refuses_an_input_that_one_row_of_memory_holds_in_turn(refused):
    @I.ir_module
    class Rows:
        """R is one row for all i: what it held for row i is gone when the loop is over."""

        @T.prim_func
        def main(A: T.Buffer((8, 3), "float32"), C: T.Buffer((8, 3), "float32")):
            R = T.alloc_buffer((3,), "float32")
            P = T.alloc_buffer((8, 3), "float32")
            for i in range(8):
                for j in range(3):
                    with T.block("R"):
                        vi = T.axis.opaque(8, i)
                        vj = T.axis.spatial(3, j)
                        R[vj] = A[vi, vj] * 2.0
                for j in range(3):
                    with T.block("P"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        P[vi, vj] = R[vj] + R[2 - vj]
            for i, j in T.grid(8, 3):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = P[vi, vj]

    sch = Schedule(Rows)
    i, j = sch.get_loops("C")
    refused(sch, 'block "R" has the opaque iter vi', lambda: sch.compute_at("P", i))
    sch.cache_write("R", 0, "local")  # now a copy with spatial iters writes R, from a row that changes
    refused(sch, 'block "R" has the opaque iter vi', lambda: sch.compute_at("P", i))


def test_refuses_sums_that_are_read_half_way(refused):
    @I.ir_module
    class Prefix:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            S = T.alloc_buffer((1,), "float32")
            P = T.alloc_buffer((8,), "float32")
            for k in range(8):
                with T.block("S"):
                    vo = T.axis.spatial(1, 0)
                    vk = T.axis.reduce(8, k)
                    with T.init():
                        S[vo] = 0.0
                    S[vo] += A[vk]
                with T.block("P"):
                    vk = T.axis.spatial(8, k)
                    P[vk] = S[0]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi]

    sch = Schedule(Prefix)
    (i,) = sch.get_loops("C")
    refused(sch, 'in the middle of the sum of block "S", which loop k runs', lambda: sch.compute_at("P", i))


def test_a_final_input_may_have_several_writers(same_result):
    @I.ir_module
    class Halves:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            H = T.alloc_buffer((8,), "float32")
            P = T.alloc_buffer((8,), "float32")
            for i in range(4):
                with T.block("H_0"):
                    vi = T.axis.spatial(4, i)
                    H[vi] = A[vi]
            for i in range(4):
                with T.block("H_1"):
                    vi = T.axis.spatial(4, i)
                    H[vi + 4] = A[vi] * 2.0
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = H[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[7 - vi]

    sch = Schedule(Halves)
    sch.compute_at("P", sch.get_loops("C")[0])
    same_result(sch, Halves, ((8,), "float32"), ((8,), "float32"))


def test_refuses_the_root_and_wrong_handles(refused):
    sch = Schedule(chain(4, 6))
    i, _ = sch.get_loops("D")
    refused(sch, "wrong type", lambda: sch.compute_at(i, i), TypeError)
    refused(sch, "this is the root block", lambda: sch.compute_at("root", i))
    refused(sch, '"index" has wrong type. Expected "int"', lambda: sch.compute_at("C", i, index="last"), TypeError)
    refused(sch, "wrong type", lambda: sch.compute_at("B", sch.get_block("C")), TypeError)
    refused(sch, 'no block "Z"', lambda: sch.compute_at("Z", i))


@I.ir_module
class Horner:
    """The update depends on the order, and the loops run r1 outside r0."""

    @T.prim_func
    def main(A: T.Buffer((4, 4), "float32"), D: T.Buffer((4,), "float32")):
        C = T.alloc_buffer((4,), "float32")
        for i, k1, k0 in T.grid(4, 2, 2):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                r0 = T.axis.reduce(2, k0)
                r1 = T.axis.reduce(2, k1)
                with T.init():
                    C[vi] = 1.0
                C[vi] = C[vi] * 2.0 + A[vi, r0 * 2 + r1]
        for i in range(4):
            with T.block("D"):
                vi = T.axis.spatial(4, i)
                D[vi] = C[vi]


def test_refuses_to_turn_an_order_that_counts(refused):
    sch = Schedule(Horner)
    message = 'the update of block "C" depends on the order of r0, r1'
    refused(sch, message, lambda: sch.compute_at("C", sch.get_loops("D")[0]))


def test_an_order_that_counts_and_stays(same_result):
    @I.ir_module
    class InOrder:
        @T.prim_func
        def main(A: T.Buffer((4, 9), "float32"), D: T.Buffer((4,), "float32")):
            C = T.alloc_buffer((4,), "float32")
            for i, k in T.grid(4, 9):
                with T.block("C"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vi] = 1.0
                    C[vi] = 3.0 - C[vi] + A[vi, vk]
            for i in range(4):
                with T.block("D"):
                    vi = T.axis.spatial(4, i)
                    D[vi] = C[vi]

    for split in (False, True):
        sch = Schedule(InOrder)
        if split:
            sch.split(sch.get_loops("C")[1], [None, 4])
        sch.compute_at("C", sch.get_loops("D")[0])
        same_result(sch, InOrder, ((4, 9), "float32"), ((4,), "float32"))


def test_refuses_a_block_that_uses_its_loops_itself(refused):
    @I.ir_module
    class NoIters:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
            C = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("C"):
                    C[i] = A[i] * 2.0
            for i in range(8):
                with T.block("D"):
                    vi = T.axis.spatial(8, i)
                    D[vi] = C[vi]

    sch = Schedule(NoIters)
    (i,) = sch.get_loops("D")
    refused(sch, 'block "C" has no iters and uses loop i itself', lambda: sch.compute_at("C", i))


def test_refuses_to_leave_a_shared_halo_behind(refused):
    """While reader and halo stand in one vectorized loop, each lane has its own copy; apart, the lanes would race."""

    @I.ir_module
    class Lanes:
        @T.prim_func
        def main(A: T.Buffer((10,), "float32"), D: T.Buffer((8,), "float32")):
            P = T.alloc_buffer((10,), "float32")
            C = T.alloc_buffer((8,), "float32")
            for i in T.vectorized(8):
                for j in range(3):
                    with T.block("P"):
                        vi = T.axis.spatial(10, i + j)
                        P[vi] = A[vi] * 2.0
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi] + P[vi + 2]
            for i in range(8):
                with T.block("D"):
                    vi = T.axis.spatial(8, i)
                    D[vi] = C[vi]

    sch = Schedule(Lanes)
    message = r"iterations of the vectorized loop i would depend on each other: P\(i=0, j=1\) and P\(i=1, j=0\)"
    refused(sch, message, lambda: sch.compute_at("C", sch.get_loops("D")[0]))
