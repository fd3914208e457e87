"""Partial tiles: every element is computed once, for all sizes and loop bodies."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, te


@pytest.mark.parametrize("shape", [(1, 1), (15, 17), (16, 127), (57, 33)])
@pytest.mark.parametrize("order", ["abcd", "acbd", "cabd", "acdb"])
@pytest.mark.parametrize("beside", [False, True])
def test_two_levels_in_two_dimensions(shape, order, beside):
    x = te.placeholder(shape, "float32", name="X")
    y = te.compute(shape, lambda i, j: x[i, j] + 1.0, name="Y")
    z = te.compute(shape, lambda i, j: y[i, j] * 2.0, name="Z")
    sch = Schedule(te.create_prim_func([x, z]))
    i, j = sch.get_loops("Z")
    a, b, rows = sch.split(i, [None, 3, 5])
    c, d, lanes = sch.split(j, [None, 2, 8])
    tiles = dict(zip("abcd", (a, b, c, d), strict=True))
    sch.reorder(*(tiles[o] for o in order), rows, lanes)
    sch.unroll(rows)
    sch.vectorize(lanes)
    if beside:
        sch.compute_at("Y", tiles[order[-1]])  # its loops have bounds of their own
    given = np.random.default_rng(0).integers(-9, 9, shape).astype("float32")
    found = np.full(shape, 99, "float32")
    build(sch)["main"](given, found)
    np.testing.assert_array_equal(found, (given + 1) * 2)
