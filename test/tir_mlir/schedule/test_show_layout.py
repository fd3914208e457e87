"""show_layout: lanes and registers of fragments, banks of shared buffers."""

from __future__ import annotations

import re

import pytest
from harness import mma_products
from programs.transposes import tiled

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError


def product(dtype: str = "float16", trans: bool = False) -> Schedule:
    return mma_products.tiled(
        mma_products.product(32, 32, 32, dtype, trans_b=trans), (32, 32, 32), dtype, trans_b=trans, warps=(1, 1)
    )[0]


def test_lanes_of_an_operand(capsys):
    layouts = product().show_layout("A_shared_mma.matrix_a")
    lines = layouts.text.splitlines()
    title = "A_shared_mma.matrix_a, mma.matrix_a of float16: 32 x 32, 2 x 2 tiles of 16 x 16; "
    assert lines[0] == title + "row: l2 l3 l4 r1, column: r0 l0 l1 r2"
    assert lines[1].split() == ["0", "|", "0:0-1", "1:0-1", "2:0-1", "3:0-1", "0:4-5", "1:4-5", "2:4-5", "3:4-5"]
    assert lines[9].split()[2] == "0:2-3" and len(lines) == 17
    assert capsys.readouterr().out == f"{layouts}\n"


def test_a_transposed_operand_has_columns_of_registers():
    text = product(trans=True).show_layout("B_shared_mma.matrix_b_trans").text
    assert "4 x 2 tiles of 8 x 16; row: l2 l3 l4, column: r0 l0 l1 r1" in text
    assert re.search(r"^  7 \| +28:0-1", text, re.MULTILINE)


def test_banks_with_a_permutation():
    sch = tiled((32, 32), "float32", 1)
    plain = sch.show_layout("A_shared").text
    sch.swizzle("A_shared", 0)
    swizzled = sch.show_layout(sch.get_block("A_shared")).text
    assert "plain addresses" in plain and "element addresses: bits" in swizzled
    columns = [[line.split()[2] for line in text.splitlines()[1:9]] for text in (plain, swizzled)]
    assert set(columns[0]) == {"0"} and len(set(columns[1])) == 8


def test_banks_of_padded_rows():
    sch = tiled((32, 32), "float32", 1)
    sch.storage_align("A_shared", 0, 0, 32, 4)
    lines = sch.show_layout("A_shared").text.splitlines()
    assert [line.split()[2] for line in lines[1:4]] == ["0", "4", "8"]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            "A_share",
            'allocates no buffer "A_share"; in scopes with layouts there are: A_shared, B_shared, ',
        ),
        ("L", 'buffer "A_local" is of scope local; mma.* and shared have layouts'),
    ],
)
def test_others_are_refused(what, message):
    sch = product()
    sch.cache_read("A_shared", 0, "local")
    with pytest.raises(ScheduleError, match=re.escape(message)):
        sch.show_layout(what if what != "L" else "A_local")


def test_a_block_without_them_is_refused():
    sch = Schedule(mma_products.product(32, 32, 32))
    with pytest.raises(ScheduleError, match="block product accesses no buffer in a scope mma"):
        sch.show_layout(sch.get_block("product"))
