"""Transposed convolutions as convolutions of the data as it is, whose results are put between each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir.graph.importers.emitter import OperatorEmitter


def subpixel_convolution(
    e: OperatorEmitter,
    x: Any,
    weight: Any,
    stride: Sequence[int],
    before: Sequence[int],
    result: Sequence[int],
    groups: int,
) -> Any:
    """The transposed convolution of x (n, c, ..) with weight (c, o / groups, ..), by strides, of numbers as sizes.

    Element q * s + r of an axis is that of a convolution with the weights r, r + s, ..: its channels are those of all
    r, and a permutation puts them in place. No product is with a zero that is put between the elements of the data.
    before: how many elements are cut off at the begin of each axis; result: the sizes of the result.
    """
    axes = len(stride)
    batch = x.shape[0]
    outs = weight.shape[1]
    taps = [-(-k // s) for k, s in zip(weight.shape[2:], stride, strict=True)]
    kernel = _kernel(e, weight, stride, taps, groups)
    need = [-(-(b + n) // s) for b, n, s in zip(before, result, stride, strict=True)]
    first = [b // s for b, s in zip(before, stride, strict=True)]
    low = [t - 1 - f for t, f in zip(taps, first, strict=True)]
    high = [q - n for q, n in zip(need, x.shape[2:], strict=True)]
    counts = [q - f for q, f in zip(need, first, strict=True)]
    for a, (b, h) in enumerate(zip(low, high, strict=True)):
        x = e.slice(x, 2 + a, max(-b, 0), x.shape[2 + a] + min(h, 0))
    padding = [max(v, 0) for v in (*low, *high)]
    y = e.op(f"nn.conv{axes}d", x, kernel, strides=[1] * axes, padding=padding, dilation=[1] * axes, groups=groups)
    y = e.reshape(y, (batch, groups, *stride, outs, *counts))
    order = [0, 1, 2 + axes, *(p for a in range(axes) for p in (3 + axes + a, 2 + a))]
    y = e.reshape(e.permute(y, order), (batch, groups * outs, *(q * s for q, s in zip(counts, stride, strict=True))))
    for a, (b, f, s, n) in enumerate(zip(before, first, stride, result, strict=True)):
        y = e.slice(y, 2 + a, b - f * s, b - f * s + n)
    return y


def _kernel(e: OperatorEmitter, weight: Any, stride: Sequence[int], taps: Sequence[int], groups: int) -> Any:
    """(c, o, k..) -> (groups * s.. * o, c / groups, taps..): the weights of each remainder, in reverse order."""
    axes, (channels, outs) = len(stride), weight.shape[:2]
    extra = [t * s - k for t, s, k in zip(taps, stride, weight.shape[2:], strict=True)]
    if any(extra):
        weight = e.op("nn.pad", weight, pad_width=[0] * 4 + [w for m in extra for w in (0, m)], pad_value=0)
    parts = e.reshape(
        weight, (groups, channels // groups, outs, *(n for t, s in zip(taps, stride, strict=True) for n in (t, s)))
    )
    order = [0, *(4 + 2 * a for a in range(axes)), 2, 1, *(3 + 2 * a for a in range(axes))]
    parts = e.permute(parts, order)
    for a in range(axes):
        if taps[a] > 1:
            parts = e.op("flip", parts, axis=3 + axes + a)
    remainders = 1
    for s in stride:
        remainders *= s
    return e.reshape(parts, (groups * remainders * outs, channels // groups, *taps))
