"""Layouts of fragments: one-to-one, equal to those of the PTX machine, which has them by formulas of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir.dialect.analysis.fragment_layouts import (
    MMA_LAYOUTS,
    FragmentDifference,
    FragmentLayout,
    fragment_layout,
    fragment_tile,
    ldmatrix_layout,
    rank,
)
from tir_mlir.ptx import fragments
from tir_mlir.ptx.instructions.warpgroups import _accumulator

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int32": 4}


def judge(scope: str, dtype: str) -> fragments.Fragment:
    size, (rows, columns) = SIZES[dtype], fragment_layout(scope, dtype, tile_of(scope, dtype)).shape
    if scope.endswith("matrix_a"):
        return fragments.operand_a(16 if "wgmma" in scope else rows, columns, size)
    if scope.endswith("matrix_b"):
        return fragments.operand_b(columns, rows, size)
    return _accumulator(8, size) if "wgmma" in scope else fragments.accumulator(rows, columns, size)


def tile_of(scope: str, dtype: str) -> tuple[int, int]:
    tile = fragment_tile(scope, dtype)
    assert tile is not None
    return tile.tile


@pytest.mark.parametrize(("scope", "dtype"), MMA_LAYOUTS)
def test_each_equals_that_of_the_machine(scope: str, dtype: str):
    layout, expected = fragment_layout(scope, dtype, tile_of(scope, dtype)), judge(scope, dtype)
    rows, columns = layout.elements
    warp = np.arange(layout.lanes)[:, None] // 32
    np.testing.assert_array_equal(rows, np.tile(expected.row, (layout.lanes // 32, 1)) + 16 * warp)
    shape = (layout.lanes // 32, 1)
    np.testing.assert_array_equal(columns, np.tile(np.broadcast_to(expected.column, expected.row.shape), shape))


@pytest.mark.parametrize(("scope", "dtype"), MMA_LAYOUTS)
def test_each_is_one_to_one(scope: str, dtype: str):
    (m, n), layout = tile_of(scope, dtype), fragment_tile(scope, dtype)
    assert layout is not None
    large = layout.tile_to((2 * m, 3 * n))
    pairs = {large.element(lane, register) for lane in range(large.lanes) for register in range(large.registers)}
    assert pairs == {(row, column) for row in range(2 * m) for column in range(3 * n)}
    assert all(large.element(*large.owner(row, column)) == (row, column) for row, column in [(0, 0), (m + 1, 2 * n)])


def test_wider_sums_of_wgmma_are_tiles():
    layout, expected = fragment_layout("wgmma.accumulator", "float32", (64, 40)), _accumulator(40, 4)
    np.testing.assert_array_equal(layout.elements[0][:32], expected.row)
    np.testing.assert_array_equal(layout.elements[1][:32], expected.column)


@pytest.mark.parametrize("text", ["row: l2 l3 l4 r1, column: r0 l0", "row: l2 l3 l4 l0, column: r0 l0 l1",
                                  "row: l2^r0 l3 l4 l2^r0, column: l0 l1", "row l2"])  # fmt: skip
def test_others_than_one_to_one_are_refused(text: str):
    with pytest.raises(ValueError, match="is not"):
        FragmentLayout.parse(text)


def test_a_xor_of_bits_is_one_to_one():
    layout = FragmentLayout.parse("row: l2 l3 l4, column: r0^l2 l0 l1")
    assert layout.element(4, 0) == (1, 1)
    assert layout.owner(1, 1) == (4, 0)


def test_rank():
    assert [rank(rows) for rows in ([], [0], [1, 2, 3], [5, 3, 6], [1, 2, 4])] == [0, 0, 2, 2, 3]


def ldmatrix(bits: int, trans: bool = False) -> FragmentLayout:
    layout = ldmatrix_layout(bits, trans)
    assert layout is not None
    return layout


def test_ldmatrix_serves_operands():
    four = ldmatrix(16).tile_to((16, 16))
    a = fragment_layout("mma.matrix_a", "float16", (16, 16))
    assert four.first_difference(a) == FragmentDifference(0, 2, (0, 8), (8, 0))  # its matrices are row by row
    assert four.register_order(a) == (0, 1, 4, 5, 2, 3, 6, 7)
    trans = ldmatrix(16, True).tile_to((16, 8))
    b = fragment_layout("mma.matrix_b", "bfloat16", (16, 8))
    assert trans.first_difference(b) is None
    plain = ldmatrix(16).tile_to((16, 8))
    wrong = plain.first_difference(b)
    assert wrong is not None
    assert wrong.text("A", "B") == "lane 0, register 1: A[0, 1] is where B[1, 0] has to be"


def test_sums_as_operand_a():
    sums = fragment_layout("mma.accumulator", "float32", (16, 16))
    assert sums.register_order(fragment_layout("mma.matrix_a", "float16", (16, 16))) == tuple(range(8))
    tf32 = fragment_layout("mma.matrix_a", "float32", (16, 16))
    assert sums.register_order(tf32) == FragmentDifference(0, 2, (8, 0), (0, 4))


def test_vectors_of_rows_and_columns():
    sums = fragment_layout("mma.accumulator", "float32", (32, 24))
    rows = sums.vector(0)
    assert (rows.text, rows.shape, rows.registers) == ("row: l2 l3 l4 r0, column: , copies: l0 l1", (32, 1), 4)
    columns = sums.vector(1)
    assert (columns.shape, columns.registers, columns.copies) == ((1, 24), 6, ("l2", "l3", "l4"))
    for lane in range(32):
        for register in range(sums.registers):
            row, column = sums.element(lane, register)
            assert rows.element(lane, sums.vector_register(register, 0)) == (row, 0)
            assert columns.element(lane, sums.vector_register(register, 1)) == (0, column)


def test_transposed_scopes():
    b, trans = (fragment_layout(f"mma.matrix_b{word}", "float16", shape) for word, shape in
                (("", (16, 8)), ("_trans", (8, 16))))  # fmt: skip
    assert all(b.element(lane, r) == trans.element(lane, r)[::-1] for lane in range(32) for r in range(4))


@pytest.mark.parametrize(("scope", "dtype", "shape", "text"), [
    ("mma.matrix_a", "int16", (16, 16), "mma.matrix_a has float16, bfloat16, float32"),
    ("mma.accumulator_trans", "float32", (16, 8), "no matrix unit holds float32"),
    ("mma.matrix_c", "float32", (16, 8), "there are mma.accumulator, mma.matrix_a"),
    ("mma.matrix_b", "float16", (24, 8), "24 x 8 is not made of tiles of 16 x 8"),
])  # fmt: skip
def test_what_there_is_not(scope: str, dtype: str, shape: tuple[int, int], text: str):
    with pytest.raises(ValueError, match=text):
        fragment_layout(scope, dtype, shape)
