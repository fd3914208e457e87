"""Regions are in the order of the program's text: an indirect access before the reads of its indices."""

from __future__ import annotations

import re

import pytest
from harness.schedules import reads_back
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), I: T.Buffer((16,), "int32"),
         J: T.Buffer((16,), "int32"), C: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("OO", [i, j])
            {}
"""

ORDERS = {
    "C[vi, vj] = A[I[vi], vj]": "A I",
    "C[vi, vj] = B[vi, vj] + A[I[J[vi]], vj]": "B A I J",
    "C[vi, vj] = A[I[vi], J[vj]] * B[vi, vj]": "A I J B",
    "C[vi, vj] = A[vi, vj] * T.Cast('float32', I[J[vi]])": "A I J",
    "C[I[vi], vj] = A[vi, vj]": "A I",
    "C[I[vi], vj] = C[I[vi], vj] + B[vi, vj]": "C I B",
    "C[I[vi], J[vj]] = T.float32(0)": "I J",
    "if A[I[vi], 0] > T.float32(0):\n                C[vi, vj] = B[vi, vj]": "A I B",
    "x = I[vi]\n            C[vi, vj] = B[vi, vj] + A[x, vj]": "I B A",
}


@pytest.mark.parametrize("body", ORDERS)
def test_reads_are_in_the_order_of_the_text(body: str):
    sch = Schedule(parse(PROGRAM.format(body)))
    text = reads_back(sch)
    reads = re.search(r"T.reads\((.*)\)", text)
    assert reads is not None
    assert " ".join(re.findall(r"([A-Z])_?\[", reads[1])) == ORDERS[body]


def test_a_buffer_is_chosen_by_its_place_in_the_text():
    sch = Schedule(parse(PROGRAM.format("C[vi, vj] = A[I[vi], vj]")))
    sch.cache_read("C", 0, "local")
    assert "A_local[I_[vi], vj]" in sch.mod.script()
    assert sch.verify()


MERGED = main(
    "A:16 W:16 E:16 D:16; B:16",
    each("B:16", "B[vi] = W[vi] * A[vi]"),
    each("D:16", "D[vi] = (E[vi] + T.exp(B[vi])) * W[vi]"),
)


def test_a_merged_consumer_reads_in_the_order_of_its_text():
    sch = Schedule(parse(MERGED))
    sch.reverse_compute_inline("D")
    assert "T.reads(E[vi], W[vi], A[vi])" in reads_back(sch)
    assert sch.verify()
