"""transform_layout: the rewritten program, its results, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build, reads_back
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import IndexMap, Schedule
from tir_mlir.compat.constants import const
from tir_mlir.script.structural_equal import difference

SIZES = [1, 15, 16, 17, 127]


def same_as(sch: Schedule, expected) -> None:
    assert difference(sch.mod.mlir, Schedule(expected).mod.mlir, names=False) is None


def chain(n: int, m: int):
    """B from A, C from B and W by a sum."""

    return program(
        f"A:{n}x{m} W:{m}x{n} C:{n}x{n}; B:{n}x{m}",
        each(f"B i:{n} j:{m}", "B[vi, vj] = A[vi, vj] * 2.0"),
        each(f"C i:{n} j:{n} k:{m}R", "C[vi, vj] += B[vi, vk] * W[vk, vj]", init="C[vi, vj] = 0.0"),
    )


MAPS = {
    "tiles": lambda i, j: (i // 4, j // 16, i % 4, j % 16),
    "transposed": lambda i, j: (j, i),
    "rows": lambda i, j: (j // 8, i, j % 8),
    "one": lambda i, j: i * 128 + j,
    "skewed": lambda i, j: (i + j, j),
}


def run_chain(sch: Schedule, name: str, index_map: IndexMap, n: int, m: int, pad: int) -> None:
    rng = np.random.default_rng(n + m)
    arrays = {"A": rng.integers(-3, 4, (n, m)), "W": rng.integers(-3, 4, (m, n)), "C": np.full((n, n), 77)}
    arrays = {k: v.astype(np.float32) for k, v in arrays.items()}
    expected = 2 * arrays["A"] @ arrays["W"]
    passed = [index_map.map_ndarray(a, pad) if k == name else a for k, a in arrays.items()]
    quick_build(sch.mod)(*passed)
    np.testing.assert_array_equal(passed[2], index_map.map_ndarray(expected, pad) if name == "C" else expected)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", ["A", "B", "W", "C"])
@pytest.mark.parametrize("index_map", MAPS, ids=list(MAPS))
def test_results_are_the_same(name, index_map):
    one = IndexMap.from_func(MAPS[index_map])
    for n, m in [(1, 17), (15, 16), (17, 127)]:
        sch = Schedule(chain(n, m))
        sch.transform_layout("B" if name in "AB" else "C", name, one, pad_value=3)
        run_chain(sch, name, one, n, m, 3)


@pytest.mark.parametrize("n", SIZES)
def test_after_other_steps(n):
    """A writer that is split, fused and parallel keeps its loops; a block after it writes the padding."""
    one = IndexMap.from_func(MAPS["tiles"])
    sch = Schedule(chain(n, 17))
    i, _j, _ = sch.get_loops("C")
    sch.split(i, factors=[None, 5])
    sch.parallel(sch.fuse(*sch.get_loops("B")))
    for block, name in (("B", "B"), ("C", "C")):
        sch.transform_layout(block, ("write", 0), one, pad_value=2)
        assert name in ("B", "C")
    run_chain(sch, "C", one, n, 17, 2)


def test_the_least_that_changes():
    before = program(
        "A:64x128 C:64x128; B:64x128",
        each("B:64x128", "B[vi, vj] = A[vi, vj] * 2.0"),
        each("C i:64 j0:8 j1:16", "C[vi, vj0 * 16 + vj1] = B[vi, vj0 * 16 + vj1] + 1.0"),
    )
    after = program(
        "A:64x128 C:128x64; B:4x8x16x16",
        each("B:64x128", "B[vi // 16, vj // 16, vi % 16, vj % 16] = A[vi, vj] * 2.0"),
        each("C i:64 j0:8 j1:16", "C[vj0 * 16 + vj1, vi] = B[vi // 16, vj0, vi % 16, vj1] + 1.0"),
    )
    sch = Schedule(before)
    sch.transform_layout("B", ("write", 0), lambda i, j: (i // 16, j // 16, i % 16, j % 16))
    sch.transform_layout("C", "C", lambda *indices: indices[::-1])
    same_as(sch, after)


def line(n: int):
    return program(
        f"A:{n} C:{n}; B:{n}", each(f"B i:{n}", "B[vi] = A[vi] * 2.0"), each(f"C i:{n}", "C[vi] = B[vi] + 1.0")
    )


def test_padding_in_all_three_ways():
    after = program(
        "A:4x4 C:4x4; B:4x4",
        each("buffer_A_assumptions a:4 b:4", "T.assume(not (va == 3 and vb >= 2) or A[va, vb] == T.float32(0.5))"),
        each("B a:4 b:4", "B[va, vb] = T.if_then_else(va == 3 and vb >= 2, 0.0, A[va, vb] * 2.0)"),
        nest("i:14", sblock("C", "vi:14=13 - i", "C[vi // 4, vi % 4] = B[vi // 4, vi % 4] + 1.0")),
        each("buffer_C_padding a:4 b:4", "C[va, vb] = T.Cast('float32', va + vb)", where="a == 3 and b >= 2"),
    )
    before = program(
        "A:14 C:14; B:14",
        each("B:14", "B[vi] = A[vi] * 2.0"),
        nest("i:14", sblock("C", "vi:14=13 - i", "C[vi] = B[vi] + 1.0")),
    )
    rows = IndexMap.from_func(lambda i: (i // 4, i % 4))
    sch = Schedule(before)
    sch.transform_layout("B", "B", rows, pad_value=0)
    sch.transform_layout("C", "C", rows, pad_value=lambda a, b: a + b)
    sch.transform_layout("B", "A", rows, pad_value=0.5)
    same_as(sch, after)
    a, c = np.random.default_rng(0).random(14, dtype=np.float32), np.empty((4, 4), np.float32)
    quick_build(sch.mod)(rows.map_ndarray(a, 123), c)  # a promise that is not kept changes nothing
    expected = rows.map_ndarray(2 * a + 1)
    expected[3, 2:] = [5, 6]
    np.testing.assert_array_equal(c, expected)


def test_a_computed_index_and_other_types():
    main = program("A:10:int32 P:10:int32 C:10:int32", each("C:10", "C[vi] = A[P[vi]] + 1"))
    rows = IndexMap.from_func(lambda i: (i % 3, i // 3))
    sch = Schedule(main)
    sch.transform_layout("C", "A", rows, pad_value=-1)
    a, p, c = np.arange(10, 20, dtype=np.int32), np.arange(10, dtype=np.int32)[::-1].copy(), np.zeros(10, np.int32)
    quick_build(sch.mod)(rows.map_ndarray(a, -1), p, c)
    np.testing.assert_array_equal(c, a[p] + 1)


def test_padding_may_be_left_open():
    sch = Schedule(line(14))
    sch.transform_layout("C", "C", lambda i: (i // 4, i % 4), assume_injective_transform=True)
    (fact,) = sch.history[-1].facts
    assert "no two elements of `C` to one position" in fact and fact.endswith("whose other elements are undefined")
    a, c = np.ones(14, np.float32), np.full((4, 4), 9, np.float32)
    quick_build(sch.mod)(a, c)
    assert c.reshape(-1).tolist() == [3.0] * 14 + [9.0] * 2


def test_declared_regions_follow():
    main = program(
        "A:16x16 C:16x16",
        each(
            "outer:16",
            "T.reads(A[vi, 0:16])",
            "T.writes(C[vi, 0:16])",
            each("C j:16", "T.reads(A[vi, 0:16])", "T.writes(C[vi, vj])", "C[vi, vj] = A[vi, vj] + 1.0"),
        ),
    )
    sch = Schedule(main)
    sch.transform_layout("C", "A", lambda i, j: (j // 4, i, j % 4))
    text = sch.mod.script()
    assert "T.reads(A[vj // 4, vi, vj % 4])" in text
    assert "T.reads(A[0:4, vi, 0:4])" in text


def test_trace_runs_again():
    sch = Schedule(line(14))
    sch.transform_layout("B", "B", lambda i: (i // 4, i % 4), pad_value=lambda a, b: a)
    again = Schedule(line(14))
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()
    assert "index_map=lambda i: (i // 4, i % 4), pad_value=lambda a, b: a" in sch.trace.as_python()


def test_refusals(refused):
    sch = Schedule(line(14))
    step = sch.transform_layout
    refused(
        sch,
        "leaves padding .* where axis0 == 3 and axis1 >= 2; pass",
        lambda: step("B", "B", lambda i: (i // 4, i % 4)),
    )
    refused(sch, r"\(0,\) and \(1,\) both map to \(0,\)", lambda: step("B", "B", lambda i: i // 2))
    force = {"assume_injective_transform": True}
    refused(sch, "both map to", lambda: step("B", "B", lambda i: i // 2, **force))
    refused(sch, "an index must not be negative", lambda: step("B", "B", lambda i: 12 - i))
    refused(sch, "has no buffer number 1 among those it writes", lambda: step("B", ("write", 1), lambda i: i))
    refused(sch, "neither reads nor writes a buffer 'C'", lambda: step("B", "C", lambda i: i))
    rows = IndexMap.from_func(lambda i: (i // 4, i % 4))
    refused(sch, "gives 2", lambda: step("B", "B", rows, pad_value=lambda a, b: (a, b)))
    refused(
        sch, "takes 1 indices; there are 2", lambda: step("B", "B", rows, pad_value=IndexMap.from_text("lambda a: a"))
    )
    refused(sch, "a number or a map", lambda: step("B", "B", rows, pad_value=[1]))


def test_padding_fits_the_type(refused):
    main = program("B:14:int8", each("B:14", "B[vi] = T.int8(1)"))
    sch = Schedule(main)
    rows = IndexMap.from_func(lambda i: (i // 4, i % 4))
    refused(sch, "0.5 as its padding value is a float", lambda: sch.transform_layout("B", "B", rows, 0.5))
    refused(sch, "200 .* does not fit int8", lambda: sch.transform_layout("B", "B", rows, 200))
    refused(
        sch,
        "B has type int8; 0 as its padding value has type int32",
        lambda: sch.transform_layout("B", "B", rows, const(0, "int32")),
    )
    sch.transform_layout("B", "B", rows, const(0, "int8"))


def test_an_index_that_is_one_number_at_a_gathered_element():
    program = parse(main("A:5 P:3:int32 C:3; B:5", each("B:5", "B[vi] = A[vi]"), each("C:3", "C[vi] = B[P[vi]]")))
    sch = Schedule(program)
    sch.transform_layout("B", ("write", 0), IndexMap.from_text("lambda i: (0, i)"))
    assert "C[vi] = B[0, P[vi]]" in reads_back(sch)


@pytest.mark.parametrize("body", ["B[0] = A[0] * 2.0", "v = T.axis.spatial(1, 0)\n        B[v] = A[v] * 2.0"])
def test_padding_of_a_block_without_loops(body, same_result):
    program = parse(f"""
@T.prim_func
def main(A: T.Buffer((1,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((1,), "float32")
    with T.block("B"):
        {body}
    with T.block("C"):
        C[0] = B[0]
""")
    sch = Schedule(program)
    sch.transform_layout("B", ("write", 0), lambda i: (i, i + 3), pad_value=0.0)
    assert "B = T.alloc_buffer((1, 4))" in sch.mod.script()
    same_result(sch, program, ((1,), "float32"), ((1,), "float32"))
    assert sch.verify()


def test_padding_of_a_block_without_iters_that_holds_loops(same_result):
    program = parse(
        main("A:14 C:14; B:14", sblock("B", "", nest("i:14", "B[i] = A[i] * 2.0")), each("C:14", "C[vi] = B[vi]"))
    )
    sch = Schedule(program)
    sch.transform_layout("B", ("write", 0), lambda i: (i // 4, i % 4), pad_value=0.0)
    same_result(sch, program, ((14,), "float32"), ((14,), "float32"))
    assert sch.verify()


def test_a_constant_beside_an_index_from_data_is_folded():
    sch = Schedule(program("A:4 P:4:int32; C:2x1", each("C i:4O", "C[P[vi], 0] = A[vi]")))
    sch.transform_layout("C", ("write", 0), lambda i, j: (i, j + 1), pad_value=7)
    assert "C[P[vi], 1] = A[vi]" in sch.mod.script()


def test_refuses_a_sum_with_an_index_from_data_that_spatial_iters_store_through(refused):
    """Of C[P[vi] * 64 + vj] it is not known that no two vj meet: the text would not parse."""
    sch = Schedule(program("A:4x8 P:4:int32; C:2x8", each("C i:4O j:8", "C[P[vi], vj] = A[vi, vj]")))
    message = 'iter vj of block "C" is declared spatial, but it is not provable'
    refused(sch, message, lambda: sch.transform_layout("C", ("write", 0), lambda i, j: i * 64 + j, pad_value=0))


WRITTEN_IN_PART = {
    "no iters": """
    with T.block("A"):
        A[0] = 5
""",
    "no loops": """
    with T.block("A"):
        vi = T.axis.spatial(14, 3)
        A[vi] = 5
""",
    "every other element": """
    for i in range(7):
        with T.block("A"):
            vi = T.axis.spatial(14, i * 2)
            A[vi] = 5
""",
}


@pytest.mark.parametrize("word", WRITTEN_IN_PART)
def test_padding_of_a_parameter_that_is_written_in_part(word):
    program = parse("@T.prim_func\ndef main(A: T.Buffer((14,), 'int32')):" + WRITTEN_IN_PART[word])
    sch = Schedule(program)
    sch.transform_layout("A", ("write", 0), lambda i: (i // 4, i % 4), pad_value=7)
    assert sch.verify()
    before, after = np.arange(14, dtype=np.int32), np.zeros((4, 4), np.int32)
    after.reshape(-1)[:14] = before
    quick_build(Schedule(program))(before)
    quick_build(sch)(after)
    np.testing.assert_array_equal(after.reshape(-1), [*before, 7, 7])
