"""Refusals of reverse_compute_at, and legal near misses."""

from __future__ import annotations

import pytest
from programs.elementwise import pair
from programs.reduction import scaled_row_sums
from programs.stencil import blur

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.parser import parse

# --- what it refuses --------------------------------------------------------------------------------------------------


def test_refuses_a_decomposed_sum_that_is_not_finished(refused):
    sch = Schedule(scaled_row_sums(8, 16))
    i, k = sch.get_loops("S")
    sch.decompose_reduction("S", i)
    refused(sch, "not under loop i|not finished", lambda: sch.reverse_compute_at("C", i))


@pytest.mark.parametrize("tile", [1, 4, 5, 16])
def test_a_stencil_waits_for_its_neighbors(tile, refused):
    sch = Schedule(blur(16))
    outer, inner = sch.split(sch.get_loops("P")[0], [None, tile])
    refused(sch, "which is not written yet at", lambda: sch.reverse_compute_at("C", outer))
    refused(sch, "which is not written yet at", lambda: sch.reverse_compute_at("C", inner))


def test_refuses_a_loop_around_the_block(refused):
    sch = Schedule(pair(4, 6))
    refused(sch, "already around", lambda: sch.reverse_compute_at("C", sch.get_loops("C")[0]))


def test_refuses_a_producer_elsewhere(refused):
    @I.ir_module
    class Join:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            P = T.alloc_buffer((8,), "float32")
            Q = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = A[vi] * 2.0
            for i in range(8):
                with T.block("Q"):
                    vi = T.axis.spatial(8, i)
                    Q[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi] + Q[7 - vi]

    sch = Schedule(Join)
    refused(sch, 'producer "Q" of block "C" is not under', lambda: sch.reverse_compute_at("C", sch.get_loops("P")[0]))
    refused(sch, 'producer "P" of block "C" is not under', lambda: sch.reverse_compute_at("C", sch.get_loops("Q")[0]))


def test_refuses_inputs_that_are_ready_in_different_iterations(refused):
    @I.ir_module
    class Crossed:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            P = T.alloc_buffer((8,), "float32")
            Q = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = A[vi] * 2.0
                with T.block("Q"):
                    vi = T.axis.spatial(8, i)
                    Q[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi] + Q[7 - vi]

    sch = Schedule(Crossed)
    (i,) = sch.get_loops("P")
    refused(sch, r"reads P\[1\], which is not written yet at i = 0", lambda: sch.reverse_compute_at("C", i))


def test_refuses_a_result_that_is_used_before(refused):
    @I.ir_module
    class Before:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
            P = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = A[vi] * 2.0
            for i in range(8):
                with T.block("D"):
                    vi = T.axis.spatial(8, i)
                    D[vi] = C[vi]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi] + 1.0

    sch = Schedule(Before)
    refused(sch, 'C is also used by block "D"', lambda: sch.reverse_compute_at("C", sch.get_loops("P")[0]))


def test_an_input_that_is_overwritten_behind_the_consumer(same_result):
    @I.ir_module
    class Later:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            P = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = A[vi] * 2.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = P[vi] + B[vi]
            for i in range(8):
                with T.block("reset"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = 0.0

    sch = Schedule(Later)
    sch.reverse_compute_at("C", sch.get_loops("P")[0])
    same_result(sch, Later, *[((8,), "float32")] * 3)


def test_a_row_of_memory_that_is_refilled(same_result):
    @I.ir_module
    class Rows:
        @T.prim_func
        def main(A: T.Buffer((8, 3), "float32"), C: T.Buffer((8, 3), "float32")):
            R = T.alloc_buffer((3,), "float32")
            for i in range(8):
                for j in range(3):
                    with T.block("R"):
                        vi = T.axis.opaque(8, i)
                        vj = T.axis.spatial(3, j)
                        R[vj] = A[vi, vj] * 2.0
                for j in range(3):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = R[vj] + 1.0

    sch = Schedule(Rows)
    i, j = sch.get_loops("R")
    sch.reverse_compute_at("C", j)  # within one i, the row is written once: the consumer sees it in time
    same_result(sch, Rows, ((8, 3), "float32"), ((8, 3), "float32"))


def test_refuses_wrong_handles(refused):
    sch = Schedule(pair(4, 6))
    i, _ = sch.get_loops("P")
    refused(sch, "wrong type", lambda: sch.reverse_compute_at(i, i), TypeError)
    refused(sch, "this is the root block", lambda: sch.reverse_compute_at("root", i))
    refused(sch, "wrong type", lambda: sch.reverse_compute_at("C", "P"), TypeError)


def test_refuses_to_turn_an_order_that_counts(refused):
    @I.ir_module
    class Horner:
        @T.prim_func
        def main(A: T.Buffer((4, 4), "float32"), D: T.Buffer((4,), "float32")):
            P = T.alloc_buffer((4, 4), "float32")
            for i, k in T.grid(4, 4):
                with T.block("P"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    P[vi, vk] = A[vi, vk] + 1.0
            for k1, k0, i in T.grid(2, 2, 4):
                with T.block("D"):
                    vi = T.axis.spatial(4, i)
                    r0 = T.axis.reduce(2, k0)
                    r1 = T.axis.reduce(2, k1)
                    with T.init():
                        D[vi] = 1.0
                    D[vi] = D[vi] * 2.0 + P[vi, r0 * 2 + r1]

    sch = Schedule(Horner)
    (i, _) = sch.get_loops("P")
    refused(sch, 'update of block "D" depends on the order of r0, r1', lambda: sch.reverse_compute_at("D", i))


def test_names_an_iteration_that_no_producer_brings(refused):
    @I.ir_module
    class Longer:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((16,), "float32")):
            P = T.alloc_buffer((8,), "float32")
            Q = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("P"):
                    vi = T.axis.spatial(8, i)
                    P[vi] = A[vi] + 1.0
                    Q[vi] = A[vi] * 2.0
            for i in range(16):
                with T.block("C"):
                    vi = T.axis.spatial(16, i)
                    C[vi] = T.if_then_else(vi < 8, P[vi] + Q[vi], T.float32(0))

    sch = Schedule(Longer)
    (i,) = sch.get_loops("P")
    text = r'under loop i some iterations of block "C" would not run at all, as C\(vi=8\)'
    refused(sch, text, lambda: sch.reverse_compute_at("C", i))
    assert sch.explain("reverse_compute_at", "C", i).counterexample.iterations[0].at == {"vi": 8}


def test_a_consumer_that_sums_in_part_is_not_moved(refused):
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((4, 4), "float32")
    for i, j in T.grid(4, 4):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj] + 1.0
    for i, k in T.grid(4, 4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(4, k)
            T.where(k <= i)
            with T.init():
                C[vi] = 0.0
            C[vi] = C[vi] + P[vi, vk]
""")
    )
    loop = sch.get_loops("P")[0]
    refused(sch, "only part of its reduction", lambda: sch.reverse_compute_at("C", loop))


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
def test_parameter_elements_excluded_by_strides_or_guards_stay_excluded(loop, at, guard, first):
    """What is not written of C is the caller's; under a loop of B the block would run over its whole domain."""
    sch = Schedule(parse(LEAVES_OUT.format(loop=loop, at=at, guard=guard)))
    with pytest.raises(ScheduleError, match=f"iterations of its domain; .* they would run, as .*vi *= *{first}"):
        sch.reverse_compute_at("C", sch.get_loops("B")[0])
    sch.compute_at("B", sch.get_loops("C")[0])
    assert sch.verify()
