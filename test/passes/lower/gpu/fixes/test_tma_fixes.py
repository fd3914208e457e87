"""Fixes for refusals of copies by the TMA and of products of warpgroups: each is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow
from programs.parsed import parse
from programs.tma_products import warpgroups

from tir_mlir import Schedule, build, interpret

ROWS = """
@T.prim_func
def main(A: T.Buffer((64, 8), "float32")):
    S = T.alloc_buffer((64, 8), "float32", scope="wgmma.accumulator")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for i, j in T.grid(64, 8):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(1)
        FIRST
        for i, j in T.grid(64, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = S[vi, vj]
"""
ONE_ELEMENT = """with T.block("one"):
            S[0, 0] = T.float32(2)"""
LONELY = """
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for k in range(64):
            for i in range(64):
                with T.block("S"):
                    vk, vi = T.axis.remap("OS", [k, i])
                    NOTE
                    S[vi] = A[vk, vi]
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("B"):
                    vk, vt = T.axis.remap("SS", [k, t])
                    B[vk, vt] = S[63 - vt]
"""


def rows(first: str = "") -> Schedule:
    return Schedule(parse(ROWS.replace("FIRST", first or "pass")))


def lonely(note: str, pipeline: bool = False) -> Schedule:
    sch = Schedule(parse(LONELY.replace("NOTE", note or "pass")))
    if pipeline:
        sch.tma_pipeline("S", sch.get_loops("S")[1])
    return sch


def on_the_machine(sch: Any) -> None:
    """Check a program against its interpretation on a CPU."""
    params = build(sch, target="sm_90a")["main"].signature.params
    arrays = [
        np.random.default_rng(n).integers(-3, 4, [dim.value({}) for dim in p.dims]).astype(p.dtype)
        for n, p in enumerate(params)
    ]
    expected = [array.copy() for array in arrays]
    interpret(sch, *expected)
    interpret(sch, *arrays, target="sm_90a")
    np.testing.assert_array_equal(arrays[-1], expected[-1])


MACHINE = {"target": "sm_90a", "accepts": on_the_machine}


def is_ptx(sch: Any) -> None:
    assert "cp.async.bulk.tensor" in build(sch, target="sm_90a").assembly


def small() -> Schedule:
    return warpgroups((64, 8, 16), tile=(64, 64, 64))


ROWS_OF_FIXES = [
    KernelRow("no swizzle of an operand", lambda: warpgroups(swizzle=False),
              "sch.swizzle of its copy, and tma_pipeline", (small,), **MACHINE),
    KernelRow("wgmma on another chip", lambda: warpgroups(), 'build for "sm_90a", or use the fragments of mma or wmma',
              (small,), target="sm_90", accepts=on_the_machine),
    KernelRow("one element of a tile", lambda: rows(ONE_ELEMENT),
              "keep loops of 64 rows and of the columns around what is computed", (rows,), **MACHINE),
    KernelRow("warpgroups along x", lambda: warpgroups(threads="threadIdx.x"),
              "bind loops over warpgroups to threadIdx.y", (small,), **MACHINE),
    KernelRow("a copy in no loop", lambda: lonely('T.block_attr({"tma_copy": 1})'), "sch.tma_pipeline(copies, loop)",
              (lambda: lonely("", pipeline=True),), **MACHINE),
    KernelRow("a chip without a TMA", lambda: lonely("", pipeline=True),
              'build for "sm_90a", or sch.double_buffer instead of sch.tma_pipeline: it takes cp.async from sm_80 on',
              (lambda: lonely("", pipeline=True),), target="sm_80", accepts=on_the_machine),
    KernelRow("a text in C", lambda: lonely("", pipeline=True), "lib.assembly is its text",
              (lambda: lonely("", pipeline=True),), target="sm_90a", accepts=is_ptx,
              build=lambda program, target: build(program, target=target).source),
]  # fmt: skip


@pytest.mark.few(1)
@each_of(ROWS_OF_FIXES)
def test_the_way_out(row):
    row.follow()
