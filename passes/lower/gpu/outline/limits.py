"""What a GPU can launch, and the refusal of a kernel that needs more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import LoweringError

BLOCK = (1024, 1024, 64)
"""The most threads of a block along x, y, z."""
GRID = (2**31 - 1, 65535, 65535)
"""The most blocks along x, y, z."""


@dataclass(frozen=True)
class KernelLimits:
    """Threads of a block; bytes of shared memory of a block that a kernel can declare, and that a launch can ask for;
    the chip for messages. The defaults hold for all NVIDIA GPUs from sm_60 on."""

    threads: int = 1024
    shared_static: int = 48 << 10
    shared: int = 48 << 10
    chip: str = "a GPU"


def check_block(kernel: str, block: Sequence[int], loops: str, limits: KernelLimits) -> None:
    """Refuse a block with too many threads. `loops`: its loops, for the message. Raises LoweringError."""
    total = block[0] * block[1] * block[2]
    fix = "split the loops, and bind the outer parts to blockIdx or leave them serial"
    if total > limits.threads:
        sizes = " * ".join(str(n) for n in block if n != 1)
        raise LoweringError(
            f"{kernel}: a block has {total} threads ({sizes}: {loops}), {limits.chip} runs at most {limits.threads}; "
            f"fix: {fix}"
        )
    for axis, size, most in zip("xyz", block, BLOCK, strict=True):
        if size > most:
            raise LoweringError(
                f"{kernel}: a block has {size} threads along threadIdx.{axis} ({loops}), {limits.chip} at most {most}; "
                f"fix: {fix}"
            )


def check_grid(kernel: str, grid: Sequence[int | None], loops: str, limits: KernelLimits) -> None:
    """Refuse a grid of a constant size that is too large (None: a size that is known at the launch only)."""
    for axis, size, most in zip("xyz", grid, GRID, strict=True):
        if size is not None and size > most:
            raise LoweringError(
                f"{kernel}: the grid has {size} blocks along blockIdx.{axis} ({loops}), {limits.chip} at most {most}; "
                "fix: bind the longest loop to blockIdx.x, or split it and bind its parts to two axes"
            )


def check_shared(kernel: str, buffers: Sequence[tuple[str, int]], total: int, limits: KernelLimits) -> None:
    """Refuse a block whose shared buffers do not fit together. `buffers`: their names and bytes."""
    if total > limits.shared:
        parts = ", ".join(f'"{name}" {size}' for name, size in buffers)
        raise LoweringError(
            f"{kernel}: the shared buffers of a block take {total} bytes ({parts}), {limits.chip} has {limits.shared}; "
            "fix: use smaller tiles, or keep a part in scope local"
        )
