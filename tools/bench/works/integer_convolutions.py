"""The convolutions of ResNet-50 and three depthwise ones of MobileNetV2 in 8 bits, rounded to 8 bits, channels last, on
one thread, as `build` compiles them in a graph; beside oneDNN's, as PyTorch calls it for quantised models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log2, sqrt

import numpy as np

import peers
from contest import OURS, Contest, Contestant, Goal, Work
from tir_mlir.graph import Graph

from .convolutions import LAYERS
from .entering import enter, is_captured

GROUP = "conv2d in 8 bits"
DEPTHWISE = ((96, 112, 3, 2, 1), (192, 28, 3, 1, 1), (960, 7, 3, 1, 1))
"""Channels, height and width, kernel, stride, padding."""


def works(threads: Sequence[int]) -> list[Work]:
    whole = [layer(*sizes) for sizes in LAYERS]
    return [*whole, *(layer(c, c, *sizes, groups=c) for c, *sizes in DEPTHWISE)]


def layer(ci: int, co: int, size: int, kernel: int, stride: int, pad: int, groups: int = 1) -> Work:
    out, each = (size + 2 * pad - kernel) // stride + 1, ci // groups
    kind = "depthwise " if groups > 1 else ""
    return Work(
        f"{kind}{GROUP}", f"{ci}x{size}x{size} to {co}x{out}x{out}, {kernel}x{kernel}", "uint8", 1, "GOP/s",
        2.0 * co * out * out * each * kernel * kernel, float(ci * size * size + co * each * kernel * kernel),
        float(co * out * out), lambda: _contest(ci, co, size, (kernel, stride, pad), groups),
        (Goal(0.95, ("torch",)),), f"{kind}{GROUP}",
    )  # fmt: skip


def _contest(ci: int, co: int, size: int, window: tuple[int, int, int], groups: int) -> Contest:
    """All scales are powers of two, so that every way rounds the same sums."""
    rng, (kernel, stride, pad) = np.random.default_rng(0), window
    x = rng.integers(0, 256, (1, size, size, ci)).astype(np.uint8)
    w = rng.integers(-127, 128, (co, ci // groups, kernel, kernel)).astype(np.int8)
    step = 2.0 ** -round(log2(sqrt(w[0].size) * 12000 / 127))
    graph = partial(_graph, x, w, stride, pad, groups, step)
    if is_captured(graph):
        return Contest(np.empty(0))
    total = _sums(x, w, stride, pad, groups)
    expected = np.clip(np.rint(total * step), 0, 255).astype(np.uint8)
    found = Contest(expected, missing=dict(peers.missing()), inputs=[x, w])
    enter(found, OURS, lambda: _ours(x, graph()))
    if "torch" not in found.missing:
        enter(found, "torch", lambda: peers.pytorch.integer_convolution(x, w, stride, pad, groups, step))
    return found


def _sums(x: np.ndarray, w: np.ndarray, stride: int, pad: int, groups: int) -> np.ndarray:
    """Sums of products in float64, exactly: windows of the padded image by the weights."""
    image = np.pad(x[0].astype(np.float64), ((pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(image, w.shape[2:], (0, 1))[::stride, ::stride]
    if groups > 1:
        return np.einsum("hvcxy,cxy->hvc", windows, w[:, 0].astype(np.float64))[None]
    return np.einsum("hvcxy,ocxy->hvo", windows, w.astype(np.float64), optimize=True)[None]


def _graph(x: np.ndarray, w: np.ndarray, stride: int, pad: int, groups: int, step: float) -> Graph:
    from tir_mlir.graph.builder import GraphBuilder

    b = GraphBuilder()
    first = b.op("permute_dims", b.input("x", x.shape, "uint8"), axes=[0, 3, 1, 2])
    image, kernel = (b.op("dequantize", v, b.constant(np.float32(1))) for v in (first, b.weight("w", w)))
    y = b.op("nn.conv2d", image, kernel, strides=[stride] * 2, padding=[pad] * 4, groups=groups)
    y = b.op("quantize", b.op("nn.relu", y), b.constant(np.float32(1 / step)), out_dtype="uint8")
    b.output(b.op("permute_dims", y, axes=[0, 2, 3, 1]))
    return b.finish()


def _ours(x: np.ndarray, graph: Graph) -> Contestant:
    from tir_mlir import build

    model = build(graph, threads=1)
    results: list[np.ndarray] = [np.empty(0)]

    def call() -> None:
        results[0] = model(x)

    return Contestant(call, lambda: np.asarray(results[0]))
