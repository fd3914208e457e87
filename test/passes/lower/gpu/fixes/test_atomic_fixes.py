"""Fixes for refusals of atomic updates: each is followed."""

from __future__ import annotations

import pytest
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow
from programs.parsed import parse
from programs.scatters import MAXIMA, READ, private, scatter
from programs.short import each, program

from tir_mlir import Schedule


def updated(*steps: str) -> Schedule:
    """Elements that data choose, updated by a kernel for each step."""
    blocks = [each(f"H{n} i:40R", f"H[X[vi]] = {step}") for n, step in enumerate(steps)]
    sch = Schedule(program("X:40:int32 H:7:int32 Y:40:int32", *blocks, each("Y i:40", "Y[vi] = H[X[vi]]")))
    for name in (*(f"H{n}" for n in range(len(steps))), "Y"):
        sch.bind(sch.get_loops(name)[0], "threadIdx.x")
    return sch


def bound(dtype: str, loop: int) -> Schedule:
    """A scatter with one loop bound to threads."""
    sch = scatter(33, 7, dtype)
    for name in ("zero", "add"):
        sch.bind(sch.get_loops(name)[loop], "threadIdx.x")
    return sch


def annotated() -> Schedule:
    """A scatter whose loop over threads has an annotation for loops over blocks."""
    sch = bound("int32", 0)
    sch.annotate(sch.get_loops("add")[0], "shared_updates", "Y")
    return sch


TWICE = """@T.prim_func
def f(X: T.Buffer((8,), "int32"), H: T.Buffer((7,), "int32")):
    for u in T.thread_binding(8, thread="AXIS"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("H"):
                vu, vt = T.axis.remap("RR", [u, t])
                H[X[vt]] += 1
"""


def twice(axis: str) -> Schedule:
    return Schedule(parse(TWICE.replace("AXIS", axis)))


ROWS = [
    KernelRow("a type that the chip does not update", lambda: bound("float16", 0), "compute Y in one of float32",
              (lambda: bound("float32", 0),), target="sm_60"),
    KernelRow("a device without such instructions", lambda: bound("int32", 0),
              "bind loops whose iterations update elements of their own", (lambda: bound("int32", 1),),
              target="opencl"),
    KernelRow("copies of threads", annotated, 'leave the annotation "shared_updates" out',
              (lambda: bound("int32", 0),)),
    KernelRow("two operators", lambda: private(100, MAXIMA), "a kernel for each of them",
              (lambda: updated("H[X[vi]] + 1", "T.max(H[X[vi]], 3)"),)),
    KernelRow("an axis inside of itself", lambda: twice("threadIdx.x"), "bind one of them to another axis",
              (lambda: twice("threadIdx.y"), lambda: twice("blockIdx.x"))),
    KernelRow("a write between updates", lambda: private(100, READ),
              "write H in a nest of its own, which is another kernel", (lambda: updated("H[X[vi]] + 1"),)),
]  # fmt: skip


@pytest.mark.few(1)
@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
