"""Plain schedules: a fixed tile for products and convolutions, whatever their sizes."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, schedules, te, topi
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedules.programs.plain import divisor
from tir_mlir.script.module import PrimFunc


def dense(rows: int, columns: int, depth: int, dtype: str = "float32") -> PrimFunc:
    """relu(X @ W.T)"""
    x, w = te.placeholder((rows, depth), dtype, name="X"), te.placeholder((columns, depth), dtype, name="W")
    return te.create_prim_func([x, w, topi.nn.relu(topi.nn.dense(x, w))])


def convolution(channels: int, filters: int, size: int, groups: int = 1) -> PrimFunc:
    x = te.placeholder((1, size, size, channels), name="X")
    w = te.placeholder((filters, channels // groups, 3, 3), name="W")
    return te.create_prim_func([x, w, topi.nn.conv2d(x, w, 1, 1, 1, "NHWC", "OIHW", groups=groups)])


def packed(program: PrimFunc) -> tuple[Schedule, dict]:
    sch = Schedule(program)
    return sch, schedules.plain_panels(sch, program.name, ["W"], "avx512")


@pytest.mark.parametrize(("sizes", "width"), [((5, 96, 7), 32), ((5, 48, 7), 16), ((13, 33, 4), 32), ((1, 10, 16), 10)])
def test_a_product_is_computed_in_tiles_of_panels(sizes, width):
    sch, panels = packed(dense(*sizes))
    assert panels["W"].width == width
    assert "tile" in schedules.plain(sch, "avx512", 1).values()
    assert sch.verify()


def test_a_block_is_given_by_its_name():
    x, w = te.placeholder((4, 8), name="X"), te.placeholder((8, 32), name="W")
    sch = Schedule(te.create_prim_func([x, w, topi.matmul(x, w)]))
    schedules.tile(sch, "T_matmul", "avx512", 1)
    assert "T.vectorized" in sch.mod.script()


@pytest.mark.parametrize("groups", [1, 16])
def test_a_convolution_is_computed_in_tiles(groups):
    sch, panels = packed(convolution(16, 16, 6, groups))
    assert panels and "tile" in schedules.plain(sch, "avx512", 2).values()
    assert "T.parallel" in sch.mod.script()
    assert sch.verify()


def test_panels_have_the_elements_of_the_weight():
    _, panels = packed(dense(4, 96, 8))
    weight = np.arange(96 * 8, dtype="float32").reshape(96, 8)
    np.testing.assert_array_equal(panels["W"].apply(weight), weight.reshape(3, 32, 8).transpose(0, 2, 1))


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (dense(4, 32, 8), "not contiguous along its result"),
        (convolution(8, 16, 6, 4), "not contiguous along its result"),
        (dense(4, 32, 8, "int8"), "not contiguous along its result"),
    ],
)
def test_what_a_tile_cannot_read_is_refused(program, why):
    sch = Schedule(program)
    with pytest.raises(ScheduleError, match=why):
        schedules.tile(sch, sch.get_child_blocks(sch.get_block("root"))[-2 if "relu" in program.script() else -1])


@pytest.mark.parametrize(("extent", "most", "size"), [(96, 32, 32), (7, 12, 7), (13, 12, 12), (56, 12, 8)])
def test_a_tile_divides_its_extent_if_it_can(extent, most, size):
    assert divisor(extent, most) == size
