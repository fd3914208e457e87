"""Load a strided vector as contiguous vectors and a shuffle."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, vector

MAX_STRIDE = 4
"""Elements at larger distances are loaded as scalars."""


def load_strided(load: Callable[[int], ir.Value], width: int, stride: int) -> ir.Value:
    """`width` elements at distance `stride` (negative: backwards). `load(start)` gives a vector of contiguous elements,
    `start` elements after the lowest one.

        A[2 * j], j < 4   -->   vector.shuffle A[0:4], A[3:7] [0, 2, 5, 7]

    The last vector ends with the last element, so that nothing beyond it is read.
    """
    apart = abs(stride)
    length = (width - 1) * apart + 1
    starts = [*range(0, length - width, width), length - width]
    rows = [load(start) for start in starts]
    first, *rest = map(_as_bits, rows)
    made, places, done = first, [min(k * apart, width - 1) for k in range(width)], width
    for start, more in zip(starts[1:], rest, strict=True):
        for k in range(width):
            if k * apart >= done:
                places[k] = width + min(k * apart - start, width - 1)
        made, places, done = vector.shuffle(made, more, places), list(range(width)), start + width
    if stride < 0:
        made = vector.shuffle(made, made, places[::-1])
    elif not rest:
        made = vector.shuffle(made, made, places)
    return arith.bitcast(rows[0].type, made) if made.type != rows[0].type else made


def _as_bits(value: ir.Value) -> ir.Value:
    """bf16 as integers: LLVM scalarizes shuffles of bf16."""
    type_ = ir.VectorType(value.type)
    if not isinstance(type_.element_type, ir.BF16Type):
        return value
    return arith.bitcast(ir.VectorType.get(type_.shape, ir.IntegerType.get_signless(16)), value)
