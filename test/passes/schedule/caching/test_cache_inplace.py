"""cache_inplace: copies around a block that reads and writes a buffer."""

from __future__ import annotations

import pytest
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script.structural_equal import difference

Opaque = program(
    "A:64:int32", nest("i:1", sblock("A", "", "T.reads(A[0:64])", "T.writes(A[0:64])", nest("k:64", "A[k] = A[k] + 1")))
)
"""A block without iters that changes part of a buffer."""


def scaled(n: int, m: int):
    return program(
        f"A:{n}x{m} B:{n}x{m} D:{n}x{m}",
        nest(
            f"i:{n}",
            nest(f"j:{m}", sblock("B", "SS i j", "B[vi, vj] = D[vi, vj] * 3.0")),
            nest(f"j:{m}", sblock("A", "SS i j", "A[vi, vj] = A[vi, vj] * 2.0 + B[vi, vj]")),
        ),
        each(f"D i:{n} j:{m}", "D[vi, vj] = A[vi, vj] + 1.0"),
    )


def test_around_a_block_without_iters(same_result):
    Expected = program(
        "A:64:int32",
        "A_local = T.alloc_buffer((64,), 'int32', scope='local')",
        nest(
            "i:1",
            nest("ax0:64", sblock("A_local", "v0:64=ax0", "A_local[v0] = A[v0]")),
            sblock(
                "A",
                "",
                "T.reads(A_local[0:64])",
                "T.writes(A_local[0:64])",
                nest("k:64", "A_local[k] = A_local[k] + 1"),
            ),
            nest("ax0:64", sblock("A_local", "v0:64=ax0", "A[v0] = A_local[v0]")),
        ),
    )
    sch = Schedule(Opaque)
    first, second = sch.cache_inplace("A", 0, "local")
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert (sch.get(first).reads, sch.get(second).reads) == (["A"], ["A_local"])
    same_result(sch, Opaque, ((64,), "int32"))


def test_in_the_loops_of_the_block():
    Expected = program(
        "A:8x8 B:8x8",
        "A_local = T.alloc_buffer((8, 8), scope='local')",
        nest(
            "i:8 j:8",
            nest("ax0:1 ax1:1", sblock("A_local", "v0:8=i + ax0 v1:8=j + ax1", "A_local[v0, v1] = A[v0, v1]")),
            sblock("A", "SS i j", "A_local[vi, vj] = A_local[vi, vj] + B[vi, vj]"),
            nest("ax0:1 ax1:1", sblock("A_local", "v0:8=i + ax0 v1:8=j + ax1", "A[v0, v1] = A_local[v0, v1]")),
        ),
    )
    Add = program("A:8x8 B:8x8", each("A:8x8", "A[vi, vj] = A[vi, vj] + B[vi, vj]"))
    sch = Schedule(Add)
    sch.cache_inplace("A", "A", "local")
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (17, 3), (2, 127)])
def test_ragged_tiles(n, m, same_result):
    sch = Schedule(scaled(n, m))
    sch.split(sch.get_loops("A")[1], [None, 5])
    sch.cache_inplace("A", 0, "local")
    same_result(sch, scaled(n, m), *[((n, m), "float32")] * 3)


def test_an_update_and_its_tile(same_result):
    sch = Schedule(matmul(16, 16, 16))
    i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, [None, 4])
    sch.reorder(i, j_0, k, j_1)
    sch.decompose_reduction("C", k)
    outer = sch.blockize(j_1)
    sch.cache_inplace(outer, "C", "shared")
    assert "T.grid(1, 4)" in sch.mod.script()
    same_result(sch, matmul(16, 16, 16), *[((16, 16), "float32")] * 3)


def test_part_of_a_buffer(same_result):
    Part = program("A:16x20", each("A:16x8", "A[vi, vj + 4] = A[vi, vj + 4] * 2.0"))
    sch = Schedule(Part)
    sch.cache_inplace("A", 0, "local")
    same_result(sch, Part, ((16, 20), "float32"))


def test_symbolic(same_result):
    Symbolic = program("A:nx8 B:nx8", each("A i:n j:8", "A[vi, vj] = A[vi, vj] + B[vi, vj]"))
    sch = Schedule(Symbolic)
    sch.split(sch.get_loops("A")[0], [None, 4])
    sch.cache_inplace("A", 0, "local")
    for n in (1, 16, 17):
        same_result(sch, Symbolic, ((n, 8), "float32"), ((n, 8), "float32"))


def test_refusals(refused):
    sch = Schedule(scaled(4, 4))
    refused(sch, '"B" reads D but does not write it', lambda: sch.cache_inplace("B", 0, "local"))
    refused(sch, "'fast' is not a storage scope", lambda: sch.cache_inplace("A", 0, "fast"))
    refused(sch, "has no buffer number 2", lambda: sch.cache_inplace("A", 2, "local"))
    sch = Schedule(matmul(4, 4, 4))
    refused(sch, "reads no buffers named 'C'", lambda: sch.cache_inplace("C", "C", "local"))


DIAGONALS = main("A:4x3 B:6x3", each("B:4x3", "B[vi + vj, vj] = B[vi + vj, vj] + A[vi, vj]"))


def test_a_box_that_is_not_filled_is_refused():
    """An iter of the copies would run over a whole side of it."""
    sch = Schedule(parse(DIAGONALS))
    with pytest.raises(ScheduleError, match=r"only some elements of the box of B .* not v0 = 0, v1 = 1"):
        sch.cache_inplace("B", 0, "shared")
    sch = Schedule(parse(DIAGONALS.replace("vi + vj", "vi * 2").replace("(6,", "(7,")))
    sch.cache_inplace("B", 0, "shared")
    assert difference(parse(sch.mod.script()).mlir, sch.mod.mlir) is None
    assert sch.verify()


def test_refuses_to_copy_what_nobody_has_written(refused):
    main = program(
        "A:3 B:4; X:4",
        each("start:1", "X[vi] = T.float32(0)"),
        each("X i:3O", "X[vi + 1] = X[vi] + A[vi]"),
        each("B:4", "B[vi] = X[vi]"),
    )
    sch = Schedule(main)
    text = r"the copy would also take X\[1\], which no block has written"
    refused(sch, text, lambda: sch.cache_inplace("X", 0, "local"))


def test_around_a_block_and_its_condition_on_data(same_result):
    program = parse(
        main(
            "A:4x8 C:4",
            nest(
                "i:4",
                sblock("C0", "vi:4=i", "C[vi] = 0.0"),
                nest("j:8", sblock("C", "SR i j", "C[vi] = C[vi] + A[vi, vj]", where="A[i, j] > T.float32(0.5)")),
            ),
        )
    )
    sch = Schedule(program)
    sch.cache_inplace("C", "C", "local")
    text = sch.mod.script()
    assert text.index("C_local[v0] = C[v0]") < text.index("T.where(A[i, j]") < text.index("C[v0] = C_local[v0]")
    same_result(sch, program, ((4, 8), "float32"), ((4,), "float32"))
    assert sch.verify()
