"""Copies in the memory of a device, as kernels, so that a model is launches only."""

from __future__ import annotations

from functools import cache

from tir_mlir.schedule import Schedule
from tir_mlir.schedules import auto
from tir_mlir.script import tir as T
from tir_mlir.script.module import IRModule, PrimFunc

WORD = 4
"""Bytes that `copy_words` copies at once."""


@T.prim_func
def _copy_bytes(a: T.handle, b: T.handle) -> None:
    n = T.int64()
    A = T.match_buffer(a, (n,), "int8")
    B = T.match_buffer(b, (n,), "int8")
    for i in range(n):
        with T.block("copy"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]


@T.prim_func
def _copy_words(a: T.handle, b: T.handle) -> None:
    n = T.int64()
    A = T.match_buffer(a, (n,), "int32")
    B = T.match_buffer(b, (n,), "int32")
    for i in range(n):
        with T.block("copy"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]


@cache
def copy_programs() -> tuple[PrimFunc, PrimFunc]:
    """The programs that copy n bytes, and n words of 4 bytes, bound to threads."""
    bound = []
    for name, program in (("copy_bytes", _copy_bytes), ("copy_words", _copy_words)):
        sch = Schedule(IRModule({name: program}))
        auto(sch, "cuda")
        bound.append(sch.mod[name])
    return bound[0], bound[1]
