"""Shared memory that buffers use one after the other, and what is told if it does not fit."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mlir import ir
from programs.parsed import parse
from programs.short import each, main

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.ir import edit, walk
from tir_mlir.errors import LoweringError, PtxError
from tir_mlir.target import CUDA

HEAD = """@T.prim_func
def f(A: T.Buffer((5, 64), "float32"), B: T.Buffer((5, 64), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
"""
STEP = """        for k in range(5):
            with T.block("step"):
                vk = T.axis.spatial(5, k)
                S = T.alloc_buffer((64,), "float32", scope="shared")
                R = T.alloc_buffer((32,), "float64", scope="shared")
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vt = T.axis.spatial(64, t)
                        S[vt] = A[vk, vt]
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vt = T.axis.spatial(64, t)
                        B[vk, vt] = S[63 - vt]
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("R"):
                        vt = T.axis.spatial(32, t)
                        R[vt] = T.Cast("float64", A[vk, vt])
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("C"):
                        vt = T.axis.spatial(32, t)
                        B[vk, vt] = B[vk, vt] + T.Cast("float32", R[31 - vt])
"""
SMALL = CUDA("sm_80", shared=300, shared_static=300)


def steps() -> Schedule:
    return Schedule(parse(HEAD + STEP))


def arrays() -> list[np.ndarray]:
    return [np.random.default_rng(0).integers(-4, 5, (5, 64)).astype(np.float32), np.zeros((5, 64), np.float32)]


def wanted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    b = a[:, ::-1].copy()
    b[:, :32] += a[:, 31::-1]
    return b


@pytest.mark.parametrize(("target", "size", "barriers"), [("sm_80", 512, 2), (SMALL, 256, 4)])
def test_buffers_in_turn_share_memory_where_they_would_not_fit(target, size, barriers):
    a, b = arrays()
    (report,) = interpret(steps(), a, b, target=target).launches
    assert np.array_equal(b, wanted(a, b))
    assert (report.shared_bytes, report.barriers) == (size, 5 * barriers)


@pytest.mark.parametrize("number", range(4))
def test_each_of_the_barriers_is_needed(number, monkeypatch):
    monkeypatch.setattr("fuzzing.kernels.machine.CUDA", lambda chip: SMALL)

    def drop(name: str, module: ir.Module) -> None:
        if name == "tir-lower-gpu-shared-lives":
            edit.drop([op for op in walk.ops(module.operation) if op.name == "gpu.barrier"][number])

    with pytest.raises(PtxError, match="race"):
        on_machine(steps(), arrays(), follow=drop)


def test_the_source_names_the_buffers():
    text = build(steps(), target=SMALL).source
    assert "__shared__ __align__(16) signed char S_R[256];" in text
    assert "double *const R = (double *)(S_R + 0);" in text


def turned(n: int) -> Schedule:
    """B[i] = A[n - 1 - i] by way of shared memory."""
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", f"B[vi] = A[{n - 1} - vi]"))))
    copy = sch.cache_read("B", 0, "shared")
    outer, inner = sch.split(sch.get_loops("B")[0], [None, n])
    sch.bind(outer, "blockIdx.x")
    sch.compute_at(copy, outer)
    for loop in (inner, sch.get_loops(copy)[-1]):
        sch.bind(sch.split(loop, [None, 128])[1], "threadIdx.x")
    return sch


def test_49_kib():
    n = 49 << 8
    a, b = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    (report,) = interpret(turned(n), a, b, target="sm_80").launches
    assert np.array_equal(b, a[::-1]) and report.shared_bytes == 49 << 10
    with pytest.raises(LoweringError, match=re.escape('of the 12544 elements of "A_shared", 12288 fit')):
        build(turned(n), target="sm_60")


def pipelined(stages: int, size: int = 4096, guard: str = "") -> Schedule:
    """Rows turned around, by tiles that are copied ahead; a guard lets some threads do it only."""
    text = f"""@T.prim_func
def f(A: T.Buffer((8, {size}), "float32"), B: T.Buffer((8, {size}), "float32")):
    S = T.alloc_buffer(({size},), "float32", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for k in range(8):
            for c in range({size // 64}):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("S"):
                        vk = T.axis.opaque(8, k)
                        vt = T.axis.spatial({size}, c * 64 + t)
                        {guard}
                        S[vt] = A[vk, vt]
            for c in range({size // 64}):
                for t in T.thread_binding(64, thread="threadIdx.x"):
                    with T.block("B"):
                        vk = T.axis.spatial(8, k)
                        vt = T.axis.spatial({size}, c * 64 + t)
                        {guard}
                        B[vk, vt] = S[vt // 64 * 64 + (47 - vt % 64) % 64]
"""
    sch = Schedule(parse(text))
    sch.pipeline(sch.get_loops("S")[1], stages)
    return sch


def test_the_stages_that_fit_are_told():
    with pytest.raises(LoweringError, match="5 stages instead of 7 fit"):
        build(pipelined(7, 8192), target="sm_80")
    build(pipelined(5, 8192), target="sm_80")


def test_a_pipeline_of_which_some_threads_do_nothing():
    assert pipelined(3, 128, "T.where(t < 48)").verify(target="sm_80")
