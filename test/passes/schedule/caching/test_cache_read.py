"""cache_read: placement of the copy, and its consumers."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import block_order
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock, under
from programs.sizes import matmul_sizes
from programs.stages import FORK, HALVES, Fork, Halves
from programs.symbolic import Twice

from tir_mlir import Schedule, interpret
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

# --- cache_read -----------------------------------------------------------------------------------------------------


def test_input_copies_go_to_the_front_latest_first(same_result):
    sch = Schedule(matmul(20, 24, 18))
    block = sch.get_block("C")
    sch.cache_read(block, 0, "global.A_reg")
    made = sch.cache_read(block, 1, "shared")
    assert block_order(sch) == ["B_shared", "A_global.A_reg", "C"]
    assert sch.get(made).name == "B_shared"
    text = sch.mod.script()
    assert 'A_global_A_reg = T.alloc_buffer((20, 18), scope="global.A_reg")' in text
    assert "C[vi, vj] + A_global_A_reg[vi, vk] * B_shared[vk, vj]" in text
    assert "T.reads(A_global_A_reg[vi, vk], B_shared[vk, vj])" in text
    same_result(sch, matmul(20, 24, 18), *matmul_sizes(20, 24, 18))


def test_loops_and_iters_of_the_copy():
    sch = Schedule(matmul(20, 24, 18))
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
    sch = Schedule(Fork)
    sch.cache_read(sch.get_block("D"), 0, "shared")
    assert block_order(sch) == ["A_shared", "B", "D", "C"]
    assert "B[vi, vj] + A_shared[7 - vi, vj]" in sch.mod.script()
    assert sch.mod.script().count("A[") == 2  # the copy's own read, declared and done
    same_result(sch, Fork, *FORK)


def test_only_listed_consumers(same_result):
    sch = Schedule(Fork)
    block = sch.get_block("D")
    sch.cache_read(block, 0, "shared", consumer_blocks=[block])
    text = sch.mod.script()
    assert "A_shared[vi, vj] + " in text and "A[7 - vi, vj]" in text
    same_result(sch, Fork, *FORK)


def test_computed_buffer_is_copied_before_its_first_reader(same_result):
    sch = Schedule(Fork)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    assert block_order(sch) == ["B", "D", "B_shared", "C"]
    same_result(sch, Fork, *FORK)


def test_names_compose():
    sch = Schedule(matmul(20, 24, 18))
    sch.cache_read(sch.get_block("C"), 0, "shared")
    sch.cache_read(sch.get_block("C"), 0, "local")
    assert block_order(sch) == ["A_shared", "A_shared_local", "C"] or block_order(sch) == [
        "A_shared_local",
        "A_shared",
        "C",
    ]
    assert "C[vi, vj] + A_shared_local[vi, vk]" in sch.mod.script()


def test_same_scope_twice_gives_two_buffers(same_result):
    sch = Schedule(Fork)
    d, c = sch.get_block("D"), sch.get_block("C")
    sch.cache_read(d, 0, "shared", consumer_blocks=[d])
    sch.cache_read(c, "A", "shared", consumer_blocks=[c])
    assert block_order(sch).count("A_shared") == 2
    assert "A_shared_1" in sch.mod.script()
    same_result(sch, Fork, *FORK)


def test_symbolic_shape(same_result):
    sch = Schedule(Twice)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    sch.cache_read(sch.get_block("B"), 0, "local")
    sch.cache_write(sch.get_block("C"), 0, "global.acc")
    text = sch.mod.script()
    assert 'B_shared = T.alloc_buffer((n, 8), scope="shared")' in text
    assert "v0, v1 = T.axis.remap" in text
    same_result(sch, Twice, ((5, 8), "float32"), ((5, 8), "float32"))
    same_result(sch, Twice, ((1, 8), "float32"), ((1, 8), "float32"))


def test_copy_inside_a_shared_loop_and_a_reader_outside(same_result):
    sch = Schedule(Halves)
    sch.cache_read(sch.get_block("C"), 0, "shared")
    assert block_order(sch) == ["B", "B_shared", "C", "D"]
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
    sch = Schedule(matmul(20, 24, 18))
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
    same_result(sch, matmul(20, 24, 18), *matmul_sizes(20, 24, 18))


def test_cache_read_of_blockized_block_reaches_nested_blocks_and_init(same_result):
    sch = Schedule(matmul(20, 24, 18))
    i, j, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 4])
    sch.reorder(i0, j, k, i1)
    outer = sch.blockize(i1)
    sch.cache_read(outer, 0, "shared")
    write = sch.cache_write(outer, 0, "local")
    sch.reverse_compute_at(write, j)
    assert sch.mod.script().count("C[") == 2
    same_result(sch, matmul(20, 24, 18), *matmul_sizes(20, 24, 18))


def test_gather_reads_the_copy(same_result):
    Gather = program(
        "A:8 P:8:int32 C:8; B:8", each("B", "B[vi] = A[vi] + 1.0"), each("C", "C[vi] = B[T.max(T.min(P[vi], 7), 0)]")
    )
    sch = Schedule(Gather)
    sch.cache_read(sch.get_block("C"), "B", "shared")
    assert "B_shared[T.max(" in sch.mod.script()
    same_result(sch, Gather, ((8,), "float32"), ((8,), "int32"), ((8,), "float32"))


def test_declared_regions_follow(same_result):
    Declared = program("A:8 C:8", each("C", "T.reads(A[0:8])", "T.writes(C[vi])", "C[vi] = A[vi]"))
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
    Scalar = program(
        "A:8 C:8",
        "s = T.alloc_buffer((), 'float32')",
        sblock("s", "", "s[()] = A[0] * 2.0"),
        each("C", "C[vi] = A[vi] + s[()]"),
    )
    sch = Schedule(Scalar)
    sch.cache_read(sch.get_block("C"), "s", "local")
    same_result(sch, Scalar, ((8,), "float32"), ((8,), "float32"))


def test_handle_of_the_reader_stays():
    sch = Schedule(matmul(20, 24, 18))
    block = sch.get_block("C")
    sch.cache_read(block, 0, "shared")
    assert sch.get(block).name == "C"


GROUPED = main("A:nx9 B:n C:nx9", each("C i:n j:9", "C[vi, vj] = A[vi, vj] + B[vi]"))


def test_a_block_that_declares_its_regions_names_the_sizes_in_them():
    """Its iters do not: the order of what it reads, kept after a copy was put in front, brought the size in."""
    sch = Schedule(parse(GROUPED))
    sch.blockize(sch.get_loops("C")[0])
    sch.cache_read("C", 1, "global")
    assert "T.reads(A[0:n, 0:9], B[0:n])" in sch.mod.script()


# --- readers before a later write in place ----------------------------------------------------------------------------


def in_place(loop: str = "") -> str:
    """A reader C of B before B is written in place, in separate loops or in the common one `loop`."""
    return f"""
@T.prim_func
def main(A: T.Buffer((17,), "float32"), C: T.Buffer((17,), "float32"), D: T.Buffer((17,), "float32")):
    B = T.alloc_buffer((17,), "float32")
    for i in range(17):
        with T.block("B"):
            vi = T.axis.remap("S", [i])
            B[vi] = A[vi] * 2.0
    {loop or "for i in range(17):"}
        with T.block("C"):
            vi = T.axis.remap("S", [i])
            C[vi] = B[vi] - 1.0
    {"" if loop else "for i in range(17):"}
        with T.block("B_1"):
            vi = T.axis.remap("S", [i])
            B[vi] = B[vi] + 1.0
    for i in range(17):
        with T.block("D"):
            vi = T.axis.remap("S", [i])
            D[vi] = B[vi]
"""


IN_PLACE = [((17,), "float32")] * 3


def test_readers_before_a_later_write_in_place(same_result):
    program = parse(in_place())
    sch = Schedule(program)
    sch.cache_read("C", "B", "local", consumer_blocks=["C"])
    assert block_order(sch) == ["B", "B_local", "C", "B_1", "D"]
    same_result(sch, program, *IN_PLACE)


def test_an_input_is_copied_before_it_is_written_in_place():
    Shifted = program("A:17 C:17", each("C:17", "C[vi] = A[vi]"), each("A:17", "A[vi] = A[vi] + 1.0"))
    sch = Schedule(Shifted)
    sch.cache_read("C", "A", "local", consumer_blocks=["C"])
    sch.reindex_cache_read("C", 0, "shared", lambda i: (16 - i,))
    assert block_order(sch) == ["A_local", "A_local_shared", "C", "A"]
    assert sch.verify()


def test_readers_on_both_sides_of_a_write_in_place_are_refused(refused):
    sch = Schedule(parse(in_place()))
    text = "B is written by several blocks"
    refused(sch, text, lambda: sch.cache_read("C", "B", "local", consumer_blocks=["C", "D"]))
    refused(sch, text, lambda: sch.cache_read("C", "B", "local"))


def test_a_write_in_place_in_the_loop_of_the_reader_is_refused(refused):
    sch = Schedule(parse(in_place(loop="for i in range(17):")))
    refused(sch, "B is written by several", lambda: sch.cache_read("C", "B", "local", consumer_blocks=["C"]))


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("spatial", "B[vi] + A[vi]", lambda a, b: a + b),
        ("opaque", "T.if_then_else(vi < 15, B[vi + 1], 0.0)", lambda a, b: np.append(b[1:], np.float32(0))),
        ("spatial", "T.if_then_else(A[vi] > 0.5, B[vi], 1.0)", lambda a, b: np.where(a > 0.5, b, 1)),
    ],
)
def test_a_block_reads_a_copy_of_what_it_overwrites(kind, value, wanted):
    text = main("A:16 B:16", nest("i:16", sblock("B", "", f"vi = T.axis.{kind}(16, i)", f"B[vi] = {value}")))
    sch = Schedule(parse(text))
    sch.cache_read("B", "B", "local")
    assert "B_local" in sch.mod.script()
    a, b = np.random.default_rng(0).random((2, 16), np.float32)
    want = wanted(a, b)
    interpret(sch.mod, a, b)
    np.testing.assert_array_equal(b, want)
    assert sch.verify()


@pytest.mark.parametrize("index", ["15 - vi", "vi - 1"])
def test_a_block_that_reads_what_it_wrote_reads_no_copy(refused, index):
    sch = Schedule(program("A:16 B:16", each("B i:16O", f"B[vi] = T.if_then_else(vi > 0, B[{index}], A[vi])")))
    refused(sch, "must see its own writes", lambda: sch.cache_read("B", "B", "local"))


ROUNDS = main(
    "A:16 R:1:int32 C:16 ; B:16",
    nest("i:16", sblock("B", "vi:16=i", "B[vi] = A[vi]")),
    nest("i:16", sblock("C0", "vi:16=i", "C[vi] = 0.0")),
    under("for t in range(R[0]):", nest("i:16", sblock("C", "vi:16=i", "C[vi] = C[vi] + B[vi]"))),
)


def test_a_copy_before_a_loop_over_data_is_before_what_computes_its_bounds():
    """Nothing is between the copy and the nest before it, so that a block may be made of both."""
    sch = Schedule(parse(ROUNDS))
    copy = sch.cache_read("C", "B", "local")
    sch.blockize([sch.get_block("C0"), copy])
    assert "T.reads(B[0:16])" in sch.mod.script() and sch.verify()


# --- guards of nested blocks ------------------------------------------------------------------------------------------


NESTED = main(
    "A:61 C:61",
    nest(
        "i:16",
        sblock(
            "O",
            "vo:16=i",
            nest("j:4", sblock("C", "vi:4=j", "C[vo * 4 + vi] = A[vo * 4 + vi] * 2.0", where="vo * 4 + j < 61")),
        ),
    ),
)


def test_caches_take_the_guards_of_nested_blocks_into_account(same_result):
    """No copy reads or writes beyond element 60."""
    for step in ("cache_read", "cache_write"):
        for block in ("O", "C"):
            program = parse(NESTED)
            sch = Schedule(program)
            getattr(sch, step)(block, 0, "local")
            same_result(sch, program, ((61,), "float32"), ((61,), "float32"))
            assert sch.verify()
