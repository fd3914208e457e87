"""Schedules bound to blocks and threads: one for each thing that kernels have to get right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from programs.short import each, program

from tir_mlir import Schedule


def elementwise(size: Any = 1000) -> Schedule:
    """One dimension of a constant or a symbolic size, with a tail."""
    sch = Schedule(program(f"A:{size} B:{size}", each(f"B i:{size}", "B[vi] = A[vi] + 1.0")))
    outer, inner = sch.split(sch.get_loops("B")[0], [None, 128])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    return sch


def _sums(rows: int, columns: int) -> Any:
    return program(
        f"A:{rows}x{columns} B:{rows}", each(f"B i:{rows} k:{columns}R", "B[vi] += A[vi, vk]", init="B[vi] = 0.0")
    )


def sum_over_threads(rows: int = 16, columns: int = 100, threads: int = 32) -> Schedule:
    """A sum of each block to which each thread contributes."""
    sch = Schedule(_sums(rows, columns))
    i, k = sch.get_loops("B")
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(k, [None, threads])[1], "threadIdx.x")
    return sch


def reversed_tile() -> Schedule:
    """Each thread reads what another one has fetched, in a loop over tiles."""
    body = each("C i:64 k:8R", "C[vi] += A[vk, 63 - vi]", init="C[vi] = 0.0")
    sch = Schedule(program("A:8x64 C:64", body))
    fetch = sch.cache_read("C", 0, "shared")
    i, k = sch.get_loops("C")
    block, thread = sch.split(i, [None, 32])
    sch.reorder(block, k, thread)
    sch.bind(block, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    sch.compute_at(fetch, k)
    sch.bind(sch.get_loops(fetch)[-1], "threadIdx.x")
    return sch


def softmax(rows: int = 8, columns: int = 128, threads: int = 32) -> Schedule:
    """Rows in shared memory: two reductions over threads, and their results read by all."""
    text = (
        each(f"M i:{rows} k:{columns}R", "M[vi] = T.max(M[vi], A[vi, vk])", init="M[vi] = T.float32(-3e38)"),
        each(f"E i:{rows} j:{columns}", "E[vi, vj] = T.exp(A[vi, vj] - M[vi])"),
        each(f"S i:{rows} k:{columns}R", "S[vi] += E[vi, vk]", init="S[vi] = 0.0"),
        each(f"B i:{rows} j:{columns}", "B[vi, vj] = E[vi, vj] / S[vi]"),
    )
    sch = Schedule(program(f"A:{rows}x{columns} B:{rows}x{columns}; M:{rows} E:{rows}x{columns} S:{rows}", *text))
    row, column = sch.get_loops("B")
    sch.bind(row, "blockIdx.x")
    sch.bind(sch.split(column, [None, threads])[1], "threadIdx.x")
    for block in "SEM":
        sch.set_scope(block, 0, "shared")
        sch.compute_at(block, row)
        sch.bind(sch.split(sch.get_loops(block)[-1], [None, threads])[1], "threadIdx.x")
    return sch


def transpose(size: int = 64, tile: int = 16) -> Schedule:
    """A tile through shared memory, its rows padded."""
    sch = Schedule(program(f"A:{size}x{size} B:{size}x{size}", each(f"B i:{size} j:{size}", "B[vi, vj] = A[vj, vi]")))
    fetch = sch.cache_read("B", 0, "shared")
    (i0, i1), (j0, j1) = (sch.split(loop, [None, tile]) for loop in sch.get_loops("B"))
    sch.reorder(i0, j0, i1, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    sch.compute_at(fetch, j0)
    for loops in ((i1, j1), sch.get_loops(fetch)[-2:]):
        for loop, axis in zip(loops, ("threadIdx.y", "threadIdx.x"), strict=True):
            sch.bind(loop, axis)
    sch.storage_align(fetch, 0, 0, 32, 1)
    return sch


def two_kernels(size: int = 512) -> Schedule:
    """The second kernel reads what other blocks of the first one have written."""
    text = (each(f"B:{size}", "B[vi] = A[vi] + 1.0"), each(f"C:{size}", f"C[vi] = B[vi] * 2.0 + B[{size - 1} - vi]"))
    sch = Schedule(program(f"A:{size} C:{size}; B:{size}", *text))
    for block in "BC":
        outer, inner = sch.split(sch.get_loops(block)[0], [None, 128])
        sch.bind(outer, "blockIdx.x")
        sch.bind(inner, "threadIdx.x")
    return sch


def matmul(size: int = 64, tile: int = 16, step: int = 8, own: int = 2, lanes: int = 2) -> Schedule:
    """Tiles in shared memory fetched by all threads in vectors, a tile of accumulators a thread."""
    shape = f"{size}x{size}"
    body = each(f"C i:{size} j:{size} k:{size}R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0")
    sch = Schedule(program(f"A:{shape} B:{shape} C:{shape}", body))
    back = sch.cache_write("C", 0, "local")
    i, j, k = sch.get_loops("C")
    threads = tile // own
    (i0, i1, i2), (j0, j1, j2) = (sch.split(loop, [None, threads, own]) for loop in (i, j))
    k0, k1 = sch.split(k, [None, step])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(back, j1)
    for loop, axis in zip((i0, j0, i1, j1), ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"), strict=True):
        sch.bind(loop, axis)
    for operand in (0, 1):
        fetch = sch.cache_read("C", operand, "shared")
        sch.compute_at(fetch, k0)
        whole = sch.fuse(*sch.get_loops(fetch)[-2:])
        _, y, x, lane = sch.split(whole, [None, threads, threads, lanes])
        sch.vectorize(lane)
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
    sch.decompose_reduction("C", k0)
    return sch


def convolution() -> Schedule:
    """A halo of 4 x 10 x 10 elements fetched by 64 threads, with a tail."""
    body = each("Y f:4 h:16 w:16 c:8R r:3R q:3R", "Y[vf, vh, vw] += X[vc, vh + vr, vw + vq] * W[vf, vc, vr, vq]",
                init="Y[vf, vh, vw] = 0.0")  # fmt: skip
    sch = Schedule(program("X:8x18x18 W:4x8x3x3 Y:4x16x16", body))
    back, fetch = sch.cache_write("Y", 0, "local"), sch.cache_read("Y", 0, "shared")
    f, h, w, c, r, q = sch.get_loops("Y")
    (h0, h1), (w0, w1), (c0, c1) = sch.split(h, [None, 8]), sch.split(w, [None, 8]), sch.split(c, [None, 4])
    sch.reorder(h0, w0, h1, w1, c0, c1, r, q, f)
    for loop, axis in zip((h0, w0, h1, w1), ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"), strict=True):
        sch.bind(loop, axis)
    sch.reverse_compute_at(back, w1)
    sch.compute_at(fetch, c0)
    _, y, x = sch.split(sch.fuse(*sch.get_loops(fetch)[-3:]), [None, 8, 8])
    sch.bind(y, "threadIdx.y")
    sch.bind(x, "threadIdx.x")
    sch.decompose_reduction("Y", c0)
    return sch


def _softmax(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _convolution(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    return np.einsum("chwrq,fcrq->fhw", windows, w)


@dataclass(frozen=True)
class Bound:
    """A schedule, the shapes of its inputs, and what it computes of them."""

    schedule: Callable[[], Schedule]
    shapes: tuple[tuple[int, ...], ...]
    result: Callable[..., np.ndarray]

    def inputs(self) -> list[np.ndarray]:
        draw = np.random.default_rng(0)
        return [draw.random(shape, dtype=np.float32) for shape in self.shapes]

    def check(self, run: Callable[..., Any]) -> None:
        """Run on arrays, the last one for the result, which nobody has written."""
        inputs = self.inputs()
        expected = self.result(*inputs)
        output = np.full(expected.shape, np.nan, np.float32)
        run(*inputs, output)
        np.testing.assert_allclose(output, expected, rtol=2e-5)


BOUND = {
    "elementwise": Bound(elementwise, ((1000,),), lambda a: a + 1),
    "symbolic": Bound(lambda: elementwise("n"), ((333,),), lambda a: a + 1),
    "sum over threads": Bound(sum_over_threads, ((16, 100),), lambda a: a.sum(1)),
    "sum over warps": Bound(lambda: sum_over_threads(4, 512, 128), ((4, 512),), lambda a: a.sum(1)),
    "sum over 48": Bound(lambda: sum_over_threads(4, 96, 48), ((4, 96),), lambda a: a.sum(1)),
    "reversed tile": Bound(reversed_tile, ((8, 64),), lambda a: a.sum(0)[::-1]),
    "softmax": Bound(softmax, ((8, 128),), _softmax),
    "transpose": Bound(transpose, ((64, 64),), lambda a: a.T.copy()),
    "two kernels": Bound(two_kernels, ((512,),), lambda a: (a + 1) * 2 + (a + 1)[::-1]),
    "matmul": Bound(matmul, ((64, 64), (64, 64)), lambda a, b: a @ b),
    "convolution": Bound(convolution, ((8, 18, 18), (4, 8, 3, 3)), _convolution),
}
