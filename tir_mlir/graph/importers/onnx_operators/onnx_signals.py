"""Fourier transforms, as products with matrices of sines and cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import OnnxValue, axis_in, static_size
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, onnx_op

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

MAX_POINTS = 8192
"""The most points of a transform: the work grows with their square."""


def _matrices(n: int, outputs: int, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """cos and sin of 2 pi j k / n for j < n and k < outputs, divided by n for the inverse."""
    angles = 2 * np.pi / n * (np.outer(np.arange(n), np.arange(outputs)) % n)
    by = n if inverse else 1
    return np.cos(angles) / by, np.sin(angles) / by


def transform(e: OnnxEmitter, x: Value, n: int, inverse: bool, onesided: bool) -> Value:
    """x (.., n, 1 or 2) -> (.., n or n // 2 + 1, 2): the transform along the last axis but one, real and imaginary."""
    if not 0 < n <= MAX_POINTS:
        raise GraphError(f"a transform of {n} points is not supported\n  fix: 1 to {MAX_POINTS} points")
    cosine, sine = (e.constant(m, x.dtype) for m in _matrices(n, n // 2 + 1 if onesided else n, inverse))
    axis, shape = len(x.shape) - 1, x.shape[:-1]
    real = e.reshape(e.slice(x, axis, 0, 1), shape)
    rotated = e.op("matmul", real, sine)
    re, im = e.op("matmul", real, cosine), rotated if inverse else e.op("negative", rotated)
    if x.shape[-1] == 2:
        imaginary = e.reshape(e.slice(x, axis, 1, 2), shape)
        turned = e.op("matmul", imaginary, sine)
        re = e.op("subtract" if inverse else "add", re, turned)
        im = e.op("add", im, e.op("matmul", imaginary, cosine))
    return e.op("stack", re, im, axis=axis)


def _of_length(e: OnnxEmitter, x: Value, axis: int, n: int) -> Value:
    """x cut or filled up with zeros along an axis."""
    size = static_size(x.shape[axis], "the axis of a transform")
    if size > n:
        return e.slice(x, axis, 0, n)
    widths = [w for a in range(len(x.shape)) for w in ((0, n - size) if a == axis else (0, 0))]
    return x if size == n else e.op("nn.pad", x, pad_width=widths, pad_value=0)


@onnx_op("DFT")
def dft(
    e: OnnxEmitter,
    x: OnnxValue,
    length: Input = None,
    axis_input: Input = None,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
) -> Value:
    """The axis is an input since opset 20, the last but one by default. onesided: half of the result, or of the input
    of an inverse, is not stored."""
    if e.opset >= 20:
        axis = -2 if axis_input is None else e.known_integer(axis_input, "the axis of a DFT")
    x = e.value(x)
    rank, axis = len(x.shape), axis_in(axis, len(x.shape))
    size = static_size(x.shape[axis], "the axis of a transform")
    if inverse and onesided:
        n = 2 * (size - 1) if length is None else e.known_integer(length, "the length of a DFT")
        x = _full_spectrum(e, _of_length(e, x, axis, n // 2 + 1), axis, n)
    else:
        n = size if length is None else e.known_integer(length, "the length of a DFT")
        x = _of_length(e, x, axis, n)
    order = [*(a for a in range(rank - 1) if a != axis), axis, rank - 1]
    y = transform(e, e.permute(x, order), n, bool(inverse), bool(onesided and not inverse))
    y = e.permute(y, [order.index(a) for a in range(rank)])
    return e.slice(y, rank - 1, 0, 1) if inverse and onesided else y


def _full_spectrum(e: OnnxEmitter, x: Value, axis: int, n: int) -> Value:
    """The spectrum of a real signal from its half: the rest is the conjugate in reverse."""
    rest = e.op("take", x, np.arange((n - 1) // 2, 0, -1), axis=axis)
    sign = e.constant(np.array([1, -1]), x.dtype)
    return e.concat([x, e.op("multiply", rest, sign)], axis) if n > 2 else x


@onnx_op("STFT")
def stft(
    e: OnnxEmitter, signal: OnnxValue, step: OnnxValue, window: Input = None, length: Input = None, onesided: int = 1
) -> Value:
    """(batch, samples, 1 or 2) -> (batch, frames, bins, 2): transforms of frames, each `step` after the last one."""
    x, hop = e.value(signal), e.known_integer(step, "the step of an STFT")
    n = (
        static_size(window.shape[0], "the window of an STFT")
        if length is None and window is not None
        else e.known_integer(length, "the frame of an STFT")
    )
    samples = static_size(x.shape[1], "the samples of an STFT")
    frames = (samples - n) // hop + 1
    if hop < 1 or frames < 1:
        raise GraphError(
            f"frames of {n} with step {hop} of {samples} samples\n  fix: a step of at least 1, a longer signal"
        )
    positions = (np.arange(frames)[:, None] * hop + np.arange(n)).reshape(-1)
    x = e.op("take", x, positions, axis=1)
    x = e.reshape(x, (x.shape[0], frames, n, x.shape[-1]))
    if window is not None:
        x = e.op("multiply", x, e.reshape(e.value(window), (n, 1)))
    return transform(e, x, n, inverse=False, onesided=bool(onesided))
