"""compute_inline: values computed where they are used."""

import pytest
from harness.schedules import reads_back
from programs.inlining import (
    F32,
    FILLED,
    GATHER,
    MIRRORED,
    PACKED,
    PADDED,
    STRAIGHT,
    Gather,
    Mirrored,
    Packed,
    Padded,
    Straight,
)
from programs.parsed import parse
from programs.short import each, program
from programs.sizes import square
from programs.symbolic import Twice

from tir_mlir import Schedule

# --- compute_inline -------------------------------------------------------------------------------------------------


def test_several_loads_in_one_consumer(same_result):
    sch = Schedule(Mirrored)
    block = sch.get_block("B")
    sch.compute_inline(block)
    text = sch.mod.script()
    assert "alloc_buffer" not in text and 'T.block("B")' not in text
    assert "A[vi, vj] * T.float32(2.0)" in text and "A[7 - vi, vj] * T.float32(2.0)" in text
    same_result(sch, Mirrored, *MIRRORED)
    with pytest.raises(ValueError, match="gone"):
        sch.get(block)


def test_regions_of_the_consumer_are_recomputed():
    sch = Schedule(Straight)
    sch.compute_inline("B")
    assert "T.reads(A[vi, vj], E[vi, vj])" in sch.mod.script()


def test_loops_of_the_block_go_with_it():
    sch = Schedule(Straight)
    _i, j = sch.get_loops(sch.get_block("B"))
    sch.split(j, [None, 4])
    sch.compute_inline("B")
    assert sch.mod.script().count("T.grid") == 1


def test_condition_in_reduction_and_init(same_result):
    sch = Schedule(Padded)
    sch.compute_inline("P")
    text = sch.mod.script()
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
        sch = Schedule(Twice)
        getattr(sch, step)("B" if step == "compute_inline" else "C")
        assert "alloc_buffer" not in sch.mod.script()
        same_result(sch, Twice, *square(5, 8))


def test_gathered_element(same_result):
    sch = Schedule(Gather)
    sch.compute_inline("B")
    assert "B[" not in sch.mod.script()
    same_result(sch, Gather, *GATHER)


def test_mixed_radix_index(same_result):
    sch = Schedule(Packed)
    sch.compute_inline("B")
    assert "//" in sch.mod.script()
    same_result(sch, Packed, *PACKED)


def test_several_consumers_and_chains(same_result):
    Several = program(
        "A:8 C:8 D:4x2; B:8 E:8",
        each("E", "E[vi] = A[vi] - 1.0"),
        each("B", "B[vi] = E[vi] * E[7 - vi]"),
        each("C", "C[vi] = B[vi]"),
        each("D:4x2", "D[vi, vj] = B[vi * 2 + vj] + E[vi]"),
    )
    arrays = [((8,), F32), ((8,), F32), ((4, 2), F32)]
    for order in (["B", "E"], ["E", "B"]):
        sch = Schedule(Several)
        for name in order:
            sch.compute_inline(name)
        assert "alloc_buffer" not in sch.mod.script()
        same_result(sch, Several, *arrays)


def test_unit_dimensions_and_constants(same_result):
    Units = program(
        "A:8 C:8; B:1x8 Z:8",
        each("B u:1 i:8", "B[vu, vi] = A[vi] + 1.0"),
        each("Z", "Z[vi] = T.float32(3)"),
        each("C", "C[vi] = B[0, vi] * Z[vi]"),
    )
    sch = Schedule(Units)
    sch.compute_inline("B")
    sch.compute_inline("Z")
    same_result(sch, Units, ((8,), F32), ((8,), F32))


def test_a_block_without_readers_is_erased():
    Dead = program("A:8 C:8; B:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = A[vi]"))
    sch = Schedule(Dead)
    sch.compute_inline("B")
    assert "B" not in [line.strip()[:1] for line in sch.mod.script().split("\n")]


def test_declared_regions_are_dropped(same_result):
    Declared = program(
        "A:8 C:8; B:8",
        each("B", "B[vi] = A[vi] + 1.0"),
        each("C", "T.reads(B[0:8])", "T.writes(C[vi])", "C[vi] = B[vi]"),
    )
    sch = Schedule(Declared)
    sch.compute_inline("B")
    assert "T.reads(A[vi])" in sch.mod.script()
    same_result(sch, Declared, ((8,), F32), ((8,), F32))


def test_producer_moved_into_the_consumers_loop(same_result):
    sch = Schedule(Straight)
    sch.compute_at("B", sch.get_loops(sch.get_block("C"))[0])
    sch.compute_inline("B")
    same_result(sch, Straight, *STRAIGHT)


def test_an_inlined_constant_is_computed():
    sch = Schedule(parse(FILLED))
    sch.compute_inline("B")
    assert "C[vi] = A[vi] * T.float32(3.0)" in reads_back(sch)


def test_an_iter_of_extent_1_remains_the_index():
    sch = Schedule(
        program("A:1x8 C:1x8 b:1x8", each("B:1x8", "b[vi, vj] = A[vi, vj]"), each("C:1x8", "C[vi, vj] = b[vi, vj]"))
    )
    sch.compute_inline("B")
    assert "C[vi, vj] = A[vi, vj]" in sch.mod.script()
