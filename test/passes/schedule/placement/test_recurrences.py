"""compute_at and reverse_compute_at of recurrences: ordered iters run in full, if spatial points are independent."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule


def sums(n: int, m: int, loops: str = "ij", axes: str = "ij", value: str = "C[vi, vj - 1]", rows: str = "spatial"):
    """Sums of the beginnings of rows, and a block that doubles them. `loops`, `axes`: their order."""
    extent = {"i": n, "j": m}
    kinds = {"i": rows, "j": "opaque"}
    first = "vi == 0 or vj == 0" if "vi - 1" in value else "vj == 0"
    declared = "\n            ".join(f"v{x} = T.axis.{kinds[x]}({extent[x]}, {x})" for x in axes)
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "float32"), D: T.Buffer(({n}, {m}), "float32")):
    C = T.alloc_buffer(({n}, {m}))
    for {loops[0]}, {loops[1]} in T.grid({extent[loops[0]]}, {extent[loops[1]]}):
        with T.block("C"):
            {declared}
            C[vi, vj] = T.if_then_else({first}, T.float32(0), {value}) + A[vi, vj]
    for i, j in T.grid({n}, {m}):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] * 2.0
""")


@pytest.mark.parametrize(("n", "m"), [(1, 1), (6, 7), (17, 16)])
@pytest.mark.parametrize("loops", ["ij", "ji"])
@pytest.mark.parametrize("depth", [0, 1])
def test_rows_are_summed_where_they_are_read(n, m, loops, depth):
    sch = Schedule(sums(n, m, loops))
    sch.compute_at("C", sch.get_loops("D")[depth])
    a = np.random.default_rng(1).integers(-4, 5, (n, m)).astype("float32")
    d = np.empty_like(a)
    quick_build(sch.mod)(a, d)
    np.testing.assert_array_equal(d, 2 * a.cumsum(1))
    assert [lp.name for lp in map(sch.get, sch.get_loops("C"))][-1] == "ax0" or m == 1
    assert sch.verify()


def test_rows_in_a_tile(same_result):
    sch = Schedule(sums(10, 7))
    tile = sch.split(sch.get_loops("D")[0], [None, 4])[0]
    sch.compute_at("C", tile)
    same_result(sch, sums(10, 7), ((10, 7), "float32"), ((10, 7), "float32"))


@pytest.mark.parametrize("depth", [0, 1])
def test_a_reader_moves_to_the_sums(depth, same_result):
    sch = Schedule(sums(6, 7))
    sch.reverse_compute_at("D", sch.get_loops("C")[depth])
    same_result(sch, sums(6, 7), ((6, 7), "float32"), ((6, 7), "float32"))


def test_an_order_that_the_block_does_not_list(refused):
    """The loops go down the rows, the block lists the columns first: a moved block would run column by column."""
    skewed = sums(6, 7, "ij", "ji", "T.if_then_else(vj < 6, C[vi - 1, T.min(vj + 1, 6)], C[vi, vj - 1])", "opaque")
    sch = Schedule(skewed)
    refused(sch, "depends on the order of vj, vi", lambda: sch.compute_at("C", sch.get_loops("D")[0]))


PLANES = main(
    "D:8; P:2x10",
    each(
        "P t:4O i:8",
        "P[vt % 2, vi] = T.if_then_else(vt == 0 or vi == 0, T.float32(1), P[(vt + 1) % 2, T.max(vi - 1, 0)] * 2.0)",
    ),
    each("D", "D[vi] = P[1, vi]"),
)


def test_points_that_need_their_neighbors_do_not_move_alone(refused):
    sch = Schedule(parse(PLANES))
    refused(
        sch, "differ in the spatial iter vi depend on each other", lambda: sch.compute_at("P", sch.get_loops("D")[0])
    )


def test_a_recurrence_that_another_block_starts(refused):
    sch = Schedule(
        program(
            "A:6x7 D:6x7; C:6x8",
            each("Z:6", "C[vi, 0] = 1.0"),
            each("C i:6 j:7O", "C[vi, vj + 1] = C[vi, vj] + A[vi, vj]"),
            each("D:6x7", "D[vi, vj] = C[vi, vj]"),
        )
    )
    refused(sch, 'also written by block "Z"', lambda: sch.compute_at("C", sch.get_loops("D")[0]))
    z, c, d = (sch.get_loops(b)[0] for b in "ZCD")
    sch.merge(z, c, d)  # the way out: one loop around all three
    assert sch.verify()


def test_a_recurrence_from_what_the_caller_passed(refused):
    sch = Schedule(
        program(
            "A:6x7 D:6; C:6x7",
            each("C:6x7", "C[vi, vj] = A[vi, vj] * 2.0"),
            each("D i:6 j:7O", "D[vi] = D[vi] * 0.5 + C[vi, vj]"),
        )
    )
    refused(sch, "starts from elements of D", lambda: sch.reverse_compute_at("D", sch.get_loops("C")[0]))


def test_values_read_while_the_recurrence_runs(refused):
    text = main(
        "A:6x7 D:6x7; C:6",
        nest(
            "i:6 j:7",
            sblock("C", "SO i j", "C[vi] = T.if_then_else(vj == 0, T.float32(0), C[vi]) * 0.5 + A[vi, vj]"),
            nest("u:1", sblock("D", "SS i j", "D[vi, vj] = C[vi]")),
        ),
    )
    sch = Schedule(parse(text))
    refused(sch, "part by part", lambda: sch.compute_at("C", sch.get_loops("D")[2]))
