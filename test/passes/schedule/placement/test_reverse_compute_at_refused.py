"""Refusals of reverse_compute_at, and legal near misses."""

import pytest
from programs.elementwise import pair
from programs.parsed import parse
from programs.reduction import scaled_row_sums
from programs.short import each, main, nest, program, sblock
from programs.stencil import blur

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError

# --- what it refuses --------------------------------------------------------------------------------------------------


def test_refuses_a_decomposed_sum_that_is_not_finished(refused):
    sch = Schedule(scaled_row_sums(8, 16))
    i, _k = sch.get_loops("S")
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


def test_an_input_that_is_overwritten_behind_the_consumer(same_result):
    Later = program(
        "A:8 B:8 C:8; P:8",
        each("P", "P[vi] = A[vi] * 2.0"),
        each("C", "C[vi] = P[vi] + B[vi]"),
        each("reset", "B[vi] = 0.0"),
    )
    sch = Schedule(Later)
    sch.reverse_compute_at("C", sch.get_loops("P")[0])
    same_result(sch, Later, *[((8,), "float32")] * 3)


def test_a_row_of_memory_that_is_refilled(same_result):
    Rows = program(
        "A:8x3 C:8x3; R:3",
        nest(
            "i:8",
            nest("j:3", sblock("R", "vi:8O=i vj:3=j", "R[vj] = A[vi, vj] * 2.0")),
            nest("j:3", sblock("C", "SS i j", "C[vi, vj] = R[vj] + 1.0")),
        ),
    )
    sch = Schedule(Rows)
    _i, j = sch.get_loops("R")
    sch.reverse_compute_at("C", j)  # within one i, the row is written once: the consumer sees it in time
    same_result(sch, Rows, ((8, 3), "float32"), ((8, 3), "float32"))


def test_refuses_wrong_handles(refused):
    sch = Schedule(pair(4, 6))
    i, _ = sch.get_loops("P")
    refused(sch, "wrong type", lambda: sch.reverse_compute_at(i, i), TypeError)
    refused(sch, "this is the root block", lambda: sch.reverse_compute_at("root", i))
    refused(sch, "wrong type", lambda: sch.reverse_compute_at("C", "P"), TypeError)


def test_refuses_to_turn_an_order_that_counts(refused):
    Horner = program(
        "A:4x4 D:4; P:4x4",
        each("P i:4 k:4", "P[vi, vk] = A[vi, vk] + 1.0"),
        nest(
            "k1:2 k0:2 i:4",
            sblock("D", "vi:4=i r0:2R=k0 r1:2R=k1", "D[vi] = D[vi] * 2.0 + P[vi, r0 * 2 + r1]", init="D[vi] = 1.0"),
        ),
    )
    sch = Schedule(Horner)
    (i, _) = sch.get_loops("P")
    refused(sch, 'update of block "D" depends on the order of r0, r1', lambda: sch.reverse_compute_at("D", i))


def test_names_an_iteration_that_no_producer_brings(refused):
    Longer = program(
        "A:8 C:16; P:8 Q:8",
        each("P", "P[vi] = A[vi] + 1.0", "Q[vi] = A[vi] * 2.0"),
        each("C:16", "C[vi] = T.if_then_else(vi < 8, P[vi] + Q[vi], T.float32(0))"),
    )
    sch = Schedule(Longer)
    (i,) = sch.get_loops("P")
    text = r'under loop i some iterations of block "C" would not run at all, as C\(vi=8\)'
    refused(sch, text, lambda: sch.reverse_compute_at("C", i))
    assert sch.explain("reverse_compute_at", "C", i).counterexample.iterations[0].at == {"vi": 8}


def test_a_consumer_that_sums_in_part_is_not_moved(refused):
    sch = Schedule(
        program(
            "A:4x4 C:4; P:4x4",
            each("P:4x4", "P[vi, vj] = A[vi, vj] + 1.0"),
            each("C i:4 k:4R", "C[vi] = C[vi] + P[vi, vk]", init="C[vi] = 0.0", where="k <= i"),
        )
    )
    loop = sch.get_loops("P")[0]
    refused(sch, "only part of its reduction", lambda: sch.reverse_compute_at("C", loop))


SHARED = main(
    "A:16x5:int32 W:2x2:int32 C:8x2:int32; B:16x5:int32",
    nest(
        "i:16",
        sblock("B_o", "vo:16=i", nest("j:5", sblock("B", "vi:1=0 vj:5=j", "B[vo + vi, vj] = A[vo + vi, vj] + 1"))),
    ),
    each(
        "C i:8 j:2 r:2R s:2R", "C[vi, vj] = C[vi, vj] + B[vi * 2 + vr, vj * 2 + vs] * W[vr, vs]", init="C[vi, vj] = 0"
    ),
)


def test_parts_of_a_sum_do_not_run_again_in_loops_that_run_it_already():
    sch = Schedule(parse(SHARED))
    sch.loop_partition(sch.get_loops("B")[0], [None, 2], preserve_unit_iters=False)
    sch.compute_at("B_o", sch.get_loops("C")[3], preserve_unit_loops=True)
    with pytest.raises(ScheduleError, match='iterations of block "C" would run where they did not before'):
        sch.reverse_compute_at("C", sch.get_loops("B_o")[4])
    assert sch.verify()


ONE_OF_TWO = main(
    "A:2 D:1; B:2 C:2",
    each("B:2", "B[vi] = A[vi]"),
    each("C:2", "C[vi] = B[vi] + A[vi]"),
    each("D:1", "D[vi] = C[vi * 2 + {at}]"),
)


@pytest.mark.parametrize("at", [0, 1])
def test_a_guard_that_leaves_iterations_out_is_not_lost(at):
    """reverse_compute_inline made it; under another loop both iterations would write D[0], and the last would win."""
    sch = Schedule(parse(ONE_OF_TWO.format(at=at)))
    sch.reverse_compute_inline("D")
    assert f"T.where(i == {at})" in sch.mod.script()
    with pytest.raises(ScheduleError, match=f"iterations of its domain; .* they would run, as .*vi *= *{1 - at}"):
        sch.reverse_compute_at("C", sch.get_loops("B")[0])
    assert sch.verify()


LEAVES_OUT = main(
    "A:8 C:8; B:8",
    each("B", "B[vi] = A[vi] * 2.0"),
    nest("i:{loop}", sblock("C", "vi:8={at}", "C[vi] = B[vi] + 1.0", where="{guard}")),
)


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
