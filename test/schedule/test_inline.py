"""compute_inline and reverse_compute_inline: values computed where they are used, and what is refused."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

F32 = "float32"


@I.ir_module
class Chain:
    @T.prim_func
    def main(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((8, 12), "float32")
        for i, j in T.grid(8, 12):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0 + T.cast(vi, "float32")
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * B[7 - vi, vj] + 1.0


CHAIN = [((8, 12), F32)] * 2


@I.ir_module
class Straight:
    @T.prim_func
    def main(A: T.Buffer((8, 12), "float32"), E: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((8, 12), "float32")
        for i, j in T.grid(8, 12):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + E[vi, vj] * B[vi, vj]


STRAIGHT = [((8, 12), F32)] * 3


@I.ir_module
class Padded:
    """A padded copy, summed over windows; the consumer reads it inside a reduction and in its init."""

    @T.prim_func
    def main(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
        P = T.alloc_buffer((12,), "float32")
        for i in range(12):
            with T.block("P"):
                vi = T.axis.spatial(12, i)
                P[vi] = T.if_then_else(vi >= 1 and vi < 11, A[vi - 1], T.float32(0))
        for i, k in T.grid(10, 3):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = P[vi] * 0.5
                C[vi] += P[vi + vk]


PADDED = [((10,), F32)] * 2


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


SYMBOLIC = [((5, 8), F32)] * 2


@I.ir_module
class Gather:
    @T.prim_func
    def main(A: T.Buffer((9,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,), "float32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi + 1] + T.cast(vi * 3, "float32")
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[T.max(T.min(P[vi], 7), 0)]


GATHER = [((9,), F32), ((8,), "int32"), ((8,), F32)]


@I.ir_module
class Packed:
    """The producer stores at a mixed-radix index of its iters."""

    @T.prim_func
    def main(A: T.Buffer((8, 4), "float32"), C: T.Buffer((32,), "float32")):
        B = T.alloc_buffer((32,), "float32")
        for i, j in T.grid(8, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi * 4 + vj] = A[vi, vj] * 3.0
        for i in range(32):
            with T.block("C"):
                vi = T.axis.spatial(32, i)
                C[vi] = B[31 - vi] + 1.0


PACKED = [((8, 4), F32), ((32,), F32)]


def body(sch: Schedule) -> str:
    return sch.mod.script()


# --- compute_inline -------------------------------------------------------------------------------------------------


def test_several_loads_in_one_consumer(same_result):
    sch = Schedule(Chain)
    block = sch.get_block("B")
    sch.compute_inline(block)
    text = body(sch)
    assert "alloc_buffer" not in text and 'T.block("B")' not in text
    assert "A[vi, vj] * T.float32(2.0)" in text and "A[7 - vi, vj] * T.float32(2.0)" in text
    same_result(sch, Chain, *CHAIN)
    with pytest.raises(ValueError, match="gone"):
        sch.get(block)


def test_regions_of_the_consumer_are_inferred_anew():
    sch = Schedule(Straight)
    sch.compute_inline("B")
    assert "T.reads(A[vi, vj], E[vi, vj])" in body(sch)


def test_loops_of_the_block_go_with_it():
    sch = Schedule(Straight)
    i, j = sch.get_loops(sch.get_block("B"))
    sch.split(j, [None, 4])
    sch.compute_inline("B")
    assert body(sch).count("T.grid") == 1


def test_condition_in_reduction_and_init(same_result):
    sch = Schedule(Padded)
    sch.compute_inline("P")
    text = body(sch)
    assert "T.if_then_else(" in text and "P[" not in text
    same_result(sch, Padded, *PADDED)


def test_into_a_blockized_consumer(same_result):
    sch = Schedule(Padded)
    i, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 5])
    sch.reorder(i0, k, i1)
    sch.blockize(i1)
    sch.compute_inline("P")
    same_result(sch, Padded, *PADDED)


def test_symbolic(same_result):
    for step in ("compute_inline", "reverse_compute_inline"):
        sch = Schedule(Symbolic)
        getattr(sch, step)("B" if step == "compute_inline" else "C")
        assert "alloc_buffer" not in body(sch)
        same_result(sch, Symbolic, *SYMBOLIC)


def test_gathered_element(same_result):
    sch = Schedule(Gather)
    sch.compute_inline("B")
    assert "B[" not in body(sch)
    same_result(sch, Gather, *GATHER)


def test_mixed_radix_index(same_result):
    sch = Schedule(Packed)
    sch.compute_inline("B")
    assert "//" in body(sch)
    same_result(sch, Packed, *PACKED)


def test_several_consumers_and_chains(same_result):
    @I.ir_module
    class Several:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((4, 2), "float32")):
            B = T.alloc_buffer((8,), "float32")
            E = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("E"):
                    vi = T.axis.spatial(8, i)
                    E[vi] = A[vi] - 1.0
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = E[vi] * E[7 - vi]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi]
            for i, j in T.grid(4, 2):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = B[vi * 2 + vj] + E[vi]

    arrays = [((8,), F32), ((8,), F32), ((4, 2), F32)]
    for order in (["B", "E"], ["E", "B"]):
        sch = Schedule(Several)
        for name in order:
            sch.compute_inline(name)
        assert "alloc_buffer" not in body(sch)
        same_result(sch, Several, *arrays)


def test_unit_dimensions_and_constants(same_result):
    @I.ir_module
    class Units:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((1, 8), "float32")
            Z = T.alloc_buffer((8,), "float32")
            for u, i in T.grid(1, 8):
                with T.block("B"):
                    vu, vi = T.axis.remap("SS", [u, i])
                    B[vu, vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("Z"):
                    vi = T.axis.spatial(8, i)
                    Z[vi] = T.float32(3)
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[0, vi] * Z[vi]

    sch = Schedule(Units)
    sch.compute_inline("B")
    sch.compute_inline("Z")
    same_result(sch, Units, ((8,), F32), ((8,), F32))


def test_block_nobody_reads_goes():
    @I.ir_module
    class Dead:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = A[vi]

    sch = Schedule(Dead)
    sch.compute_inline("B")
    assert "B" not in [line.strip()[:1] for line in body(sch).split("\n")]


def test_declared_regions_are_dropped(same_result):
    @I.ir_module
    class Declared:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    T.reads(B[0:8])
                    T.writes(C[vi])
                    C[vi] = B[vi]

    sch = Schedule(Declared)
    sch.compute_inline("B")
    assert "T.reads(A[vi])" in body(sch)
    same_result(sch, Declared, ((8,), F32), ((8,), F32))


def test_producer_moved_into_the_consumers_loop(same_result):
    sch = Schedule(Straight)
    sch.compute_at("B", sch.get_loops(sch.get_block("C"))[0])
    sch.compute_inline("B")
    same_result(sch, Straight, *STRAIGHT)


# --- reverse_compute_inline -----------------------------------------------------------------------------------------


def test_consumer_is_merged(same_result):
    sch = Schedule(Straight)
    producer, consumer = sch.get_block("B"), sch.get_block("C")
    sch.reverse_compute_inline(consumer)
    text = body(sch)
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
    assert "C[vi // 4, vi % 4]" in body(sch)
    same_result(sch, Unpack, ((32,), F32), ((8, 4), F32))


@I.ir_module
class Cropped:
    """The consumer uses the middle of what the producer computes."""

    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((12,), "float32")
        for i in range(12):
            with T.block("B"):
                vi = T.axis.spatial(12, i)
                B[vi] = A[vi] + 1.0
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi + 2] * 2.0


def test_part_of_the_producer_gets_a_guard(same_result):
    sch = Schedule(Cropped)
    sch.reverse_compute_inline("C")
    text = body(sch)
    assert "T.where(" in text and "C[vi - 2]" in text
    assert "vi = T.axis.spatial((2, 10), i)" in text
    same_result(sch, Cropped, ((12,), F32), ((8,), F32))


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
    assert "alloc_buffer" not in body(sch)
    same_result(sch, Choice, ((8,), F32), ((8,), F32), ((8,), F32))
    sch = Schedule(Choice)
    sch.compute_inline("B")
    same_result(sch, Choice, ((8,), F32), ((8,), F32), ((8,), F32))


def test_merge_inside_a_shared_loop(same_result):
    sch = Schedule(Straight)
    sch.reverse_compute_at("C", sch.get_loops(sch.get_block("B"))[0])
    sch.reverse_compute_inline("C")
    same_result(sch, Straight, *STRAIGHT)


# --- refusals -------------------------------------------------------------------------------------------------------


def test_refuses_outputs_and_reductions(refused):
    sch = Schedule(Padded)
    refused(sch, "has an init", lambda: sch.compute_inline("C"))
    refused(sch, "has an init", lambda: sch.reverse_compute_inline("C"))
    sch = Schedule(Straight)
    refused(sch, "C, which is not allocated in its scope", lambda: sch.compute_inline("C"))
    refused(sch, "exactly one buffer that the scope computes; it reads none", lambda: sch.reverse_compute_inline("B"))


@I.ir_module
class Overwritten:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,), "float32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1.0
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 0.0
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] * 2.0


def test_refuses_inputs_written_in_between(refused, same_result):
    sch = Schedule(Overwritten)
    refused(sch, 'A is written between block "B", which reads it, and block "C"', lambda: sch.compute_inline("B"))
    sch.reverse_compute_inline("C")
    same_result(sch, Overwritten, ((8,), F32), ((8,), F32))


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


def test_refuses_values_from_another_iteration(refused):
    @I.ir_module
    class Running:
        @T.prim_func
        def main(A: T.Buffer((9,), "float32"), C: T.Buffer((9,), "float32")):
            B = T.alloc_buffer((9,), "float32")
            for i in range(9):
                with T.block("B"):
                    vi = T.axis.spatial(9, i)
                    B[vi] = A[vi] + 1.0
                with T.block("C"):
                    vi = T.axis.spatial(9, i)
                    C[vi] = T.if_then_else(vi > 0, B[vi - 1], T.float32(0))

    sch = Schedule(Running)
    refused(
        sch,
        r"reads B\[0\], which block .B. has "
        r"not computed in the same iteration",
        lambda: sch.compute_inline("B"),
    )
    refused(sch, r"needs B\[-1\], which block .B. has not computed", lambda: sch.reverse_compute_inline("C"))


def test_refuses_elements_nobody_computed(refused):
    @I.ir_module
    class Half:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    T.where(i < 8)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi // 2] + B[vi]

    sch = Schedule(Half)
    refused(sch, "at several indices", lambda: sch.reverse_compute_inline("C"))
    sch.compute_inline("B")


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
    refused(sch, 'two iterations of block "C" touch the same element', lambda: sch.reverse_compute_inline("C"))


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


def test_merge_into_tiles_that_compute_just_what_is_used(same_result):
    sch = Schedule(Cropped)
    outer, _ = sch.split(sch.get_loops(sch.get_block("C"))[0], [None, 4])
    sch.compute_at("B", outer)
    sch.reverse_compute_inline("C")
    assert "vi = T.axis.spatial((2, 10), i_0 * 4 + ax0 + 2)" in body(sch)
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


def test_refuses_bodies_that_are_not_one_store(refused):
    sch = Schedule(Straight)
    sch.blockize(sch.get_loops(sch.get_block("B"))[1])
    refused(sch, "not a single store", lambda: sch.compute_inline("B_o"))


def test_refuses_the_only_block(refused):
    @I.ir_module
    class Only:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi]

    sch = Schedule(Only)
    refused(sch, "the only one in its scope", lambda: sch.compute_inline("B"))


def test_refuses_whole_uses(refused):
    @I.ir_module
    class Views:
        @T.prim_func
        def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
            B = T.alloc_buffer((8, 8), "float32")
            for i, j in T.grid(8, 8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj]
            for i in range(2):
                with T.block("outer"):
                    vi = T.axis.spatial(2, i)
                    W = T.match_buffer(B[vi * 4 : vi * 4 + 4, 0:8], (4, 8), strides=["t", 1], offset_factor=1)
                    for j, k in T.grid(4, 8):
                        with T.block("C"):
                            vj, vk = T.axis.remap("SS", [j, k])
                            C[vi * 4 + vj, vk] = W[vj, vk]

    sch = Schedule(Views)
    refused(sch, "B is used as a whole by memref.subview", lambda: sch.compute_inline("B"))


def test_refuses_the_root(refused):
    sch = Schedule(Straight)
    root = sch.get_block("root")
    for step in (sch.compute_inline, sch.reverse_compute_inline):
        refused(sch, "root block", lambda step=step: step(root))
