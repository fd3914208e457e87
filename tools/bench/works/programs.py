"""The programs of docs/programs under the schedules of their pages, on one thread: `make bench ARGS=--programs`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import peers
from contest import Contest, Contestant, Goal, Work
from ours import Scheduled
from program_pages import page

from .entering import contest

torch, numpy_loops = peers.pytorch, peers.numpy_loops


@dataclass(frozen=True)
class Program:
    """A row: the page, the sizes, arithmetic operations, elements read and written (in bytes), and the peers.

    Peers take the inputs of the page. `symbolic`: the number of leading sizes that the schedule does not take.
    `prefix`: that of the names of the page's functions.
    """

    name: str
    page: str
    sizes: tuple[int, ...]
    unit: str
    operations: float
    read: float
    written: float
    peers: Mapping[str, Callable[..., Contestant]]
    dtype: str = "float32"
    symbolic: int = 0
    prefix: str = ""

    def function(self, name: str) -> Any:
        return page(self.page)[self.prefix + name]


def transpose(n: int) -> Program:
    return Program("transpose", "transpose", (n,), "GB/s", 0.0, 4.0 * n * n, 4.0 * n * n, {"torch": torch.transpose})


def rms_norm(rows: int, columns: int) -> Program:
    size = rows * columns
    return Program(
        "RMS norm", "rms-norm", (rows, columns), "GB/s", 4.0 * size, 4.0 * size, 4.0 * size, {"torch": torch.rms_norm}
    )


def feed_forward(batch: int, m: int, n: int, k: int) -> Program:
    return Program(
        "product, bias, GELU", "gelu", (batch, m, n, k), "GFLOP/s", 2.0 * batch * m * n * k,
        4.0 * batch * (m * k + k * n), 4.0 * batch * m * n, {"torch": torch.product_gelu},
    )  # fmt: skip


def depthwise(channels: int, size: int) -> Program:
    pixels = channels * size * size
    return Program(
        "depthwise 3x3", "depthwise", (channels, size, 1), "GFLOP/s", 18.0 * pixels, 4.0 * pixels, 4.0 * pixels,
        {"torch": torch.depthwise},
    )  # fmt: skip


def few_rows(rows: int, n: int, k: int) -> Program:
    return Program(
        "product of n rows", "small-batch", (rows, n, k), "GFLOP/s", 2.0 * rows * n * k, 4.0 * (rows * k + k * n),
        4.0 * rows * n, {"torch": torch.product, "numpy": peers.numpy_blas.product}, symbolic=1,
    )  # fmt: skip


def int8_gemv(rows: int, columns: int) -> Program:
    size = rows * columns
    return Program(
        "int8 gemv", "quantized", (rows, columns), "GOP/s", 2.0 * size, 1.0 * size, 4.0 * rows,
        {"torch": torch.integer_gemv}, dtype="int8", prefix="int8_",
    )  # fmt: skip


def int4_gemv(rows: int, columns: int) -> Program:
    size = rows * columns
    return Program(
        "int4 gemv", "quantized", (rows, columns), "GFLOP/s", 2.0 * size, size / 2 + size / 8, 4.0 * rows,
        {"torch": torch.int4_gemv}, prefix="int4_",
    )  # fmt: skip


def attention(heads: int, queries: int, keys: int, width: int, prefix: str = "") -> Program:
    return Program(
        f"{prefix.replace('_', ' ')}attention", "attention", (heads, queries, keys, width), "GFLOP/s",
        4.0 * heads * queries * keys * width, 4.0 * heads * (queries + 2 * keys) * width,
        4.0 * heads * queries * width, {"torch": torch.attention}, prefix=prefix,
    )  # fmt: skip


def sparse(rows: int, stored: int) -> Program:
    return Program(
        "CSR times vector", "sparse", (rows, stored), "GFLOP/s", 2.0 * stored, 8.0 * stored + 8.0 * rows, 4.0 * rows,
        {"torch": torch.sparse_product},
    )  # fmt: skip


def histogram(size: int) -> Program:
    return Program(
        "histogram", "scatter", (size, 256), "GB/s", 0.0, 4.0 * size, 1024.0,
        {"torch": torch.histogram, "numpy": numpy_loops.histogram}, dtype="int32", prefix="histogram_",
    )  # fmt: skip


def scatter_add(rows: int, count: int, width: int) -> Program:
    return Program(
        "scatter-add", "scatter", (rows, count, width), "GB/s", 0.0, 4.0 * count * width, 4.0 * rows * width,
        {"torch": functools.partial(torch.scatter_add, rows=rows)}, prefix="scatter_",
    )  # fmt: skip


def cumulative(rows: int, columns: int) -> Program:
    size = 4.0 * rows * columns
    return Program(
        "cumulative sum", "sequences", (rows, columns), "GB/s", 0.0, size, size,
        {"torch": torch.cumulative, "numpy": numpy_loops.cumulative}, prefix="cumulative_",
    )  # fmt: skip


def heat(steps: int, points: int) -> Program:
    return Program(
        "time steps", "sequences", (steps, points), "GFLOP/s", 5.0 * steps * points, 8.0 * points, 8.0 * points,
        {name: functools.partial(peer.heat, steps=steps) for name, peer in (("torch", torch), ("numpy", numpy_loops))},
        prefix="heat_",
    )  # fmt: skip


def solve(n: int, columns: int) -> Program:
    return Program(
        "triangular solve", "sequences", (n, columns), "GFLOP/s", 1.0 * n * n * columns,
        2.0 * n * n + 4.0 * n * columns, 4.0 * n * columns, {"torch": torch.solve}, prefix="solve_",
    )  # fmt: skip


def blur(height: int, width: int) -> Program:
    return Program(
        "uint8 blur", "images", (height, width), "GB/s", 0.0, 1.0 * height * width, 1.0 * height * width,
        {"torch": torch.blur, "numpy": numpy_loops.blur}, dtype="uint8", prefix="blur_",
    )  # fmt: skip


def half(height: int, width: int) -> Program:
    return Program(
        "uint8 half size", "images", (height, width), "GB/s", 0.0, 4.0 * height * width, 1.0 * height * width,
        {"torch": torch.half_size}, dtype="uint8", prefix="half_",
    )  # fmt: skip


def resize(height: int, width: int, rows: int, columns: int) -> Program:
    size = (rows, columns)
    return Program(
        "uint8 resize", "images", (height, width, *size), "GB/s", 0.0, 1.0 * height * width, 1.0 * rows * columns,
        {"torch": functools.partial(torch.resize, size=size)}, dtype="uint8", prefix="resize_",
    )  # fmt: skip


def top_k(rows: int, columns: int, k: int) -> Program:
    return Program(
        "top-k", "top-k", (rows, columns, k), "GB/s", 0.0, 4.0 * rows * columns, 8.0 * rows * k,
        {"torch": functools.partial(torch.top_k, k=k)}, dtype="int32",
    )  # fmt: skip


PROGRAMS = (
    transpose(2048), rms_norm(512, 4096), feed_forward(8, 128, 256, 64), depthwise(96, 56), few_rows(1, 1024, 1024),
    few_rows(16, 1024, 1024), int8_gemv(4096, 4096), int4_gemv(4096, 4096), attention(8, 512, 512, 64),
    attention(8, 512, 512, 64, prefix="online_"), sparse(4096, 409600), histogram(1 << 20),
    scatter_add(4096, 16384, 64), cumulative(1024, 4096), heat(100, 1 << 16), solve(256, 64), solve(512, 64),
    blur(1080, 1920), half(540, 960), resize(1080, 1920, 720, 1280), top_k(64, 4096, 8),
)  # fmt: skip
"""The programs at the sizes of docs/programs/index.md."""


def works() -> list[Work]:
    """Return the works in table order; all run on one thread."""
    return [work(program) for program in PROGRAMS]


def work(program: Program) -> Work:
    """Return the work of a program; its page runs when it is measured."""

    def make() -> Contest:
        inputs = program.function("inputs")(*program.sizes)
        expected = program.function("reference")(*inputs)
        *more, expected = expected if isinstance(expected, tuple) else (expected,)  # the last result is compared
        return contest(
            expected, [*inputs, *(np.empty_like(array) for array in more)],
            lambda: Scheduled(program.function("scheduled")(*program.sizes[program.symbolic :]), program.page),
            {name: lambda peer=peer: peer(*inputs) for name, peer in program.peers.items()},
        )  # fmt: skip

    return Work(
        program.name, "x".join(map(str, program.sizes)), program.dtype, 1, program.unit, program.operations,
        program.read, program.written, make, (Goal(1.0, tuple(program.peers)),),
    )  # fmt: skip
