"""Operators of PyTorch at usual sizes, for `torch_ops`: a name, what computes it, and the shapes of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

IMAGE = (1, 64, 56, 56)
ROWS = (512, 1024)


class Work(NamedTuple):
    """An operator: a module, or a function of tensors, and its inputs."""

    name: str
    compute: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]


def works() -> Iterator[Work]:
    """All of them, with random inputs."""
    for table in (_elementwise, _rows, _reductions, _images, _windows, _convolutions, _moves, _indices, _others):
        for name, compute, *shapes in table():
            yield Work(name, compute, tuple(x if isinstance(x, torch.Tensor) else torch.randn(x) for x in shapes))


def _elementwise() -> Iterator[tuple]:
    for name in ("relu", "gelu", "silu", "hardswish", "elu", "mish", "softplus", "leaky_relu"):
        yield name, getattr(F, name), ROWS
    for name in ("tanh", "sigmoid", "exp", "erf", "sin"):
        yield name, getattr(torch, name), ROWS
    yield "log", lambda x: torch.log(x.abs() + 1), ROWS
    yield "pow 3", lambda x: x**3, ROWS
    yield "add, one row", torch.add, ROWS, ROWS[1:]
    yield "where", lambda x, y: torch.where(x > 0, x, y), ROWS, ROWS
    yield "to int8", lambda x: (x * 20).round().clamp(-128, 127).to(torch.int8), ROWS
    yield "prelu", nn.PReLU(64), IMAGE


def _rows() -> Iterator[tuple]:
    yield "softmax, rows", lambda x: F.softmax(x, -1), ROWS
    yield "softmax, columns", lambda x: F.softmax(x, 0), ROWS
    yield "softmax, channels", lambda x: F.softmax(x, 1), IMAGE
    yield "log_softmax", lambda x: F.log_softmax(x, -1), ROWS
    yield "layer_norm", nn.LayerNorm(ROWS[1]), ROWS
    yield "layer_norm, 96", nn.LayerNorm(96), (3136, 96)
    yield "group_norm", nn.GroupNorm(8, 64), IMAGE
    yield "batch_norm", nn.BatchNorm2d(64), IMAGE
    yield "instance_norm", nn.InstanceNorm2d(64), IMAGE
    yield "rms_norm", nn.RMSNorm(ROWS[1]), ROWS
    yield "normalize", lambda x: F.normalize(x, dim=-1), ROWS


def _reductions() -> Iterator[tuple]:
    yield "sum, rows", lambda x: x.sum(-1), ROWS
    yield "sum, columns", lambda x: x.sum(0), ROWS
    yield "sum of all", lambda x: x.sum(), ROWS
    yield "mean, H and W", lambda x: x.mean((2, 3)), IMAGE
    yield "mean, H and W of 7x7", lambda x: x.mean((2, 3)), (1, 2048, 7, 7)
    yield "amax, channels", lambda x: x.amax(1), IMAGE
    yield "argmax", lambda x: x.argmax(-1), ROWS
    yield "std", lambda x: x.std(-1), ROWS
    yield "norm", lambda x: x.norm(dim=-1), ROWS
    yield "logsumexp", lambda x: torch.logsumexp(x, -1), ROWS
    yield "cumsum, rows", lambda x: x.cumsum(-1), ROWS
    yield "cumsum, columns", lambda x: x.cumsum(0), ROWS


def _images() -> Iterator[tuple]:
    for mode in ("nearest", "bilinear", "bicubic"):
        yield f"resize {mode}, 2x", lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode), IMAGE
    yield "resize bilinear, down", lambda x: F.interpolate(x, size=(24, 24), mode="bilinear"), IMAGE
    yield "resize bilinear, antialias", lambda x: F.interpolate(x, (24, 24), mode="bilinear", antialias=True), IMAGE
    yield "grid_sample", lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), IMAGE, (1, 56, 56, 2)
    yield "pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), IMAGE
    yield "pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), IMAGE
    yield "channel_shuffle", lambda x: F.channel_shuffle(x, 4), IMAGE
    for mode in ("constant", "reflect", "replicate", "circular"):
        yield f"pad {mode}", lambda x, mode=mode: F.pad(x, (2, 2, 2, 2), mode=mode), IMAGE


def _windows() -> Iterator[tuple]:
    yield "max_pool 3, stride 2", nn.MaxPool2d(3, 2, 1), (1, 64, 112, 112)
    yield "max_pool 2", nn.MaxPool2d(2), IMAGE
    yield "avg_pool 2", nn.AvgPool2d(2), IMAGE
    yield "avg_pool 3, stride 1", nn.AvgPool2d(3, 1, 1), IMAGE
    yield "adaptive_avg_pool 7", nn.AdaptiveAvgPool2d(7), IMAGE
    yield "adaptive_avg_pool 6", nn.AdaptiveAvgPool2d(6), IMAGE
    yield "unfold 3", lambda x: F.unfold(x, 3, padding=1), IMAGE
    yield "fold 3", lambda x: F.fold(x, (56, 56), 3, padding=1), (1, 64 * 9, 56 * 56)


def _convolutions() -> Iterator[tuple]:
    yield "conv2d 3x3", nn.Conv2d(64, 64, 3, padding=1), IMAGE
    yield "conv2d 1x1", nn.Conv2d(64, 256, 1), IMAGE
    yield "conv2d 7x7, stride 2", nn.Conv2d(3, 64, 7, stride=2, padding=3), (1, 3, 224, 224)
    yield "conv2d, dilated", nn.Conv2d(64, 64, 3, padding=2, dilation=2), IMAGE
    yield "conv2d, depthwise", nn.Conv2d(64, 64, 3, padding=1, groups=64), IMAGE
    yield "conv2d, groups of 16", nn.Conv2d(64, 64, 3, padding=1, groups=4), IMAGE
    yield "conv2d, groups of 16, stride 2", nn.Conv2d(64, 64, 3, stride=2, padding=1, groups=4), IMAGE
    yield "conv1d", nn.Conv1d(128, 128, 3, padding=1), (1, 128, 1024)
    yield "conv1d, depthwise", nn.Conv1d(128, 128, 4, padding=3, groups=128), (1, 128, 1024)
    yield "conv3d", nn.Conv3d(16, 32, 3, padding=1), (1, 16, 16, 28, 28)
    yield "conv_transpose2d", nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), (1, 64, 28, 28)
    yield "linear", nn.Linear(1024, 1024), (128, 1024)
    yield "linear, one row", nn.Linear(1024, 1024), (1, 1024)
    yield "matmul, batches", torch.matmul, (12, 128, 64), (12, 64, 128)
    yield "einsum bhid,bhjd", lambda q, k: torch.einsum("bhid,bhjd->bhij", q, k), (1, 12, 128, 64), (1, 12, 128, 64)


def _moves() -> Iterator[tuple]:
    yield "transpose", lambda x: x.t().contiguous(), ROWS
    yield "permute NHWC", lambda x: x.permute(0, 2, 3, 1).contiguous(), IMAGE
    yield "concat, channels", lambda x, y: torch.cat([x, y], 1), IMAGE, IMAGE
    yield "concat, last", lambda x, y: torch.cat([x, y], -1), ROWS, ROWS
    yield "stack", lambda x, y: torch.stack([x, y], -1), ROWS, ROWS
    yield "roll", lambda x: torch.roll(x, (3, 3), (2, 3)), IMAGE
    yield "flip", lambda x: x.flip(-1), ROWS
    yield "repeat_interleave", lambda x: x.repeat_interleave(4, 1), (1, 8, 512, 64)
    yield "tril", torch.tril, (8, 256, 256)


def _indices() -> Iterator[tuple]:
    ids = torch.randint(0, 512, (512,))
    wide = torch.randint(0, 1024, ROWS)
    yield "embedding", nn.Embedding(1000, 1024), torch.randint(0, 1000, (512,))
    yield "embedding_bag", nn.EmbeddingBag(1000, 256), torch.randint(0, 1000, (256, 16))
    yield "gather", lambda x, i: x.gather(1, i), ROWS, wide
    yield "index_select", lambda x, i: x.index_select(0, i), ROWS, ids
    yield "index_put", lambda x, i, y: x.index_put((i,), y), ROWS, ids, ROWS
    yield "scatter_add", lambda x, i, y: x.scatter_add(1, i, y), ROWS, wide, ROWS
    yield "topk 10", lambda x: x.topk(10)[0], ROWS
    yield "topk 10 of 50,000", lambda x: x.topk(10)[0], (1, 50000)
    yield "sort", lambda x: x.sort(-1)[0], ROWS
    yield "one_hot", lambda i: F.one_hot(i, 512), ids


def _others() -> Iterator[tuple]:
    heads = (1, 12, 256, 64)
    yield "attention", F.scaled_dot_product_attention, heads, heads, heads
    yield "lstm", nn.LSTM(128, 128, batch_first=True), (8, 32, 128)
    yield "gru", nn.GRU(128, 128, batch_first=True), (8, 32, 128)
    yield "rfft", lambda x: torch.view_as_real(torch.fft.rfft(x)), (64, 1024)
    window = torch.hann_window(400)
    yield (
        "stft",
        lambda x: torch.view_as_real(torch.stft(x, 400, 160, window=window, return_complex=True)),
        (1, 16000),
    )
    yield "cdist", torch.cdist, (256, 64), (256, 64)
