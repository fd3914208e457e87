"""Functions for the child processes of test_pickle.py, importable by a spawned process."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs.short import each, program

from tir_mlir import Schedule, build
from tir_mlir.script import PrimFunc
from tir_mlir.script import tir as T

zeros = program("A:16", each("A:16", "A[vi] = 0.0"))


def fill() -> tuple[Any, Any]:
    """A description and an implementation of an instruction that clears four numbers."""

    @T.prim_func
    def desc(a: T.handle) -> None:
        A = T.match_buffer(a, (4,), "float32", offset_factor=1)
        with T.block("root"):
            T.reads()
            T.writes(A[0:4])
            for i in range(4):
                with T.block("fill"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = 0.0

    @T.prim_func
    def impl(a: T.handle) -> None:
        A = T.match_buffer(a, (4,), "float32", offset_factor=1)
        with T.block("root"):
            T.reads()
            T.writes(A[0:4])
            T.evaluate(T.call_extern("int32", "pickled_fill", A.access_ptr("w")))

    return desc, impl


def step_and_run(sch: Schedule, a: np.ndarray, b: np.ndarray) -> tuple[Schedule, np.ndarray]:
    """One more step, and the result of the program."""
    sch.unroll(sch.get_loops("C")[-1])
    c = np.empty_like(a)
    build(sch)(a, b, c)
    return sch, c


def more_loops(sch: Schedule) -> list[Any]:
    return sch.get_loops("C")


def refused(func: PrimFunc) -> None:
    sch = Schedule(func)
    sch.parallel(sch.get_loops("C")[-1])
