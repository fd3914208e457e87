"""How large a buffer can be: MLIR ends the process over one whose elements it cannot count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.rule import fail
from tir_mlir.dialect.views import Buffer

LARGEST = 1 << 62
"""A buffer has fewer elements than this."""


def is_huge(shape: Sequence[Any]) -> bool:
    """Whether a buffer whose extents are known in part has more elements than MLIR counts."""
    return math.prod(n for n in shape if isinstance(n, int)) >= LARGEST


def huge(op: ir.Operation) -> ir.Value | None:
    """The first buffer that an op makes or takes that is too large."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    buffers = [v for v in (*op.results, *arguments) if isinstance(v.type, ir.MemRefType)]
    return next((b for b in buffers if is_huge(Buffer(b).shape)), None)


def sizes(op: ir.Operation) -> None:
    """Every buffer that an op makes or takes has a size that can be counted."""
    buffer = huge(op)
    if buffer is not None:
        shape = " x ".join(str(n or "?") for n in Buffer(buffer).shape)
        fail(op, "sizes", f"{Buffer(buffer).name} of {shape} has more elements than 64 bits can count")
