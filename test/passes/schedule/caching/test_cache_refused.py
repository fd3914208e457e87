"""Refusals of cache_read, cache_write and set_scope."""

import pytest
from harness.schedules import block_order
from programs.matmul import matmul
from programs.short import each, program
from programs.stages import Running

from tir_mlir import Schedule

# --- refusals -------------------------------------------------------------------------------------------------------


def test_refuses_unknown_scope(refused):
    sch = Schedule(matmul(20, 24, 18))
    for step in (sch.cache_read, sch.cache_write):
        refused(sch, "'registers' is not a storage scope", lambda step=step: step("C", 0, "registers"))
    refused(sch, "is not a storage scope", lambda: sch.cache_read("C", 0, "shared.A"))
    refused(sch, "is not a storage scope", lambda: Schedule.set_scope(sch, "C", 0, "globalx"))


@pytest.mark.parametrize(
    ("which", "text"), [(2, "no buffer number 2"), (-1, "no buffer number -1"), ("C", "no buffers named 'C'")]
)
def test_refuses_buffers_that_are_not_read(refused, which, text):
    sch = Schedule(matmul(20, 24, 18))
    refused(sch, text, lambda: sch.cache_read("C", which, "shared"))


def test_refuses_several_writers(refused):
    sch = Schedule(matmul(20, 24, 18))
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[0])
    refused(sch, "written by several blocks", lambda: sch.cache_write(block, 0, "shared"))
    refused(sch, "written by several blocks", lambda: sch.cache_read(block, "C", "shared"))


def test_refuses_cache_read_of_own_writes(refused):
    InPlace = program("A:8", each("A", "A[vi] = A[vi] + 1.0", "A[vi] = A[vi] + 1.0"))
    sch = Schedule(InPlace)
    refused(sch, "must see its own writes", lambda: sch.cache_read("A", 0, "shared"))
    refused(sch, "before it writes it", lambda: sch.cache_write("A", 0, "shared"))


def test_refuses_values_from_another_iteration(refused):
    sch = Schedule(Running)
    refused(
        sch,
        r"reads B\[0, 0\], which block .B. "
        r"has not written in the same iteration",
        lambda: sch.cache_read("C", 0, "shared"),
    )


def test_cache_write_of_values_from_another_iteration(same_result):
    sch = Schedule(Running)
    sch.cache_write("B", 0, "shared")
    same_result(sch, Running, ((9, 8), "float32"), ((9, 8), "float32"))


def test_refuses_a_reader_before_the_writer(refused):
    Overwritten = program(
        "A:8 C:8 D:8", each("C", "C[vi] = A[vi]"), each("A", "A[vi] = 0.0"), each("D", "D[vi] = A[vi]")
    )
    sch = Schedule(Overwritten)
    refused(sch, 'reads A before block "A" writes it', lambda: sch.cache_read("C", 0, "shared"))
    sch.cache_read("D", 0, "shared", consumer_blocks=[sch.get_block("D")])
    assert block_order(sch) == ["C", "A", "A_shared", "D"]


def test_refuses_scattered_writes(refused):
    Scatter = program("P:8:int32 A:8 C:8; B:8", each("B i:8O", "B[P[vi]] = A[vi]"), each("C", "C[vi] = B[vi]"))
    sch = Schedule(Scatter)
    undecided = "every element read of B is written before: undecided, an index of B is computed from data"
    refused(sch, undecided, lambda: sch.cache_read("C", 0, "shared"))
    refused(sch, "every element read of B_shared is written before: undec", lambda: sch.cache_write("B", "B", "shared"))
    refused(sch, "not a single store at an affine index", lambda: sch.compute_inline("B"))


def test_refuses_blocks_in_an_init(refused):
    sch = Schedule(matmul(20, 24, 18))
    i, j, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 4])
    sch.reorder(i0, j, k, i1)
    sch.blockize(i1)
    refused(sch, "several blocks|outside any block|held before|init", lambda: sch.cache_write("C", 0, "shared"))


def test_refuses_the_root(refused):
    sch = Schedule(matmul(20, 24, 18))
    root = sch.get_block("root")
    refused(sch, "root block", lambda: sch.cache_read(root, 0, "shared"))


def test_refuses_a_copy_of_elements_that_nobody_writes(refused):
    """The copy of a padded buffer would read the padding."""

    main = program(
        "A:15 B:15; X:8x2", each("X:15", "X[vi // 2, vi % 2] = A[vi]"), each("B:15", "B[vi] = X[vi // 2, vi % 2]")
    )
    sch = Schedule(main)
    refused(sch, r"does not fill a box: the copy would also take X\[7, 1\]", lambda: sch.cache_read("B", 0, "shared"))
