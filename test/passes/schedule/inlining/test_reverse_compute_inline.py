"""reverse_compute_inline: merge a consumer into its producer, and refusals."""

from __future__ import annotations

from programs.inlining import F32, STRAIGHT, Cropped, Straight

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

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
    @I.ir_module
    class Permuted:
        @T.prim_func
        def main(A: T.Buffer((8, 12), "float32"), C: T.Buffer((12, 8), "float32")):
            B = T.alloc_buffer((8, 12), "float32")
            for i, j in T.grid(8, 12):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * 2.0
            for i, j in T.grid(12, 8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[7 - vj, vi] + T.cast(vi * 10 + vj, "float32")

    sch = Schedule(Permuted)
    sch.reverse_compute_inline("C")
    same_result(sch, Permuted, ((8, 12), F32), ((12, 8), F32))


def test_packed_consumer(same_result):
    @I.ir_module
    class Unpack:
        @T.prim_func
        def main(A: T.Buffer((32,), "float32"), C: T.Buffer((8, 4), "float32")):
            B = T.alloc_buffer((32,), "float32")
            for i in range(32):
                with T.block("B"):
                    vi = T.axis.spatial(32, i)
                    B[vi] = A[vi] + 1.0
            for i, j in T.grid(8, 4):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi * 4 + vj] * 2.0

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
    @I.ir_module
    class Ragged:
        @T.prim_func
        def main(A: T.Buffer((16, 4), "float32"), C: T.Buffer((8, 3), "float32")):
            B = T.alloc_buffer((16, 4), "float32")
            for i_0, i_1, j in T.grid(4, 5, 4):
                with T.block("B"):
                    vi = T.axis.spatial(16, i_0 * 5 + i_1)
                    vj = T.axis.spatial(4, j)
                    T.where(i_0 * 5 + i_1 < 16)
                    B[vi, vj] = A[vi, vj] + 1.0
            for i, j in T.grid(8, 3):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi + 5, vj + 1] * 2.0

    @I.ir_module
    class Expected:
        @T.prim_func
        def main(A: T.Buffer((16, 4), "float32"), C: T.Buffer((8, 3), "float32")):
            for i_0, i_1, j in T.grid(4, 5, 4):
                with T.block("B"):
                    vi = T.axis.spatial(16, i_0 * 5 + i_1)
                    vj = T.axis.spatial(4, j)
                    T.where(i_0 * 5 + i_1 < 16 and i_0 * 5 + i_1 >= 5 and i_0 * 5 + i_1 < 13 and j >= 1)
                    C[vi - 5, vj - 1] = (A[vi, vj] + 1.0) * 2.0

    sch = Schedule(Ragged)
    sch.reverse_compute_inline("C")
    assert sch.mod.equal(Expected)
    same_result(sch, Ragged, ((16, 4), F32), ((8, 3), F32))


def test_condition_in_the_consumer(same_result):
    @I.ir_module
    class Choice:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), E: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = T.if_then_else(vi > 2, B[vi] + E[vi - 3], T.float32(5))

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


def test_reverse_refuses_inputs_and_results_touched_in_between(refused):
    @I.ir_module
    class Between:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), E: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("E"):
                    vi = T.axis.spatial(8, i)
                    E[vi] = C[vi]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi] + 1.0

    sch = Schedule(Between)
    refused(sch, 'C, which block "C" writes, is used between', lambda: sch.reverse_compute_inline("C"))

    @I.ir_module
    class Input:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), E: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("A"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = E[vi]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi] + A[vi]

    sch = Schedule(Input)
    refused(sch, "exactly one buffer that the scope computes; it reads B, A", lambda: sch.reverse_compute_inline("C"))
    refused(sch, 'A is written between block "B"', lambda: sch.compute_inline("B"))


def test_refuses_shared_elements(refused):
    @I.ir_module
    class Shared:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((16,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(16):
                with T.block("C"):
                    vi = T.axis.spatial(16, i)
                    C[vi] = B[vi // 2]

    sch = Schedule(Shared)
    refused(sch, 'two iterations of block "C" access the same element', lambda: sch.reverse_compute_inline("C"))


def test_refuses_other_readers_when_merging(refused):
    @I.ir_module
    class Two:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi]
            for i in range(8):
                with T.block("D"):
                    vi = T.axis.spatial(8, i)
                    D[vi] = B[vi]

    sch = Schedule(Two)
    refused(sch, 'also read outside block "C"', lambda: sch.reverse_compute_inline("C"))


def test_merge_into_tiles_that_compute_only_the_used_elements(same_result):
    sch = Schedule(Cropped)
    outer, _ = sch.split(sch.get_loops(sch.get_block("C"))[0], [None, 4])
    sch.compute_at("B", outer)
    sch.reverse_compute_inline("C")
    assert "vi = T.axis.spatial((2, 10), i_0 * 4 + ax0 + 2)" in sch.mod.script()
    same_result(sch, Cropped, ((12,), F32), ((8,), F32))


def test_refuses_tiles_that_compute_more_than_is_used(refused):
    @I.ir_module
    class Halo:
        @T.prim_func
        def main(A: T.Buffer((10,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((10,), "float32")
            for i in range(2):
                for j in range(6):
                    with T.block("B"):
                        vi = T.axis.spatial(10, i * 4 + j)
                        B[vi] = A[vi] + 1.0
                for j in range(4):
                    with T.block("C"):
                        vi = T.axis.spatial(8, i * 4 + j)
                        C[vi] = B[vi + 1]

    sch = Schedule(Halo)
    refused(sch, r'block "B" also computes B\[\d+\]', lambda: sch.reverse_compute_inline("C"))
    sch.compute_inline("B")


def test_refuses_guarded_consumer(refused):
    sch = Schedule(Straight)
    sch.split(sch.get_loops(sch.get_block("C"))[0], [None, 3])
    refused(sch, "has a guard", lambda: sch.reverse_compute_inline("C"))
