"""annotate_buffer_access and unsafe_hide_buffer_access change declared regions, not results."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build, reads_back
from programs.parsed import parse
from programs.short import each, program, sblock

from tir_mlir import Schedule

Sum = program("A:17x4 B:17x4 C:17x4", each("C:17x4", "C[vi, vj] = A[vi, vj] + B[vi, vj]"))
SHAPES = [((17, 4), "float32")] * 3


def regions(sch: Schedule, block: str = "C") -> tuple[str, str]:
    lines = sch.mod.script().split(f'T.block("{block}")')[1].splitlines()
    reads, writes = (next(line.strip() for line in lines if word in line) for word in ("T.reads(", "T.writes("))
    return reads, writes


def test_a_declared_region(same_result):
    sch = Schedule(Sum)
    sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: ((vi - 1, vi + 1), (0, 4)))
    assert regions(sch) == ("T.reads(A[vi - 1:vi - 1 + 2, 0:4], B[vi, vj])", "T.writes(C[vi, vj])")
    sch.annotate_buffer_access("C", 0, "write", lambda vi, vj: (vi, (vj, vj + 2)))
    assert regions(sch)[1] == "T.writes(C[vi, vj:vj + 2])"
    facts = {"explicit_read_region": [0], "explicit_write_region": [0]}
    assert sch.get(sch.get_block("C")).annotations == facts
    same_result(sch, Sum, *SHAPES)


def test_a_second_region_takes_the_place_of_the_first():
    sch = Schedule(Sum)
    sch.annotate_buffer_access("C", 1, "read", lambda vi, vj: ((0, 17), vj))
    sch.annotate_buffer_access("C", 1, "read", lambda vi, vj: (vi, (0, 4)))
    assert regions(sch)[0] == "T.reads(A[vi, vj], B[vi, 0:4])"
    assert sch.get(sch.get_block("C")).annotations == {"explicit_read_region": [1]}


def test_the_text_of_a_program_keeps_it():
    sch = Schedule(Sum)
    sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: ((vi - 1, vi + 1), vj))
    again = parse(sch.mod.script())
    assert again.script() == sch.mod.script()


@pytest.mark.parametrize("hide", [False, True])
def test_no_step_becomes_legal_by_it(hide, refused):
    """Proofs ask the accesses."""

    Shift = program("A:17", each("A i:16O", "A[vi + 1] = A[vi]"))
    sch = Schedule(Shift)
    if hide:
        sch.unsafe_hide_buffer_access("A", "read", [0])
    else:
        sch.annotate_buffer_access("A", 0, "read", lambda vi: vi + 1)
    loop = sch.get_loops("A")[0]
    refused(sch, "two of its iterations depend on each other", lambda: sch.parallel(loop))


def test_later_steps_keep_the_declared_region(same_result):
    sch = Schedule(Sum)
    sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: ((vi, vi + 1), (0, 4)))
    i, j = sch.get_loops("C")
    sch.split(i, [None, 4])
    sch.parallel(j)
    assert regions(sch)[0] == "T.reads(A[vi, 0:4], B[vi, vj])"
    same_result(sch, Sum, *SHAPES)


def test_hidden_regions(same_result):
    sch = Schedule(Sum)
    sch.unsafe_hide_buffer_access("C", "read", [1])
    assert regions(sch) == ("T.reads(A[vi, vj])", "T.writes(C[vi, vj])")
    sch.unsafe_hide_buffer_access("C", "write", [0])
    assert regions(sch)[1] == "T.writes()"
    same_result(sch, Sum, *SHAPES)


def test_hiding_nothing_changes_nothing():
    sch = Schedule(Sum)
    before = sch.mod.script()
    sch.unsafe_hide_buffer_access("C", "read", [])
    assert sch.mod.script() == before


def test_remaining_numbers_move_up():
    sch = Schedule(Sum)
    sch.annotate_buffer_access("C", 1, "read", lambda vi, vj: (vi, (0, 4)))
    sch.unsafe_hide_buffer_access("C", "read", [0])
    assert regions(sch)[0] == "T.reads(B[vi, 0:4])"
    assert sch.get(sch.get_block("C")).annotations["explicit_read_region"] == [0]


def test_refuses_numbers_and_ranges(refused):
    sch = Schedule(Sum)
    refused(sch, 'block "C" has no read region number 2; it has 2, counted from 0',
            lambda: sch.annotate_buffer_access("C", 2, "read", lambda vi, vj: (vi, vj)))  # fmt: skip
    refused(sch, "no write region number -1", lambda: sch.unsafe_hide_buffer_access("C", "write", [-1]))
    refused(sch, "the lambda returns 1 ranges; A has 2 dimensions",
            lambda: sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: (vi,)))  # fmt: skip
    refused(sch, "product of two variables is not affine",
            lambda: sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: (vi * vj, vj)))  # fmt: skip
    sch.unsafe_hide_buffer_access("C", "write", [0])
    refused(sch, "no write region number 0; it has none", lambda: sch.unsafe_hide_buffer_access("C", "write", [0]))


def test_a_declared_region_over_a_size_that_the_iters_do_not_have():
    sch = Schedule(program("A:n C:n", each("C i:n", "C[vi] = A[vi] + 1.0")))
    outer = sch.blockize(sch.get_loops("C")[0], preserve_unit_iters=False)
    sch.annotate_buffer_access(outer, 0, "read", "lambda v: [(0, 1)]")
    assert "T.reads(A[0])" in reads_back(sch)
    sch.annotate_buffer_access(outer, 0, "write", "lambda v: [(0, 2)]")
    assert "T.writes(C[0:2])" in reads_back(sch)


def test_a_declared_region_keeps_other_regions_over_sizes():
    sch = Schedule(
        program(
            "A:n B:n C:n",
            sblock("o", "", "T.reads(A[0:n], B[0:n])", "T.writes(C[0:n])", each("C i:n", "C[vi] = A[vi] + B[vi]")),
        )
    )
    sch.annotate_buffer_access("o", 0, "read", "lambda: [(0, 1)]")
    text = reads_back(sch)
    assert "T.reads(A[0], B[0:n])" in text and "T.writes(C[0:n])" in text


# --- compute_at -------------------------------------------------------------------------------------------------------

NEAREST = "T.floor((T.Cast('float32', vi) + T.float32(0.5)) * T.float32(0.5) - T.float32(0.5))"


def resized(index: str) -> Schedule:
    return Schedule(
        program(
            "A:64 I:128:int32 C:128; B:64",
            each("B:64", "B[vi] = A[vi] + T.float32(1)"),
            each("C:128", f"C[vi] = B[{index}]"),
        )
    )


@pytest.mark.parametrize(
    ("index", "low", "high", "computed"),
    [
        (f"T.min(T.max(T.Cast('int32', {NEAREST}), 0), 63)", -1, 2, 10),
        (f"T.min(T.max(T.Cast('int32', {NEAREST}), 0), 63)", 0, 1, 64),
        ("T.Cast('int32', T.Cast('float64', vi) * T.float64(0.5))", 0, 1, 8),
        ("T.Cast('int32', T.Cast('int64', vi) // T.int64(2))", 0, 1, 8),
        ("I[vi]", 0, 1, 64),
    ],
    ids=["a region around it", "not all of it", "half", "integers", "data"],
)
def test_compute_at_follows_a_declared_region_that_holds_the_index(index, low, high, computed):
    sch = resized(index)
    sch.annotate_buffer_access("C", 0, "read", lambda vi: [(vi // 2 + low, vi // 2 + high)])
    outer, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.compute_at("B", outer)
    assert f"for ax0 in range({computed}):" in sch.mod.script()
    a, table, c = np.arange(64, dtype=np.float32), np.arange(128, dtype=np.int32)[::-1] // 2, np.zeros(128, np.float32)
    want = np.zeros_like(c)
    quick_build(resized(index))(a, table.copy(), want)
    quick_build(sch)(a, table.copy(), c)
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("side", ["read", "write"])
def test_without_its_annotation_a_region_is_computed_again(side):
    """An empty region: the text of the block would not be read back."""
    sch, plain = Schedule(Sum), Schedule(Sum)
    sch.annotate_buffer_access("C", 0, side, lambda vi, vj: ((vi, vi), (vj, vj)))
    assert regions(sch) != regions(plain)
    sch.unannotate(sch.get_block("C"), f"explicit_{side}_region")
    assert regions(sch) == regions(plain)
    assert reads_back(sch)
