"""Refusals of compute_at, and legal near misses."""

import pytest
from programs.elementwise import chain
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock, under

from tir_mlir import Schedule

# --- what it refuses --------------------------------------------------------------------------------------------------


def test_refuses_a_place_that_makes_no_sense(refused):
    sch = Schedule(chain(4, 6))
    refused(sch, 'loop i is already around block "B"', lambda: sch.compute_at("B", sch.get_loops("B")[0]))
    refused(sch, 'block "D" writes D, which is visible outside', lambda: sch.compute_at("D", sch.get_loops("C")[0]))
    refused(sch, 'consumer "C" of block "B" is not under', lambda: sch.compute_at("B", sch.get_loops("D")[0]))


def test_refuses_an_input_that_one_row_of_memory_holds_in_turn(refused):
    # R is one row for all i: what it held for row i is gone when the loop is over.
    Rows = program(
        "A:8x3 C:8x3; R:3 P:8x3",
        nest(
            "i:8",
            nest("j:3", sblock("R", "vi:8O=i vj:3=j", "R[vj] = A[vi, vj] * 2.0")),
            nest("j:3", sblock("P", "SS i j", "P[vi, vj] = R[vj] + R[2 - vj]")),
        ),
        each("C:8x3", "C[vi, vj] = P[vi, vj]"),
    )
    sch = Schedule(Rows)
    i, _j = sch.get_loops("C")
    refused(sch, 'block "R" has the ordered iter vi', lambda: sch.compute_at("P", i))
    sch.cache_write("R", 0, "local")  # now a copy with spatial iters writes R, from a row that changes
    refused(sch, 'block "R" has the ordered iter vi', lambda: sch.compute_at("P", i))


def test_a_final_input_may_have_several_writers(same_result):
    Halves = program(
        "A:8 C:8; H:8 P:8",
        each("H_0:4", "H[vi] = A[vi]"),
        each("H_1:4", "H[vi + 4] = A[vi] * 2.0"),
        each("P", "P[vi] = H[vi] + 1.0"),
        each("C", "C[vi] = P[7 - vi]"),
    )
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
    refused(sch, 'a block with the name "Z"', lambda: sch.compute_at("Z", i))


Horner = program(
    "A:4x4 D:4; C:4",
    nest(
        "i:4 k1:2 k0:2",
        sblock("C", "vi:4=i r0:2R=k0 r1:2R=k1", "C[vi] = C[vi] * 2.0 + A[vi, r0 * 2 + r1]", init="C[vi] = 1.0"),
    ),
    each("D:4", "D[vi] = C[vi]"),
)
"""The update depends on the order, and the loops run r1 outside r0."""


def test_refuses_to_turn_an_order_that_counts(refused):
    sch = Schedule(Horner)
    message = 'the update of block "C" depends on the order of r0, r1'
    refused(sch, message, lambda: sch.compute_at("C", sch.get_loops("D")[0]))


def test_an_order_that_counts_and_stays(same_result):
    InOrder = program(
        "A:4x9 D:4; C:4",
        each("C i:4 k:9R", "C[vi] = 3.0 - C[vi] + A[vi, vk]", init="C[vi] = 1.0"),
        each("D:4", "D[vi] = C[vi]"),
    )
    for split in (False, True):
        sch = Schedule(InOrder)
        if split:
            sch.split(sch.get_loops("C")[1], [None, 4])
        sch.compute_at("C", sch.get_loops("D")[0])
        same_result(sch, InOrder, ((4, 9), "float32"), ((4,), "float32"))


def test_refuses_to_leave_a_shared_halo_behind(refused):
    """While reader and halo stand in one vectorized loop, each lane has its own copy; apart, the lanes would race."""

    Lanes = program(
        "A:10 D:8; P:10 C:8",
        nest(
            "i:8:vectorized",
            nest("j:3", sblock("P", "vi:10=i + j", "P[vi] = A[vi] * 2.0")),
            sblock("C", "vi:8=i", "C[vi] = P[vi] + P[vi + 2]"),
        ),
        each("D", "D[vi] = C[vi]"),
    )
    sch = Schedule(Lanes)
    message = r"iterations of the vectorized loop i would depend on each other: P\(i=0, j=1\) and P\(i=1, j=0\)"
    refused(sch, message, lambda: sch.compute_at("C", sch.get_loops("D")[0]))


PREFIXES = main(
    "A:4x6 C:4 ; P:4",
    nest(
        "i:4 k:{extent}",
        sblock("P", "vi:4=i vk:6R=k", "{guard}", under("with T.init():", "P[vi] = 0.0"), "P[vi] = P[vi] + A[vi, vk]"),
    ),
    each("C:4", "C[vi] = P[vi] + 1.0"),
)


@pytest.mark.parametrize("guarded", [False, True])
def test_a_sum_that_runs_in_part_is_not_moved(guarded, refused):
    facts = ("6", "T.where(k <= i)") if guarded else ("i + 1", "")
    sch = Schedule(parse(PREFIXES.format(extent=facts[0], guard=facts[1])))
    loop = sch.get_loops("C")[0]
    refused(sch, "only part of its reduction: not vi = 0, vk = 1", lambda: sch.compute_at("P", loop))
