"""schedules.independent: rows of several statements, with the passes over the row that they read."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main, nest, sblock, under

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import ScheduleError

RNG = np.random.default_rng(7)
FIRST = """
    for i in range({rows}):
        with T.block("first"):
            vi = T.axis.spatial({rows}, i)
            Y[vi] = -1
            for j in range({columns}):
                if Y[vi] == -1 and X[vi, j] * T.float32(2) > M[vi]:
                    Y[vi] = j
"""
MOST = main(
    "X:{rows}x{columns} Y:{rows}:int32 ; M:{rows}",
    nest(
        "i:{rows} j:{columns}", sblock("most", "SR i j", "M[vi] = T.max(M[vi], X[vi, vj])", init="M[vi] = T.float32(0)")
    ),
)


def program(rows, columns):
    """The first position of each row with more than half of its maximum."""
    return parse((MOST + FIRST).format(rows=rows, columns=columns))


def scheduled(module, last="first", threads=2):
    sch = Schedule(module)
    schedules.independent(sch, last, threads=threads)
    return sch


@pytest.mark.parametrize("shape", [(1, 1), (5, 16), (40, 37)])
def test_a_pass_over_the_row_is_computed_with_it_in_vectors(shape):
    sch = scheduled(program(*shape))
    assert len(sch.get_child_blocks(sch.get_block("root"))) == 2
    most, first = sch.get_loops("most"), sch.get_loops("first")
    assert most[0] == first[0] and sch.get(most[-1]).kind == "vectorized"
    x, y = RNG.random(shape, np.float32), np.full(shape[0], 99, np.int32)
    build(sch)["main"](x, y)
    np.testing.assert_array_equal(y, (2 * x > x.max(1, keepdims=True)).argmax(1))


def test_it_is_equivalent_over_the_field():
    assert scheduled(program(9, 37)).verify()


def test_auto_counts_the_pass_as_its_own():
    sch = Schedule(program(40, 37))
    assert schedules.auto(sch, threads=2) == {"most": "independent", "first": "independent"}
    assert sch.verify()


def test_a_scheduled_pass_is_left():
    sch = Schedule(program(8, 32))
    sch.split(sch.get_loops("most")[1], [None, 8])
    schedules.independent(sch, "first", threads=1)
    assert sch.get_loops("most")[0] != sch.get_loops("first")[0]
    assert sch.verify()


def test_a_product_and_values_with_other_readers_are_left():
    product = main(
        "X:8x16 W:16x16 Y:8:int32; M:8x16",
        each("M i:8 j:16 k:16R", "M[vi, vj] = M[vi, vj] + X[vi, vk] * W[vk, vj]", init="M[vi, vj] = T.float32(0)"),
        each("first", "Y[vi] = -1", nest("j:16", under("if Y[vi] == -1 and M[vi, j] > T.float32(2):", "Y[vi] = j"))),
    )
    sch = scheduled(parse(product))
    assert len(sch.get_loops("M")) == 3 and "vectorized" not in sch.mod.script()


def test_a_block_without_rows_is_refused():
    scan = program(8, 16).script().replace("T.axis.spatial(8, i)", "T.axis.opaque(8, i)")
    with pytest.raises(ScheduleError, match='block "first" has no leading spatial iter'):
        scheduled(parse(scan))
