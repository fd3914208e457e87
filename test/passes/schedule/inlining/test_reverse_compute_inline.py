"""reverse_compute_inline: merge a consumer into its producer, and refusals."""

from programs.inlining import F32, STRAIGHT, Cropped, Straight
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule

# --- reverse_compute_inline -----------------------------------------------------------------------------------------


def test_consumer_is_merged(same_result):
    sch = Schedule(Straight)
    producer, consumer = sch.get_block("B"), sch.get_block("C")
    sch.reverse_compute_inline(consumer)
    text = sch.mod.script()
    assert "alloc_buffer" not in text and 'T.block("C")' not in text
    assert sch.get(producer).name == "B" and sch.get(producer).writes == ["C"]
    assert "T.reads(A[vi, vj], E[vi, vj])" in text
    same_result(sch, Straight, *STRAIGHT)


def test_permuted_and_shifted_consumer(same_result):
    Permuted = program(
        "A:8x12 C:12x8; B:8x12",
        each("B:8x12", "B[vi, vj] = A[vi, vj] * 2.0"),
        each("C:12x8", "C[vi, vj] = B[7 - vj, vi] + T.cast(vi * 10 + vj, 'float32')"),
    )
    sch = Schedule(Permuted)
    sch.reverse_compute_inline("C")
    same_result(sch, Permuted, ((8, 12), F32), ((12, 8), F32))


def test_packed_consumer(same_result):
    Unpack = program(
        "A:32 C:8x4; B:32", each("B:32", "B[vi] = A[vi] + 1.0"), each("C:8x4", "C[vi, vj] = B[vi * 4 + vj] * 2.0")
    )
    sch = Schedule(Unpack)
    sch.reverse_compute_inline("C")
    assert "C[vi // 4, vi % 4]" in sch.mod.script()
    same_result(sch, Unpack, ((32,), F32), ((8, 4), F32))


def test_part_of_the_producer_gets_a_guard(same_result):
    sch = Schedule(Cropped)
    sch.reverse_compute_inline("C")
    text = sch.mod.script()
    assert "T.where(" in text and "C[vi - 2]" in text
    assert "vi = T.axis.spatial(12, i)" in text and "T.where(" in text
    same_result(sch, Cropped, ((12,), F32), ((8,), F32))


def test_a_guard_joins_the_one_of_the_producer(same_result):
    Ragged = program(
        "A:16x4 C:8x3; B:16x4",
        nest(
            "i_0:4 i_1:5 j:4",
            sblock("B", "vi:16=i_0 * 5 + i_1 vj:4=j", "B[vi, vj] = A[vi, vj] + 1.0", where="i_0 * 5 + i_1 < 16"),
        ),
        each("C:8x3", "C[vi, vj] = B[vi + 5, vj + 1] * 2.0"),
    )
    Expected = program(
        "A:16x4 C:8x3",
        nest(
            "i_0:4 i_1:5 j:4",
            sblock(
                "B",
                "vi:16=i_0 * 5 + i_1 vj:4=j",
                "C[vi - 5, vj - 1] = (A[vi, vj] + 1.0) * 2.0",
                where="i_0 * 5 + i_1 < 16 and i_0 * 5 + i_1 >= 5 and (i_0 * 5 + i_1 < 13) and (j >= 1)",
            ),
        ),
    )
    sch = Schedule(Ragged)
    sch.reverse_compute_inline("C")
    assert sch.mod.equal(Expected)
    same_result(sch, Ragged, ((16, 4), F32), ((8, 3), F32))


def test_condition_in_the_consumer(same_result):
    Choice = program(
        "A:8 E:8 C:8; B:8",
        each("B", "B[vi] = A[vi] + 1.0"),
        each("C", "C[vi] = T.if_then_else(vi > 2, B[vi] + E[vi - 3], T.float32(5))"),
    )
    sch = Schedule(Choice)
    sch.reverse_compute_inline("C")
    assert "alloc_buffer" not in sch.mod.script()
    same_result(sch, Choice, ((8,), F32), ((8,), F32), ((8,), F32))
    sch = Schedule(Choice)
    sch.compute_inline("B")
    same_result(sch, Choice, ((8,), F32), ((8,), F32), ((8,), F32))


def test_merge_inside_a_shared_loop(same_result):
    sch = Schedule(Straight)
    sch.reverse_compute_at("C", sch.get_loops(sch.get_block("B"))[0])
    sch.reverse_compute_inline("C")
    same_result(sch, Straight, *STRAIGHT)


def test_merge_into_tiles_that_compute_only_the_used_elements(same_result):
    sch = Schedule(Cropped)
    outer, _ = sch.split(sch.get_loops(sch.get_block("C"))[0], [None, 4])
    sch.compute_at("B", outer)
    sch.reverse_compute_inline("C")
    assert "vi = T.axis.spatial((2, 10), i_0 * 4 + ax0 + 2)" in sch.mod.script()
    same_result(sch, Cropped, ((12,), F32), ((8,), F32))


def test_refuses_tiles_that_compute_more_than_is_used(refused):
    Halo = program(
        "A:10 C:8; B:10",
        nest(
            "i:2",
            nest("j:6", sblock("B", "vi:10=i * 4 + j", "B[vi] = A[vi] + 1.0")),
            nest("j:4", sblock("C", "vi:8=i * 4 + j", "C[vi] = B[vi + 1]")),
        ),
    )
    sch = Schedule(Halo)
    refused(sch, r'block "B" also computes B\[\d+\]', lambda: sch.reverse_compute_inline("C"))
    sch.compute_inline("B")
