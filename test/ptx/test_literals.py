"""Literals of PTX: integers of each base, floats by their bits and in decimal, wherever a number may stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx
from tir_mlir.ptx.types import integer

INTEGERS = {
    "20": 20, "0x14": 20, "0X14U": 20, "024": 20, "0b10100": 20, "0B10100U": 20, "20U": 20, "-0x14": -20, "0": 0,
    "0U": 0,
}  # fmt: skip
FLOATS = {
    "0f40200000": 2.5, "0F40200000": 2.5, "0d4004000000000000": 2.5, "2.5": 2.5, "25e-1": 2.5, ".25E1": 2.5,
    "-2.5": -2.5,
}  # fmt: skip


def stored(value: str, type_: str, result: type) -> np.generic:
    body = kernels.at_thread("%p0", np.dtype(result).itemsize) + f"\nst.global.{type_} [%d63], {value};"
    out = np.zeros(1, result)
    ptx.launch(kernels.module(kernels.kernel(body, 1)), "k", (1,), (1,), [out])
    return out[0]


@pytest.mark.parametrize("text", INTEGERS)
def test_an_integer(text):
    assert integer(text) == stored(text, "b32", np.int32) == INTEGERS[text]


@pytest.mark.parametrize(("type_", "result"), [("f32", np.float32), ("f64", np.float64)])
@pytest.mark.parametrize("text", FLOATS)
def test_a_float(text, type_, result):
    assert stored(text, type_, result) == FLOATS[text]


def test_the_bits_of_a_nan_are_kept():
    assert stored("0f7FC00123", "b32", np.uint32) == 0x7FC00123


NUMBERS = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .f32 table[0x2] = {0f40200000, 0f3F800000};
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %r<4>; .reg .b64 %d<4>;
.shared .align 16 .b8 s[0x20];
ld.param.b64 %d0, [in]; ld.param.b64 %d1, [out];
mov.u32 %r0, s;
cp.async.cg.shared.global [%r0+0x10], [%d0+020], 0x10;
cp.async.commit_group;
cp.async.wait_group 0x0;
lop3.b32 %r2, %r0, %r0, %r0, 0b0;
ld.shared.b32 %r1, [%r0+0x14]; add.u32 %r1, %r1, %r2; st.global.b32 [%d1], %r1;
mov.u64 %d2, table; ld.global.b32 %r3, [%d2+0x0]; st.global.b32 [%d1+0x4], %r3;
ret; }
"""


def test_sizes_offsets_and_initial_values():
    out = np.zeros(2, np.uint32)
    ptx.launch(NUMBERS, "k", (1,), (1,), [np.arange(8, dtype=np.int32), out])
    assert (out[0], out[1:].view(np.float32)[0]) == (5, 2.5)


def test_ptxas_accepts_the_literals(tmp_path: Path):
    assert kernels.assemble(NUMBERS, tmp_path, "sm_80") == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0x10;", "16.0;", "`16.0` of .* has to be an integer literal"),
        ("0x10;", "%r1;", "`%r1` of .* has to be an integer literal"),
        ("[0x20]", "[size]", "size is not an integer literal"),
        ("0b0;", "08;", "`08` of .* has to be an integer literal"),
    ],
)
def test_what_is_not_a_literal_is_refused(old, new, message):
    with pytest.raises(ptx.PtxError, match=message):
        ptx.launch(NUMBERS.replace(old, new), "k", (1,), (1,), [np.arange(8, dtype=np.int32), np.zeros(2, np.uint32)])
