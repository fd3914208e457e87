"""read_at and write_at: one block copies the region that a loop iteration accesses."""

from __future__ import annotations

import pytest
from harness import scripts
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script.structural_equal import difference


def tiled(n: int, m: int, p: int):
    sch = Schedule(matmul(n, m, p))
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    j_0, j_1 = sch.split(j, [None, 4])
    k_0, k_1 = sch.split(k, [None, 6])
    sch.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    return sch, sch.get_block("C"), j_0, k_0


Rows = program(
    "A:8x12 C:8x12 D:8x12; B:8x12",
    nest(
        "i:8",
        nest("j:12", sblock("B", "SS i j", "B[vi, vj] = A[vi, vj] * 2.0")),
        nest("j:12", sblock("C", "SS i j", "C[vi, vj] = B[vi, vj] + A[7 - vi, vj]")),
    ),
    each("D:8x12", "D[vi, vj] = C[vi, vj] + 1.0"),
)
ROWS = [((8, 12), "float32")] * 3


def test_tiles_in_and_out(same_result):
    Expected = program(
        "A:20x18 B:18x24 C:20x24",
        "A_shared = T.alloc_buffer((20, 18), scope='shared')",
        "C_local = T.alloc_buffer((20, 24), scope='local')",
        nest(
            "i_0:5 j_0:6",
            nest(
                "k_0:3",
                sblock(
                    "A_shared",
                    "v0:5=i_0 v1:3=k_0",
                    "T.reads(A[v0 * 4:v0 * 4 + 4, v1 * 6:v1 * 6 + 6])",
                    "T.writes(A_shared[v0 * 4:v0 * 4 + 4, v1 * 6:v1 * 6 + 6])",
                    "T.block_attr({'auto_copy': True})",
                    nest("ax0:4 ax1:6", "A_shared[v0 * 4 + ax0, v1 * 6 + ax1] = A[v0 * 4 + ax0, v1 * 6 + ax1]"),
                ),
                nest(
                    "i_1:4 j_1:4 k_1:6",
                    sblock(
                        "C",
                        "vi:20=i_0 * 4 + i_1 vj:24=j_0 * 4 + j_1 vk:18R=k_0 * 6 + k_1",
                        "C_local[vi, vj] += A_shared[vi, vk] * B[vk, vj]",
                        init="C_local[vi, vj] = 0.0",
                    ),
                ),
            ),
            sblock(
                "C_local",
                "v0:5=i_0 v1:6=j_0",
                "T.reads(C_local[v0 * 4:v0 * 4 + 4, v1 * 4:v1 * 4 + 4])",
                "T.writes(C[v0 * 4:v0 * 4 + 4, v1 * 4:v1 * 4 + 4])",
                "T.block_attr({'auto_copy': True})",
                nest("ax0:4 ax1:4", "C[v0 * 4 + ax0, v1 * 4 + ax1] = C_local[v0 * 4 + ax0, v1 * 4 + ax1]"),
            ),
        ),
    )
    sch, block, j_0, k_0 = tiled(20, 24, 18)
    made = sch.read_at(k_0, block, 0, "shared")
    sch.write_at(j_0, block, 0, "local")
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert sch.get(made).annotations == {"auto_copy": True}
    same_result(sch, matmul(20, 24, 18), ((20, 18), "float32"), ((18, 24), "float32"), ((20, 24), "float32"))


@pytest.mark.parametrize("sizes", [(1, 1, 1), (15, 16, 17), (9, 2, 127)])
def test_ragged_tiles(sizes, same_result):
    n, m, p = sizes
    sch, block, j_0, k_0 = tiled(n, m, p)
    sch.read_at(k_0, block, 0, "shared")
    sch.read_at(j_0, block, "B", "shared")
    sch.write_at(j_0, block, "C", "local")
    same_result(sch, matmul(n, m, p), ((n, p), "float32"), ((p, m), "float32"), ((n, m), "float32"))


def test_all_readers_of_the_loop_share_the_copy(same_result):
    sch = Schedule(Rows)
    sch.read_at(sch.get_loops("C")[0], "C", "A", "shared")
    text = sch.mod.script()
    assert "A_shared[vi, vj] * T.float32(2.0)" in text and "A_shared[7 - vi, vj]" in text
    same_result(sch, Rows, *ROWS)


def test_behind_the_writer_in_the_same_loop(same_result):
    sch = Schedule(Rows)
    sch.read_at(sch.get_loops("C")[0], "C", "B", "local")
    text = sch.mod.script()
    assert text.index('T.block("B")') < text.index('T.block("B_local")') < text.index('T.block("C")')
    same_result(sch, Rows, *ROWS)


def test_a_write_at_the_innermost_loop(same_result):
    sch = Schedule(Rows)
    sch.write_at(sch.get_loops("C")[1], "C", 0, "local")
    same_result(sch, Rows, *ROWS)


def test_symbolic(same_result):
    Symbolic = program("A:nx8 B:nx8", each("B i:n j:8", "B[vi, vj] = A[vi, 7 - vj] + 1.0"))
    sch = Schedule(Symbolic)
    i_0, _ = sch.split(sch.get_loops("B")[0], [None, 4])
    sch.read_at(i_0, "B", 0, "shared")
    sch.write_at(i_0, "B", 0, "local")
    for n in (1, 16, 17):
        same_result(sch, Symbolic, ((n, 8), "float32"), ((n, 8), "float32"))


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_value_from_elsewhere(refused):
    sch, block, j_0, k_0 = tiled(8, 8, 12)
    init = sch.decompose_reduction(block, k_0)
    assert sch.get(init).name == "C_init"
    refused(sch, "C is written here and read under loop k_0", lambda: sch.write_at(k_0, block, 0, "local"))
    sch.write_at(j_0, block, 0, "local")


def once(guard: str, before: str = ""):
    """A guard lets the block run in some iterations of i only."""
    return program(
        "A:5 B:5", f"{before}", nest("i:3 j:5", sblock("B", "vj:5=j", "B[vj] = A[vj] * 2.0", where=f"{guard}"))
    )


@pytest.mark.parametrize("guard", ["i < 1", "i * 5 + j < 7"])
def test_elements_of_earlier_iterations_are_copied_again(guard, same_result):
    program = once(guard)
    sch = Schedule(program)
    sch.write_at(sch.get_loops("B")[0], "B", 0, "local")
    same_result(sch, program, *[((5,), "float32")] * 2)
    assert sch.verify()


def test_elements_of_later_iterations_are_refused(refused):
    sch = Schedule(once("i == 1"))
    message = r"are not a box: B_local\[0\] is left out"
    refused(sch, message, lambda: sch.write_at(sch.get_loops("B")[0], "B", 0, "local"))


def test_elements_that_others_write_are_not_copied_again(refused):
    before = """for k in range(5):
        with T.block("Z"):
            vk = T.axis.spatial(5, k)
            B[vk] = 0.0"""
    sch = Schedule(once("i < 1", before))
    message = r"are not a box: B_local\[0\] is left out"
    refused(sch, message, lambda: sch.write_at(sch.get_loops("B")[0], "B", 0, "local"))


def test_places(refused):
    sch = Schedule(Rows)
    d = sch.get_loops("D")[0]
    refused(sch, 'loop i is not around block "C"', lambda: sch.read_at(d, "C", 0, "local"))
    refused(sch, "'fast' is not a storage scope", lambda: sch.read_at(d, "D", 0, "fast"))
    refused(sch, "has no buffer number 1", lambda: sch.write_at(d, "D", 1, "local"))


TILES = main(
    "A:8x4 C:8x4",
    nest("i:2", sblock("O", "vo:2=i", each("C j:4 k:4", "C[vo * 4 + vj, vk] = A[vo * 4 + vj, vk] * 2.0"))),
)


@pytest.mark.parametrize("step", ["read_at", "write_at"])
@pytest.mark.parametrize(("loop", "block"), [("O", "C"), ("C", "O")], ids=["outer loop", "inner loop"])
def test_a_loop_in_another_scope_than_the_block(step, loop, block, same_result):
    program = parse(TILES)
    sch = Schedule(program)
    getattr(sch, step)(sch.get_loops(loop)[0], block, 0, "local")
    same_result(sch, program, ((8, 4), "float32"), ((8, 4), "float32"))
    assert sch.verify()


SUMS = main(
    "A:6x9 C:6; S:6",
    nest(
        "i:6 k:9",
        sblock("S", "SR i k", "S[vi] += A[vi, vk]", init="S[vi] = 0.0"),
        sblock("C", "vi:6=i", "C[vi] = S[vi] + 1.0"),
    ),
)


def test_a_reader_after_an_accumulator(same_result):
    program = parse(SUMS)
    sch = Schedule(program)
    sch.read_at(sch.get_loops("S")[1], "C", 0, "local")
    text = sch.mod.script()
    assert "S[vi] = S[vi] + A[vi, vk]" in text and "C[vi] = S_local[vi]" in text
    same_result(sch, program, ((6, 9), "float32"), ((6,), "float32"))
    assert sch.verify()


def test_the_block_that_writes_is_refused(refused):
    sch = Schedule(
        program(
            "A:6 C:6", nest("i:6", sblock("U", "vi:6=i", "A[vi] = A[vi] + 1.0"), sblock("C", "vi:6=i", "C[vi] = A[vi]"))
        )
    )
    message = "A is written here after it was read in loop i; the copy would be stale"
    refused(sch, message, lambda: sch.read_at(sch.get_loops("U")[0], "U", 0, "local"))


PARTS = main(
    "A:8x9 C:8",
    each("first:2", "C[vi] = A[vi, 0]"),
    nest(
        "i:6",
        sblock("start", "vi:6=i", "C[vi + 2] = 0.0"),
        nest("k:{extent}", sblock("sum", "SR i k", "C[vi + {shift}] = C[vi + {shift}] + A[vi + 2, vk]")),
    ),
)


def test_sums_started_in_the_loop_with_other_writers_elsewhere(same_result):
    program = parse(PARTS.format(extent=9, shift=2))
    sch = Schedule(program)
    sch.write_at(sch.get_loops("start")[0], "start", 0, "local")
    same_result(sch, program, ((8, 9), "float32"), ((8,), "float32"))
    assert sch.verify()


def test_sums_started_elsewhere_are_refused(refused):
    sch = Schedule(parse(PARTS.format(extent=9, shift=1)))
    message = "C is written here and read under loop i, where the copy lacks that value"
    refused(sch, message, lambda: sch.write_at(sch.get_loops("start")[0], "start", 0, "local"))


GATHERED = """
for i in range(8):
    for j in range(4):
        with T.block("w"):
            vi, vj = T.axis.spatial(8, i), T.axis.spatial(4, j)
            C[vi, vj] = A[vi, vj]
    for j in range(8):
        with T.block("u"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.opaque(8, j)
            C[vi, vj] = C[vi, I[vj]] + T.float32(1)
"""


def test_an_undecided_read_in_write_at_names_a_way_that_works():
    params = "A: T.Buffer((8, 8)), I: T.Buffer((8,), 'int32'), C: T.Buffer((8, 8))"
    sch = Schedule(scripts.function(GATHERED, params))
    with pytest.raises(ScheduleError, match="an index of C_local is computed from data") as caught:
        sch.write_at(sch.get_loops("w")[0], "w", 0, "local")
    assert not caught.value.provable and caught.value.fix.startswith("cache_inplace")
    sch.cache_inplace("u", "C", "local")
    assert sch.verify()
