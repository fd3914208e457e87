"""What random schedules once got wrong (tools/fuzzing), each as the smallest program that shows it."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import IndexMap, Schedule, build
from tir_mlir.dialect.ir import Func, edit, entered, funcs
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.script.parser import parse
from tir_mlir.script.structural_equal import difference


def reads_back(sch: Schedule) -> str:
    """The printed program, which is the same program when it is read."""
    text = sch.mod.script()
    assert difference(parse(text).mlir, sch.mod.mlir) is None
    return text


PREFIXES = """
@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), C: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((4,), "float32")
    for i in range(4):
        for k in range({extent}):
            with T.block("P"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.reduce(6, k)
                {guard}
                with T.init():
                    P[vi] = 0.0
                P[vi] = P[vi] + A[vi, vk]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = P[vi] + 1.0
"""


@pytest.mark.parametrize("guarded", [False, True])
def test_a_sum_that_runs_in_part_is_not_moved(guarded, refused):
    facts = ("6", "T.where(k <= i)") if guarded else ("i + 1", "")
    sch = Schedule(parse(PREFIXES.format(extent=facts[0], guard=facts[1])))
    loop = sch.get_loops("C")[0]
    refused(sch, "only part of its reduction: not vi = 0, vk = 1", lambda: sch.compute_at("P", loop))


def test_a_consumer_that_sums_in_part_is_not_moved(refused):
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((4, 4), "float32")
    for i, j in T.grid(4, 4):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj] + 1.0
    for i, k in T.grid(4, 4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(4, k)
            T.where(k <= i)
            with T.init():
                C[vi] = 0.0
            C[vi] = C[vi] + P[vi, vk]
""")
    )
    loop = sch.get_loops("P")[0]
    refused(sch, "only part of its reduction", lambda: sch.reverse_compute_at("C", loop))


def test_a_tuple_of_a_position_and_a_value_reads_back():
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), P: T.Buffer((3,), "int32"), V: T.Buffer((3,), "int32")):
    for i, k in T.grid(3, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                P[vi] = -1
                V[vi] = T.min_value("int32")
            p = T.Select(V[vi] >= A[vi, vk], P[vi], vk)
            v = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])
            P[vi] = p
            V[vi] = v
""")
    )
    sch.rfactor(sch.get_loops("C")[1], 0)
    assert "P_rf[vk, vi] = vk\n" in reads_back(sch)


def test_constants_that_meet_are_computed():
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((3, 4), "float32"), D: T.Buffer((3,), "float32")):
    C = T.alloc_buffer((3,), "float32")
    for i, k in T.grid(3, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = -1.0
            C[vi] = T.max(C[vi], A[vi, vk])
    for i in range(3):
        with T.block("D"):
            vi = T.axis.spatial(3, i)
            D[vi] = T.max(C[vi], 0.0)
""")
    )
    sch.fuse_reduction_epilogue("C", "D")
    assert "D[vi] = T.float32(0.0)\n" in reads_back(sch)


FILLED = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
    B = T.alloc_buffer((3,), "float32")
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            B[vi] = 2.0
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = A[vi] * (B[vi] + 1.0)
"""


def test_an_inlined_constant_is_computed():
    sch = Schedule(parse(FILLED))
    sch.compute_inline("B")
    assert "C[vi] = A[vi] * T.float32(3.0)" in reads_back(sch)


def test_a_constant_in_another_type_is_one():
    sch = Schedule(parse(FILLED))
    sch.unsafe_set_dtype("B", 0, "int8")
    assert "B[vi] = T.int8(2)" in reads_back(sch)


def test_a_constant_that_another_type_cannot_hold_is_converted_where_it_runs():
    sch = Schedule(parse(FILLED.replace("= 2.0", '= T.min_value("float32")')))
    sch.unsafe_set_dtype("B", 0, "int32")
    assert 'B[vi] = T.Cast("int32", T.float32(' in reads_back(sch)


def test_a_position_that_is_one_number_reads_back():
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((1,), "int8"), B: T.Buffer((1,), "int8")):
    for i in range(1):
        with T.block("B"):
            vi = T.axis.spatial(1, i)
            B[vi] = A[vi] + T.Cast("int8", vi * 2 + 1)
""")
    )
    sch.transform_block_layout("B", lambda i: (i % 2, i // 2))
    assert "A[0] + T.int8(1)" in reads_back(sch)


def test_a_partition_of_blocks_that_only_write_or_only_read_reads_back():
    sch = Schedule(parse(FILLED))
    sch.loop_partition(sch.get_loops("B")[0], [1])
    assert "B_i_common" in reads_back(sch)


def test_an_index_that_is_one_number_at_a_gathered_element():
    program = parse("""
@T.prim_func
def main(A: T.Buffer((5,), "float32"), P: T.Buffer((3,), "int32"), C: T.Buffer((3,), "float32")):
    B = T.alloc_buffer((5,), "float32")
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = A[vi]
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = B[P[vi]]
""")
    sch = Schedule(program)
    sch.transform_layout("B", ("write", 0), IndexMap.from_text("lambda i: (0, i)"))
    assert "C[vi] = B[0, P[vi]]" in reads_back(sch)


def test_a_declared_region_over_a_size_that_the_iters_do_not_have():
    sch = Schedule(
        parse("""
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    C = T.match_buffer(c, (n,))
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + 1.0
""")
    )
    outer = sch.blockize(sch.get_loops("C")[0], preserve_unit_iters=False)
    sch.annotate_buffer_access(outer, 0, "read", "lambda v: [(0, 1)]")
    assert "T.reads(A[0])" in reads_back(sch)
    sch.annotate_buffer_access(outer, 0, "write", "lambda v: [(0, 2)]")
    assert "T.writes(C[0:2])" in reads_back(sch)


def test_a_declared_region_keeps_other_regions_over_sizes():
    sch = Schedule(
        parse("""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    C = T.match_buffer(c, (n,))
    with T.block("o"):
        T.reads(A[0:n], B[0:n])
        T.writes(C[0:n])
        for i in range(n):
            with T.block("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + B[vi]
""")
    )
    sch.annotate_buffer_access("o", 0, "read", "lambda: [(0, 1)]")
    text = reads_back(sch)
    assert "T.reads(A[0], B[0:n])" in text and "T.writes(C[0:n])" in text


def test_what_a_view_stands_for_is_not_turned(refused):
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    with T.block("o"):
        T.reads(A[0:4])
        T.writes(C[0:4])
        X = T.match_buffer(A[0:4], (4,))
        Y = T.match_buffer(C[0:4], (4,))
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                Y[vi] = X[vi] + 1.0
""")
    )
    over = IndexMap.from_text("lambda i: i")
    refused(sch, "A is accessed through the view X", lambda: sch.reindex_cache_read("C", 0, "local", over))
    refused(sch, "C is accessed through the view Y", lambda: sch.reindex_cache_write("C", 0, "local", over))
    refused(sch, "A is accessed through the view X", lambda: sch.reindex("C", ("read", 0)))


def test_an_alignment_that_lost_its_buffer_is_left_out():
    program = parse("""
@T.prim_func
def main(A: T.Buffer((4, 1), "float32"), C: T.Buffer((4, 1), "float32")):
    B = T.alloc_buffer((4, 1), "float32")
    for i, j in T.grid(4, 1):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 2.0
    for i, j in T.grid(4, 1):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2.0
""")
    sch = Schedule(program)
    sch.storage_align("B", 0, 0, 16, 1)
    sch.reverse_compute_inline("C")
    a, c = np.ones((4, 1), np.float32), np.zeros((4, 1), np.float32)
    with pytest.warns(LoweringWarning, match=r"buffer_dim_align \[0, 0, 16, 1\] of block \"B\" is ignored"):
        build(sch)(a, c)
    assert (c == 6).all()


def test_nothing_is_erased_while_it_is_used():
    """MLIR would end the process; a primitive that tries it is at fault, and says so."""
    with entered():
        module = parse(FILLED).mlir
        body = Func(funcs(module)[0].op).body
        loop = body.operations[1].operation
        inner = loop.regions[0].blocks[0].operations[0]
        inner.move_before(loop)
        with pytest.raises(RuntimeError, match="affine.for cannot be erased: affine.parallel still uses a value of it"):
            edit.erase(loop)
        inner.move_before(list(loop.regions[0].blocks[0].operations)[-1])
