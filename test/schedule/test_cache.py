"""cache_read, cache_write, set_scope: where the copy stands, who uses it, what is refused."""

from __future__ import annotations

import re

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Chain:
    """B from A, D from A, C from B."""

    @T.prim_func
    def main(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32"), D: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((8, 12), "float32")
        for i, j in T.grid(8, 12):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0
        for i, j in T.grid(8, 12):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + A[7 - vi, vj]


CHAIN = [((8, 12), "float32")] * 3


@I.ir_module
class Matmul:
    @T.prim_func
    def main(A: T.Buffer((20, 18), "float32"), B: T.Buffer((18, 24), "float32"), C: T.Buffer((20, 24), "float32")):
        for i, j, k in T.grid(20, 24, 18):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] += A[vi, vk] * B[vk, vj]


MATMUL = [((20, 18), "float32"), ((18, 24), "float32"), ((20, 24), "float32")]


@I.ir_module
class Symbolic:
    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "float32")
        C = T.match_buffer(b, (n, 8), "float32")
        B = T.alloc_buffer((n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(n, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2.0


@I.ir_module
class Halves:
    """Producer and consumer in one loop, a second consumer after it."""

    @T.prim_func
    def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32"), D: T.Buffer((4, 8), "float32")):
        B = T.alloc_buffer((4, 8), "float32")
        for i in range(4):
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1.0
            for j in range(8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, 7 - vj]
        for i, j in T.grid(4, 8):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] * 3.0


HALVES = [((4, 8), "float32")] * 3


@I.ir_module
class Running:
    """Each row adds to the row above: a value crosses the loop that holds writer and reader."""

    @T.prim_func
    def main(A: T.Buffer((9, 8), "float32"), C: T.Buffer((9, 8), "float32")):
        B = T.alloc_buffer((9, 8), "float32")
        for i in range(9):
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1.0
            for j in range(8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = T.if_then_else(vi > 0, B[vi - 1, vj], T.float32(0))


def order(sch: Schedule) -> list[str]:
    return re.findall(r'T\.block\("([\w.]+)"\)', "\n".join(x for x in sch.mod.script().split("\n") if "#" not in x))


# --- cache_read -----------------------------------------------------------------------------------------------------


def test_input_copies_go_to_the_front_latest_first(same_result):
    sch = Schedule(Matmul)
    block = sch.get_block("C")
    sch.cache_read(block, 0, "global.A_reg")
    made = sch.cache_read(block, 1, "shared")
    assert order(sch) == ["B_shared", "A_global.A_reg", "C"]
    assert sch.get(made).name == "B_shared"
    text = sch.mod.script()
    assert 'A_global_A_reg = T.alloc_buffer((20, 18), scope="global.A_reg")' in text
    assert "C[vi, vj] + A_global_A_reg[vi, vk] * B_shared[vk, vj]" in text
    assert "T.reads(A_global_A_reg[vi, vk], B_shared[vk, vj])" in text
    same_result(sch, Matmul, *MATMUL)


def test_loops_and_iters_of_the_copy():
    sch = Schedule(Matmul)
    sch.cache_read(sch.get_block("C"), "A", "local")
    expected = """\
        for ax0, ax1 in T.grid(20, 18):
            with T.block("A_local"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(A[v0, v1])
                T.writes(A_local[v0, v1])
                A_local[v0, v1] = A[v0, v1]
"""
    assert expected in sch.mod.script()


def test_every_reader_is_redirected(same_result):
    sch = Schedule(Chain)
    sch.cache_read(sch.get_block("D"), 0, "shared")
    assert order(sch) == ["A_shared", "B", "D", "C"]
    assert "B[vi, vj] + A_shared[7 - vi, vj]" in sch.mod.script()
    assert sch.mod.script().count("A[") == 2  # the copy's own read, declared and done
    same_result(sch, Chain, *CHAIN)


def test_only_listed_consumers(same_result):
    sch = Schedule(Chain)
    block = sch.get_block("D")
    sch.cache_read(block, 0, "shared", consumer_blocks=[block])
    text = sch.mod.script()
    assert "A_shared[vi, vj] + " in text and "A[7 - vi, vj]" in text
    same_result(sch, Chain, *CHAIN)


def test_computed_buffer_is_copied_before_its_first_reader(same_result):
    sch = Schedule(Chain)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    assert order(sch) == ["B", "D", "B_shared", "C"]
    same_result(sch, Chain, *CHAIN)


def test_names_compose():
    sch = Schedule(Matmul)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    sch.cache_read(sch.get_block("C"), 0, "local")
    assert order(sch) == ["A_shared", "A_shared_local", "C"] or order(sch) == ["A_shared_local", "A_shared", "C"]
    assert "C[vi, vj] + A_shared_local[vi, vk]" in sch.mod.script()


def test_same_scope_twice_gives_two_buffers(same_result):
    sch = Schedule(Chain)
    d, c = sch.get_block("D"), sch.get_block("C")
    sch.cache_read(d, 0, "shared", consumer_blocks=[d])
    sch.cache_read(c, "A", "shared", consumer_blocks=[c])
    assert order(sch).count("A_shared") == 2
    assert "A_shared_1" in sch.mod.script()
    same_result(sch, Chain, *CHAIN)


def test_symbolic_shape(same_result):
    sch = Schedule(Symbolic)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    sch.cache_read(sch.get_block("B"), 0, "local")
    sch.cache_write(sch.get_block("C"), 0, "global.acc")
    text = sch.mod.script()
    assert 'B_shared = T.alloc_buffer((n, 8), scope="shared")' in text
    assert "v0, v1 = T.axis.remap" in text
    same_result(sch, Symbolic, ((5, 8), "float32"), ((5, 8), "float32"))
    same_result(sch, Symbolic, ((1, 8), "float32"), ((1, 8), "float32"))


def test_copy_inside_a_shared_loop_and_a_reader_outside(same_result):
    sch = Schedule(Halves)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    assert order(sch) == ["B", "B_shared", "C", "D"]
    text = sch.mod.script()
    assert "v0 = T.axis.spatial(4, i + ax0)" in text
    assert "B_shared[vi, 7 - vj]" in text and "B_shared[vi, vj] * T.float32(3.0)" in text
    same_result(sch, Halves, *HALVES)


def test_copy_in_a_ragged_tile_is_guarded(same_result):
    sch = Schedule(Halves)
    for name in ("B",):
        loop = sch.get_loops(sch.get_block(name))[1]
        sch.split(loop, [None, 3])
    i = sch.get_loops(sch.get_block("B"))[0]
    sch.split(i, [None, 3])
    sch.cache_read(sch.get_block("D"), 0, "shared")
    sch.cache_read(sch.get_block("C"), "B_shared", "local")
    same_result(sch, Halves, *HALVES)


def test_blockized_scope_caches_inside_the_block(same_result):
    sch = Schedule(Matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, [None, 4])
    j0, j1 = sch.split(j, [None, 4])
    k0, k1 = sch.split(k, [None, 6])
    sch.reorder(i0, j0, k0, i1, j1, k1)
    sch.blockize(i1)
    inner = sch.get_block("C")
    sch.cache_read(inner, "A", "local")
    text = sch.mod.script()
    assert "A_local = T.alloc_buffer((4, 6)" in text  # in the scope itself, so just the tile
    assert "A_local[v0, v1] = A[vi_o * 4 + v0, vk_o * 6 + v1]" in text
    assert "A_local[vi_i, vk_i]" in text
    same_result(sch, Matmul, *MATMUL)


def test_cache_read_of_blockized_block_reaches_nested_blocks_and_init(same_result):
    sch = Schedule(Matmul)
    i, j, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 4])
    sch.reorder(i0, j, k, i1)
    outer = sch.blockize(i1)
    sch.cache_read(outer, 0, "shared")
    write = sch.cache_write(outer, 0, "local")
    sch.reverse_compute_at(write, j)
    assert sch.mod.script().count("C[") == 2
    same_result(sch, Matmul, *MATMUL)


def test_gather_reads_the_copy(same_result):
    @I.ir_module
    class Gather:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[T.max(T.min(P[vi], 7), 0)]

    sch = Schedule(Gather)
    sch.cache_read(sch.get_block("C"), "B", "shared")
    assert "B_shared[T.max(" in sch.mod.script()
    same_result(sch, Gather, ((8,), "float32"), ((8,), "int32"), ((8,), "float32"))


def test_declared_regions_follow(same_result):
    @I.ir_module
    class Declared:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    T.reads(A[0:8])
                    T.writes(C[vi])
                    C[vi] = A[vi]

    sch = Schedule(Declared)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    assert "T.reads(A_shared[0:8])" in sch.mod.script()
    same_result(sch, Declared, ((8,), "float32"), ((8,), "float32"))


def test_strided_input_through_match_buffer():
    @I.ir_module
    class Strided:
        @T.prim_func
        def main(a: T.handle, C: T.Buffer((8, 8), "float32")):
            s = T.int32()
            A = T.match_buffer(a, (8, 8), "float32", strides=[s, 1], offset_factor=1)
            for i in range(2):
                with T.block("outer"):
                    vi = T.axis.spatial(2, i)
                    W = T.match_buffer(A[vi * 4 : vi * 4 + 4, 0:8], (4, 8), strides=["t", 1], offset_factor=1)
                    for j, k in T.grid(4, 8):
                        with T.block("C"):
                            vj, vk = T.axis.remap("SS", [j, k])
                            C[vi * 4 + vj, vk] = W[vj, vk]

    sch = Schedule(Strided)
    sch.cache_read(sch.get_block("outer"), 0, "shared")
    assert "T.match_buffer(A_shared[" in sch.mod.script()


def test_scalar_buffer(same_result):
    @I.ir_module
    class Scalar:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            s = T.alloc_buffer((), "float32")
            with T.block("s"):
                s[()] = A[0] * 2.0
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = A[vi] + s[()]

    sch = Schedule(Scalar)
    sch.cache_read(sch.get_block("C"), "s", "local")
    same_result(sch, Scalar, ((8,), "float32"), ((8,), "float32"))


def test_handle_of_the_reader_stays():
    sch = Schedule(Matmul)
    block = sch.get_block("C")
    sch.cache_read(block, 0, "shared")
    assert sch.get(block).name == "C"


# --- cache_write ----------------------------------------------------------------------------------------------------


def test_write_back_at_the_end(same_result):
    sch = Schedule(Chain)
    made = sch.cache_write(sch.get_block("D"), 0, "shared")
    assert order(sch) == ["B", "D", "C", "D_shared"]
    assert sch.get(made).reads == ["D_shared"] and sch.get(made).writes == ["D"]
    same_result(sch, Chain, *CHAIN)


def test_write_back_before_the_first_reader(same_result):
    sch = Schedule(Chain)
    sch.cache_write(sch.get_block("B"), 0, "shared")
    assert order(sch) == ["B", "D", "B_shared", "C"]
    assert "B_shared[vi, vj] = A[vi, vj]" in sch.mod.script()
    same_result(sch, Chain, *CHAIN)


def test_reduction_with_its_init_moves_to_the_cache(same_result):
    sch = Schedule(Matmul)
    sch.cache_write(sch.get_block("C"), "C", "global.acc")
    text = sch.mod.script()
    assert "C_global_acc[vi, vj] = T.float32(0.0)" in text
    assert text.count("C[") == 2
    same_result(sch, Matmul, *MATMUL)


def test_listed_consumers_read_the_cache(same_result):
    sch = Schedule(Halves)
    sch.cache_write(sch.get_block("B"), 0, "local", consumer_blocks=[sch.get_block("C")])
    text = sch.mod.script()
    assert "B_local[vi, 7 - vj]" in text and "D[vi, vj] = B[vi, vj]" in text
    same_result(sch, Halves, *HALVES)


def test_write_back_inside_a_shared_loop(same_result):
    sch = Schedule(Halves)
    sch.cache_write(sch.get_block("B"), 0, "local")
    assert order(sch) == ["B", "B_local", "C", "D"]
    same_result(sch, Halves, *HALVES)


def test_partial_writes_are_copied_back_only_where_written(same_result):
    @I.ir_module
    class Inner:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), Y: T.Buffer((20,), "float32")):
            for i in range(8):
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    Y[vi + 6] = A[vi]

    sch = Schedule(Inner)
    sch.cache_write(sch.get_block("Y"), 0, "local")
    text = sch.mod.script()
    assert "Y_local = T.alloc_buffer((8,)" in text and "Y_local[vi] = A[vi]" in text
    assert "Y[v0 + 6] = Y_local[v0]" in text
    same_result(sch, Inner, ((8,), "float32"), ((20,), "float32"))


# --- set_scope ------------------------------------------------------------------------------------------------------


def test_set_scope_renames_everywhere(same_result):
    sch = Schedule(Chain)
    sch.set_scope(sch.get_block("B"), 0, "shared")
    text = sch.mod.script()
    assert 'B_shared = T.alloc_buffer((8, 12), scope="shared")' in text
    assert "C[vi, vj] = B_shared[vi, vj] + A[7 - vi, vj]" in text
    same_result(sch, Chain, *CHAIN)


def test_set_scope_to_the_same_scope_does_nothing():
    sch = Schedule(Chain)
    before = sch.mod.script()
    sch.set_scope(sch.get_block("B"), 0, "global")
    assert sch.mod.script() == before


def test_set_scope_retypes_views():
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
    sch.set_scope(sch.get_block("B"), "B", "shared")
    assert "T.match_buffer(B_shared[" in sch.mod.script()
    assert 'scope="shared"' in sch.mod.script().split("T.match_buffer(")[1].split("\n")[0]


# --- refusals -------------------------------------------------------------------------------------------------------


def test_refuses_unknown_scope(refused):
    sch = Schedule(Matmul)
    for step in (sch.cache_read, sch.cache_write):
        refused(sch, "'registers' is not a storage scope", lambda step=step: step("C", 0, "registers"))
    refused(sch, "is not a storage scope", lambda: sch.cache_read("C", 0, "shared.A"))
    refused(sch, "is not a storage scope", lambda: Schedule.set_scope(sch, "C", 0, "globalx"))


@pytest.mark.parametrize("which, text", [(2, "no number 2"), (-1, "no number -1"), ("C", "no buffers named 'C'")])
def test_refuses_buffers_that_are_not_read(refused, which, text):
    sch = Schedule(Matmul)
    refused(sch, text, lambda: sch.cache_read("C", which, "shared"))


def test_refuses_several_writers(refused):
    sch = Schedule(Matmul)
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[0])
    refused(sch, "written by several blocks", lambda: sch.cache_write(block, 0, "shared"))
    refused(sch, "written by several blocks", lambda: sch.cache_read(block, "C", "shared"))


def test_refuses_cache_read_of_own_writes(refused):
    @I.ir_module
    class InPlace:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            for i in range(8):
                with T.block("A"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = A[vi] + 1.0

    sch = Schedule(InPlace)
    refused(sch, "must see its own writes", lambda: sch.cache_read("A", 0, "shared"))
    refused(sch, "held before it wrote there", lambda: sch.cache_write("A", 0, "shared"))


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
    @I.ir_module
    class Overwritten:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = A[vi]
            for i in range(8):
                with T.block("A"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = 0.0
            for i in range(8):
                with T.block("D"):
                    vi = T.axis.spatial(8, i)
                    D[vi] = A[vi]

    sch = Schedule(Overwritten)
    refused(sch, 'reads A before block "A" writes it', lambda: sch.cache_read("C", 0, "shared"))
    sch.cache_read("D", 0, "shared", consumer_blocks=[sch.get_block("D")])
    assert order(sch) == ["C", "A", "A_shared", "D"]


def test_refuses_a_reader_ahead_in_the_same_loop(refused):
    @I.ir_module
    class Ahead:
        @T.prim_func
        def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32"), C: T.Buffer((9,), "float32")):
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi]
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi + 1] = A[vi]

    sch = Schedule(Ahead)
    refused(sch, "would miss what the last iteration wrote", lambda: sch.cache_write("B", 0, "shared"))


def test_refuses_holes(refused):
    @I.ir_module
    class Holes:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32"), Y: T.Buffer((16,), "float32")):
            for i in range(8):
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    Y[vi * 2] = A[vi]

    sch = Schedule(Holes)
    refused(
        sch,
        r"does not fill a box: the copy "
        r"would also take Y_shared\[1\]",
        lambda: sch.cache_write("Y", 0, "shared"),
    )


def test_refuses_scattered_writes(refused):
    @I.ir_module
    class Scatter:
        @T.prim_func
        def main(P: T.Buffer((8,), "int32"), A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
            B = T.alloc_buffer((8,), "float32")
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.opaque(8, i)
                    B[P[vi]] = A[vi]
            for i in range(8):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    C[vi] = B[vi]

    sch = Schedule(Scatter)
    refused(sch, r"reads B\[0\], which block .B. has not written", lambda: sch.cache_read("C", 0, "shared"))
    refused(sch, "does not fill a box", lambda: sch.cache_write("B", "B", "shared"))
    refused(sch, "not a single store at an affine index", lambda: sch.compute_inline("B"))


def test_refuses_blocks_in_an_init(refused):
    sch = Schedule(Matmul)
    i, j, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 4])
    sch.reorder(i0, j, k, i1)
    sch.blockize(i1)
    refused(sch, "several blocks|outside any block|held before|init", lambda: sch.cache_write("C", 0, "shared"))


def test_refuses_no_reader_among_listed(refused):
    sch = Schedule(Chain)
    b = sch.get_block("D")
    refused(sch, "is no reader of B", lambda: sch.cache_read("C", "B", "shared", consumer_blocks=[b]))


def test_refuses_the_root(refused):
    sch = Schedule(Matmul)
    root = sch.get_block("root")
    refused(sch, "root block", lambda: sch.cache_read(root, 0, "shared"))


def test_set_scope_refuses_parameters(refused):
    sch = Schedule(Chain)
    refused(sch, "C is a parameter", lambda: sch.set_scope("C", 0, "shared"))
