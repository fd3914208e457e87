"""transform_block_layout, reorder_block_iter_var: other iters, the same result."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build, reads_back
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import each, program, sblock
from programs.sizes import matmul_sizes

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleWarning
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference

MAPS = {
    "order": lambda i, j, k: (k, j, i),
    "any number": lambda *iters: iters[::-1],
    "fused": lambda i, j, k: (i * 16 + j, k),
    "tiles": lambda i, j, k: (j // 4, i, k // 5, j % 4, k % 5),
    "backwards": lambda i, j, k: (i, 15 - j, 14 - k),
    "a unit": lambda i, j, k: (i, 0, j, k),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_results_are_the_same(same_result, name, n):
    sch = Schedule(matmul(n, 16, 15))
    sch.transform_block_layout("C", MAPS[name])
    same_result(sch, matmul(n, 16, 15), *matmul_sizes(n, 16, 15))


def test_the_nest_is_new():
    after = program(
        "A:6x15 B:15x16 C:6x16",
        each(
            "C a:96 b:3R c:5R",
            "C[va // 16, va % 16] += A[va // 16, vb * 5 + vc] * B[vb * 5 + vc, va % 16]",
            init="C[va // 16, va % 16] = 0.0",
        ),
    )
    sch = Schedule(matmul(6, 16, 15))
    block = sch.get_block("C")
    sch.transform_block_layout(block, lambda i, j, k: (i * 16 + j, k // 5, k % 5))
    assert difference(sch.mod.mlir, Schedule(after).mod.mlir, names=False) is None
    assert [sch.get(loop).extent for loop in sch.get_loops(block)] == [96, 3, 5]


def test_a_digit_is_a_remainder_divided():
    windows = program(
        "A:20x9x3 C:14", each("C i:14 j:7R k:3R m:3R", "C[vi] += A[vi + vj, vk * 2, vm]", init="C[vi] = 0.0")
    )
    sch = Schedule(windows)
    sch.transform_block_layout("C", lambda i, j, k, m: (i, j * 9 + k * 3 + m))
    assert "A[v0 + v1 // 9, v1 % 9 // 3 * 2, v1 % 3]" in sch.mod.script()


def test_any_number_of_digits():
    box = program("A:8x3x3x3 C:1", each("C i:8R j:3R k:3R m:3R", "C[0] += A[vi, vj, vk, vm]", init="C[0] = 0.0"))
    sch = Schedule(box)
    sch.transform_block_layout("C", lambda i, j, k, m: ((i * 3 + j) * 9 + k * 3 + m,))
    assert "A[v0 // 27, v0 % 27 // 9, v0 // 3 % 3, v0 % 3]" in sch.mod.script()


rows = program("A:nx8 C:nx8", each("C i:n j:8", "C[vi, vj] = A[vi, vj] * 2.0"))


def test_sizes_that_are_not_known(same_result, refused):
    sch = Schedule(rows)
    refused(
        sch, "it holds only where n % 4 == 0", lambda: sch.transform_block_layout("C", lambda i, j: (i // 4, i % 4, j))
    )
    sch.transform_block_layout("C", lambda i, j: i * 8 + j)
    assert "for ax0 in range(n * 8):" in sch.mod.script()
    for n in (1, 15, 16, 17, 127):
        same_result(sch, Schedule(rows).mod, ((n, 8), "float32"), ((n, 8), "float32"))


@pytest.mark.parametrize(
    ("index_map", "message"),
    [
        (lambda i, j, k: (i + j, k), r"\(0, 1, 0\) and \(1, 0, 0\) both map to \(1, 0\)"),
        (lambda i, j, k: (i, j * 15 + k), "mixes kinds: vj is spatial, vk is reduce"),
        (lambda i, j, k: (i // 4, i % 4, j, k), "leaves points without an iteration, where axis0 == 1 and axis1 >= 2"),
        (lambda i, j, k: (i, j, k - 1), "an index must not be negative"),
        (lambda i, j, k: (), "gives no index|both map to"),
    ],
)
def test_maps_that_do_not_fit(refused, index_map, message):
    sch = Schedule(matmul(6, 16, 15))
    refused(sch, message, lambda: sch.transform_block_layout("C", index_map))


@pytest.mark.parametrize("block", [np.array([2, None]), np.zeros(3), [np.zeros(2)], None])
def test_handles_that_are_not_blocks(refused, block):
    sch = Schedule(matmul(6, 16, 15))
    refused(sch, "wrong type", lambda: sch.transform_block_layout(block, lambda *iters: iters), TypeError)


def test_an_order_that_counts(refused):
    main = program("A:8x15 C:8", each("C i:8 k:15R", "C[vi] = C[vi] * 0.5 + A[vi, vk]", init="C[vi] = 0.0"))
    sch = Schedule(main)
    message = r"a dependence would run backwards: C\(i=0, k=0\) and C\(i=0, k=1\) touch C\[0\]"
    refused(sch, message, lambda: sch.transform_block_layout("C", lambda i, k: (i, 14 - k)))
    sch.transform_block_layout("C", lambda i, k: (i, k // 5, k % 5))  # the old order


def test_iters_in_another_order(same_result, refused):
    sch = Schedule(matmul(15, 16, 17))
    block = sch.get_block("C")
    sch.reorder_block_iter_var(block, [2, 0, 1])
    assert sch.get(block).iters == [("vk", "R"), ("vi", "S"), ("vj", "S")]
    assert [sch.get(loop).name for loop in sch.get_loops(block)] == ["i", "j", "k"]
    same_result(sch, matmul(15, 16, 17), *matmul_sizes(15, 16, 17))
    before = sch.mod.script()
    sch.reorder_block_iter_var(block, [0, 1, 2])
    assert sch.mod.script() == before
    for order in ([0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], []):
        refused(sch, "is not a permutation of the iters", lambda order=order: sch.reorder_block_iter_var(block, order))
    refused(sch, "wrong type", lambda: sch.reorder_block_iter_var(block, 1), TypeError)


def test_declared_regions_follow_the_iters():
    main = program(
        "A:4x6",
        each(
            "outer:4x6",
            "T.reads(A[vi, 0:6])",
            "T.writes(A[vi, vj])",
            sblock("inner", "", "T.reads(A[vi, 0:6])", "T.writes(A[vi, vj])", "A[vi, vj] = 1.0"),
        ),
    )
    sch = Schedule(main)
    sch.reorder_block_iter_var("outer", [1, 0])
    assert sch.mod.script().count("T.reads(A[vi, 0:6])") == 2
    sch = Schedule(main)
    sch.transform_block_layout("outer", lambda i, j: i * 6 + j)
    assert sch.mod.script().count("T.reads(A[v0 // 6, 0:6])") == 2


def test_a_position_that_is_one_number_reads_back():
    sch = Schedule(program("A:1:int8 B:1:int8", each("B:1", "B[vi] = A[vi] + T.Cast('int8', vi * 2 + 1)")))
    sch.transform_block_layout("B", lambda i: (i % 2, i // 2))
    assert "A[0] + T.int8(1)" in reads_back(sch)


def test_annotations_of_the_old_loops_end_with_them():
    sch = Schedule(program("A:6x8 B:6x8", each("B:6x8", "B[vi, vj] = A[vi, vj]")))
    sch.annotate(sch.get_loops("B")[0], "my.note", 1)
    with pytest.warns(ScheduleWarning, match=r"replaces loop i and drops its annotations \(my.note\)"):
        sch.transform_block_layout("B", lambda i, j: (j, i))
    assert "annotations" not in sch.mod.script() and sch.verify()


@T.prim_func
def flat_rows(a: T.handle, c: T.handle, n: T.int64, m: T.int64):
    A = T.match_buffer(a, (m * n,), "float32")
    C = T.match_buffer(c, (m * n,), "float32")
    for i in range(m * n):
        with T.block("C"):
            vi = T.axis.spatial(m * n, i)
            C[vi] = A[m * n - 1 - vi] + T.Cast("float32", vi)


def check_flat(sch: Schedule) -> None:
    lib = quick_build(parse(sch.mod.script()))
    for rows, columns in [(1, 1), (3, 5), (16, 9), (0, 3), (3, 0)]:
        a = np.random.default_rng(rows).random(rows * columns, dtype=np.float32)
        c = np.zeros_like(a)
        lib(a, c, columns, rows)
        np.testing.assert_array_equal(c, a[::-1] + np.arange(a.size, dtype=np.float32))


def test_iters_are_split_and_joined_by_a_size():
    n = T.int64()
    sch = Schedule(flat_rows)
    sch.transform_block_layout("C", lambda i: (i % n, i // n))
    text = sch.mod.script()
    assert "for ax0, ax1 in T.grid(n, m):" in text and "C[v1 * n + v0] = A[" in text
    check_flat(sch)
    other = sch.copy()
    other.parallel(other.get_loops("C")[0])
    check_flat(other)
    sch.transform_block_layout("C", lambda j, i: i * n + j)
    assert "for ax0 in range(n * m):" in sch.mod.script() or "for ax0 in range(m * n):" in sch.mod.script()
    check_flat(sch)


def test_maps_by_sizes_that_are_not_digits_are_refused(refused):
    def by(map_: str):
        return lambda: sch.transform_block_layout("C", map_)

    sch = Schedule(flat_rows)
    refused(sch, "it uses i in several ways", by("lambda i: (i // n, i % n, i)"))
    refused(sch, "does more than split and join digits", by("lambda i: i * n"))
    refused(sch, "the divisor must divide the extent", by("lambda i: (i // (n + 1), i % (n + 1))"))
    refused(sch, "does more than split and join digits", by("lambda i: (i // n, i % m)"))
