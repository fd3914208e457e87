"""The programs of docs/programs under the schedules of their pages, on one thread: `make bench ARGS=--programs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import peers
from contest import Contest, Contestant, Goal, Work
from ours import Scheduled
from pages import page

from .entering import contest

torch = peers.pytorch


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


def attention(heads: int, queries: int, keys: int, width: int) -> Program:
    return Program(
        "attention", "attention", (heads, queries, keys, width), "GFLOP/s", 4.0 * heads * queries * keys * width,
        4.0 * heads * (queries + 2 * keys) * width, 4.0 * heads * queries * width, {"torch": torch.attention},
    )  # fmt: skip


PROGRAMS = (
    transpose(2048), rms_norm(512, 4096), feed_forward(8, 128, 256, 64), depthwise(96, 56), few_rows(1, 1024, 1024),
    few_rows(16, 1024, 1024), int8_gemv(4096, 4096), int4_gemv(4096, 4096), attention(8, 512, 512, 64),
)  # fmt: skip
"""The programs at the sizes of docs/programs/index.md."""


def works() -> list[Work]:
    """Return the works in table order; all run on one thread."""
    return [work(program) for program in PROGRAMS]


def work(program: Program) -> Work:
    """Return the work of a program; its page runs when it is measured."""

    def make() -> Contest:
        inputs = program.function("inputs")(*program.sizes)
        return contest(
            program.function("reference")(*inputs), inputs,
            lambda: Scheduled(program.function("scheduled")(*program.sizes[program.symbolic :]), program.page),
            {name: lambda peer=peer: peer(*inputs) for name, peer in program.peers.items()},
        )  # fmt: skip

    return Work(
        program.name, "x".join(map(str, program.sizes)), program.dtype, 1, program.unit, program.operations,
        program.read, program.written, make, (Goal(1.0, tuple(program.peers)),),
    )  # fmt: skip
