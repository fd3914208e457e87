"""reverse_compute_inline through quotients where the consumer is smaller, and of pure copies into reductions."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule

# --- quotients --------------------------------------------------------------------------------------------------------


def flattened(size: int, index: str):
    return program(
        f"A:4x16 C:{size}; B:4x16",
        each("B:4x16", "B[vi, vj] = A[vi, vj] * 2.0"),
        each(f"C i:{size}", f"C[vi] = B[{index}] + 1.0"),
    )


@pytest.mark.parametrize(
    ("size", "index", "guard"),
    [
        (60, "vi // 16, vi % 16", "i * 16 + j < 60"),
        (50, "(vi + 3) // 16, (vi + 3) % 16", "i * 16 + j >= 3 and i * 16 + j < 53"),
        (60, "(59 - vi) // 16, (59 - vi) % 16", "i * 16 + j < 60"),
        (15, "vi % 4, vi // 4", "j * 4 + i < 15"),
        (16, "vi % 4, vi", "i == j % 4"),
    ],
)
def test_a_smaller_consumer_is_a_guard(size, index, guard, same_result):
    program = flattened(size, index)
    sch = Schedule(program)
    sch.reverse_compute_inline("C")
    assert f"T.where({guard})" in sch.mod.script()
    same_result(sch, program, ((4, 16), "float32"), ((size,), "float32"))
    assert sch.verify()


def test_every_second_element_has_no_inverse_without_fractions(refused):
    sch = Schedule(flattened(30, "vi // 8, vi % 8 * 2"))
    refused(sch, "has no simple guard on the producer's iters", lambda: sch.reverse_compute_inline("C"))


def test_a_consumer_of_more_than_is_computed_is_refused(refused):
    sch = Schedule(flattened(60, "vi % 4, vi % 16"))
    refused(sch, 'two iterations of block "C" access the same element', lambda: sch.reverse_compute_inline("C"))


# --- pure copies of reductions ----------------------------------------------------------------------------------------


def row_sums(copy: str = "C[vi] = B[vi]", extent: int = 5, after: str = ""):
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((5, 9), "float32"), C: T.Buffer((5,), "float32")):
    B = T.alloc_buffer((5,), "float32")
    for i, k in T.grid(5, 9):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0.0
            B[vi] += A[vi, vk]
    for i in range({extent}):
        with T.block("C"):
            vi = T.axis.remap("S", [i])
            {copy}
{after}
""")


SUMS = [((5, 9), "float32"), ((5,), "float32")]


@pytest.mark.parametrize(("copy", "index"), [("C[vi] = B[vi]", "vi"), ("C[vi] = B[4 - vi]", "4 - vi")])
def test_a_pure_copy_merges_into_a_reduction(copy, index, same_result):
    program = row_sums(copy)
    sch = Schedule(program)
    sch.reverse_compute_inline("C")
    text = sch.mod.script()
    assert f"C[{index}] = C[{index}] + A[vi, vk]" in text and "alloc_buffer" not in text
    same_result(sch, program, *SUMS)
    assert sch.verify()


def test_what_is_no_pure_copy_is_refused(refused):
    sch = Schedule(row_sums("C[vi] = B[vi] * 2.0"))
    refused(sch, "a reduction, not a complete block, cannot be inlined", lambda: sch.reverse_compute_inline("C"))


def test_a_copy_of_a_part_is_refused(refused):
    sch = Schedule(row_sums("C[vi] = B[vi]", extent=4))
    match = 'block "C" copies only part of what the reduction "B" computes'
    refused(sch, match, lambda: sch.reverse_compute_inline("C"))


def test_a_result_with_another_writer_in_a_common_loop_is_refused(refused):
    """Block D doubles the row before the next part of the sum is added to it."""
    program = parse(
        main(
            "A:5x9 C:5 D:9x5; B:5",
            nest(
                "k:9",
                nest("i:5", sblock("B", "SR i k", "B[vi] += A[vi, vk]", init="B[vi] = 0.0")),
                each("C:5", "C[vi] = B[vi]"),
                nest("i:5", sblock("D", "OS k i", "D[vk, vi] = C[vi]", "C[vi] = C[vi] * 2.0")),
            ),
        )
    )
    sch = Schedule(program)
    refused(sch, r'C is written by several blocks \("C", "D"\)', lambda: sch.reverse_compute_inline("C"))


def test_partial_sums_may_be_read_in_a_common_loop(same_result):
    program = parse(
        main(
            "A:5x9 C:5 D:9x5; B:5",
            nest(
                "k:9",
                nest("i:5", sblock("B", "SR i k", "B[vi] += A[vi, vk]", init="B[vi] = 0.0")),
                each("C:5", "C[vi] = B[vi]"),
                nest("i:5", sblock("D", "SS k i", "D[vk, vi] = C[vi]")),
            ),
        )
    )
    sch = Schedule(program)
    sch.reverse_compute_inline("C")
    same_result(sch, program, ((5, 9), "float32"), ((5,), "float32"), ((9, 5), "float32"))
