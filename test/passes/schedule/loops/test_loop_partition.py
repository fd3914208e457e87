"""loop_partition: consecutive loops over parts of the range are equivalent to the original loop."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import reads_back
from programs.inlining import FILLED
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script.structural_equal import difference


def rows(n: int, m: int = 4):
    return program(
        f"A:{m}x{n} B:{m}x{n}", each(f"B i:{m} j:{n}", "B[vi, vj] = A[vi, vj] * T.float32(2) + T.Cast('float32', vj)")
    )


def extents(sch: Schedule, loops) -> list[tuple[int, int]]:
    return [(sch.get(loop).min, sch.get(loop).extent) for loop in loops]


def test_a_segment_that_a_condition_cuts_off(same_result):
    """The domains of the iters end where the condition ends them, as a constant index instead of one asks."""

    Row = program("A:4x1 B:4x1", each("B:4x1", "B[vi, 0] = A[vi, vj]"))
    sch = Schedule(Row)
    loop = sch.split(sch.get_loops("B")[1], [None, 4])[1]
    first, second = sch.loop_partition(loop, [1])
    domains = [sch.get(sch.get_child_blocks(lp)[0]).iter_vars[1].dom for lp in (first, second)]
    assert [(d.min, d.extent) for d in domains] == [(0, 1), (0, 1)]
    assert difference(parse(sch.mod.script()).mlir, sch.mod.mlir) is None
    assert sch.verify()
    same_result(sch, Row, ((4, 1), "float32"), ((4, 1), "float32"))


def test_segments_have_blocks_of_their_own():
    Before = program("A:4x16 B:4x16", each("B:4x16", "B[vi, vj] = A[vi, vj]"))
    Expected = program(
        "A:4x16 B:4x16",
        nest(
            "i:4",
            sblock(
                "B_j_common",
                "",
                "T.reads()",
                "T.writes()",
                sblock(
                    "B_j0_partition",
                    "",
                    "T.reads()",
                    "T.writes()",
                    nest(
                        "j0:5",
                        sblock(
                            "B_j0",
                            "vi:4=i vj:5=j0",
                            "T.reads(A[0:4, 0:5])",
                            "T.writes(B[0:4, 0:5])",
                            "B[vi, vj] = A[vi, vj]",
                        ),
                    ),
                ),
                sblock(
                    "B_j1_partition",
                    "",
                    "T.reads()",
                    "T.writes()",
                    nest(
                        "j1:5..16",
                        sblock(
                            "B_j1",
                            "vi:4=i vj:(5,16)=j1",
                            "T.reads(A[0:4, 5:16])",
                            "T.writes(B[0:4, 5:16])",
                            "B[vi, vj] = A[vi, vj]",
                        ),
                    ),
                ),
            ),
        ),
    )
    sch = Schedule(Before)
    made = sch.loop_partition(sch.get_loops("B")[1], [5, None])
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert [sch.get(loop).name for loop in made] == ["j0", "j1"]


@pytest.mark.parametrize("n", [15, 16, 17, 127])
@pytest.mark.parametrize("factors", [[1, None], [None, 3], [2, None, 5], [7]])
def test_any_size(n, factors, same_result):
    sch = Schedule(rows(n))
    made = sch.loop_partition(sch.get_loops("B")[1], factors)
    assert len(made) == len(factors) + (None not in factors)
    same_result(sch, rows(n), ((4, n), "float32"), ((4, n), "float32"))


def test_segments_of_a_segment_and_of_the_outer_loop(same_result):
    sch = Schedule(rows(16))
    outer = sch.loop_partition(sch.get_loops("B")[0], [1, 2])
    inner = sch.loop_partition(sch.get_loops("B_i1")[1], [3, None])
    assert len(outer) == 3 and len(inner) == 2
    same_result(sch, rows(16), ((4, 16), "float32"), ((4, 16), "float32"))


def test_a_segment_can_be_scheduled_on_its_own(same_result):
    sch = Schedule(rows(19))
    body, tail = sch.loop_partition(sch.get_loops("B")[1], [16, None])
    sch.vectorize(body)
    sch.unroll(tail)
    same_result(sch, rows(19), ((4, 19), "float32"), ((4, 19), "float32"))


@pytest.mark.parametrize("factors", [[None, 8], [3, None], [2, 2, 12]])
@pytest.mark.parametrize("n", [17, 25])
def test_a_segment_is_split(n, factors, same_result):
    sch = Schedule(rows(n))
    _, inner = sch.loop_partition(sch.get_loops("B")[1], [5, None])
    sch.vectorize(sch.split(inner, factors)[-1])
    same_result(sch, rows(n), ((4, n), "float32"), ((4, n), "float32"))


def test_the_binding_of_a_split_segment_gets_its_start():
    sch = Schedule(rows(21))
    sch.split(sch.loop_partition(sch.get_loops("B")[1], [5, None])[1], [None, 8])
    assert "vj = T.axis.spatial((5, 21), j1_0 * 8 + j1_1 + 5)" in sch.mod.script()


def test_a_segment_is_fused_with_the_loop_in_it(same_result):
    sch = Schedule(rows(19))
    rest = sch.loop_partition(sch.get_loops("B")[0], [1, None])[1]
    sch.parallel(sch.fuse(rest, sch.get_loops("B_i1")[-1]))
    assert "vi = T.axis.spatial((1, 4), i1_j_fused // 19 + 1)" in sch.mod.script()
    same_result(sch, rows(19), ((4, 19), "float32"), ((4, 19), "float32"))


def test_unit_segments_stay_bound_by_default():
    sch = Schedule(rows(3))
    sch.loop_partition(sch.get_loops("B")[1], [1, None])
    assert 'T.axis.remap("SS", [i, j0])' in sch.mod.script()
    sch = Schedule(rows(3))
    sch.loop_partition(sch.get_loops("B")[1], [1, None], preserve_unit_iters=False)
    assert "vj = T.axis.spatial(1, 0)" in sch.mod.script()


def test_summands_keep_their_order_in_an_update(same_result):
    program = parse(main("A:4x17 B:4", each("B i:4 k:17R", "B[vi] = B[vi] + A[vi, vk]", init="B[vi] = T.float32(0)")))
    sch = Schedule(program)
    _, k = sch.get_loops("B")
    sch.decompose_reduction("B", k)
    sch.loop_partition(k, [8, 8])
    same_result(sch, program, ((4, 17), "float32"), ((4,), "float32"))


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([], "needs the length of at least one segment"),
        ([None, None], r"one segment can take the rest of the range; 2 of \[None, None\] are None"),
        ([0, 4], "the length 0 of a segment is not positive"),
        ([-1], "the length -1 of a segment is not positive"),
        ([8, 8], r"the segments \[8, 8\] take 16 of the 16 iterations of loop j; at least one must be left"),
        ([17, None], "take 17 of the 16 iterations"),
    ],
)
def test_refuses_lengths(factors, message, refused):
    sch = Schedule(rows(16))
    refused(sch, message, lambda: sch.loop_partition(sch.get_loops("B")[1], factors))


def test_refuses_loops(refused):
    sch = Schedule(rows(16))
    i, j = sch.get_loops("B")
    sch.annotate(j, "my.key", 1)
    refused(sch, "has annotations", lambda: sch.loop_partition(j, [4]))
    sch.bind(i, "threadIdx.x")
    refused(sch, "is bound to threadIdx.x", lambda: sch.loop_partition(i, [2]))

    symbolic = program("A:n", each("A i:n", "A[vi] = T.float32(0)"))
    sch = Schedule(symbolic)
    refused(sch, "loop i has symbolic bounds", lambda: sch.loop_partition(sch.get_loops("A")[0], [4]))


def test_refuses_a_statement_next_to_the_blocks(refused):
    sch = Schedule(
        program("A:4:int32 B:4:int32", nest("i:4", "B[i] = A[i]", sblock("B", "vi:4=i", "B[vi] = B[vi] + A[vi]")))
    )
    text = "B is accessed in loop i outside any block"
    refused(sch, text, lambda: sch.loop_partition(sch.get_loops("B")[0], [1]))


MASKED = main("A:14:int32 M:14:int32 B:14:int32", each("B:14", "B[vi] = A[vi] + 1", where="M[i] > 0"))


def test_a_partition_of_a_block_under_a_mask_declares_what_the_mask_reads():
    sch = Schedule(parse(MASKED))
    sch.loop_partition(sch.get_loops("B")[0], [3])
    assert "T.reads(M[3:14], A[3:14])" in reads_back(sch)
    a, mask, b = np.arange(14, dtype=np.int32), np.arange(14, dtype=np.int32) % 2, np.zeros(14, np.int32)
    interpret(sch.mod, a, mask, b)
    np.testing.assert_array_equal(b, (a + 1) * mask)


def test_a_partition_of_blocks_that_only_write_or_only_read_reads_back():
    sch = Schedule(parse(FILLED))
    sch.loop_partition(sch.get_loops("B")[0], [1])
    assert "B_i_common" in reads_back(sch)


SCATTER = main("A:5:int8 I:5:int32 B:3:int8", each("B i:5O", "B[I[vi]] = B[I[vi]] + A[vi]"))


def test_pieces_of_a_scatter_are_not_known_to_write_all():
    sch = Schedule(parse(SCATTER))
    outer, _ = sch.split(sch.get_loops("B")[0], [5, None])
    with pytest.raises(ScheduleError, match="do not cover its domain"):
        sch.loop_partition(outer, [1])
