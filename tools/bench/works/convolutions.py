"""The convolutions of ResNet-50, one image in NCHW, padding included, on one thread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import byhand
import peers
import tensor_programs
from contest import Contest, Goal, Work
from ours import scheduled

from .entering import contest

GROUP = "conv2d, resnet-50"
# input channels, output channels, height and width, kernel, stride, padding
LAYERS = (
    (3, 64, 224, 7, 2, 3),
    (64, 64, 56, 1, 1, 0), (64, 64, 56, 3, 1, 1), (64, 256, 56, 1, 1, 0), (256, 64, 56, 1, 1, 0),
    (256, 128, 56, 1, 1, 0), (128, 128, 56, 3, 2, 1), (128, 512, 28, 1, 1, 0), (256, 512, 56, 1, 2, 0),
    (512, 128, 28, 1, 1, 0), (128, 128, 28, 3, 1, 1),
    (512, 256, 28, 1, 1, 0), (256, 256, 28, 3, 2, 1), (256, 1024, 14, 1, 1, 0), (512, 1024, 28, 1, 2, 0),
    (1024, 256, 14, 1, 1, 0), (256, 256, 14, 3, 1, 1),
    (1024, 512, 14, 1, 1, 0), (512, 512, 14, 3, 2, 1), (512, 2048, 7, 1, 1, 0), (1024, 2048, 14, 1, 2, 0),
    (2048, 512, 7, 1, 1, 0), (512, 512, 7, 3, 1, 1),
)  # fmt: skip


def works(threads: Sequence[int]) -> list[Work]:
    return [layer(*sizes) for sizes in LAYERS]


def layer(ci: int, co: int, size: int, kernel: int, stride: int, pad: int) -> Work:
    out = (size + 2 * pad - kernel) // stride + 1
    read = 4.0 * (ci * size * size + co * ci * kernel * kernel)
    return Work(
        GROUP, f"{ci}x{size}x{size} to {co}x{out}x{out}, {kernel}x{kernel}", "float32", 1, "GFLOP/s",
        2.0 * co * out * out * ci * kernel * kernel, read, 4.0 * co * out * out,
        lambda: _contest(ci, co, size, kernel, stride, pad), (Goal(0.95, ("torch",)),), GROUP,
    )  # fmt: skip


def _contest(ci: int, co: int, size: int, kernel: int, stride: int, pad: int) -> Contest:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (1, ci, size, size)).astype(np.float32)
    w = rng.uniform(-1, 1, (co, ci, kernel, kernel)).astype(np.float32)
    program = tensor_programs.convolution(ci, co, size, kernel, stride, pad)
    return contest(
        convolved(x, w, stride, pad), [x, w],
        lambda: scheduled(program, "Y", "conv2d", 1, byhand.conv2d),
        {"torch": lambda: peers.pytorch.convolution(x, w, stride, pad)},
    )  # fmt: skip


def convolved(x: np.ndarray, w: np.ndarray, stride: int, pad: int) -> np.ndarray:
    """Reference in NumPy: windows of the padded image, one product."""
    kernel = w.shape[-1]
    padded = np.pad(x[0], ((0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(1, 2))[:, ::stride, ::stride]
    return np.einsum("chvxy,ocxy->ohv", windows, w, optimize=True)[None].astype(np.float32)
