"""Eager PyTorch, with the oneDNN and MKL of its wheel; results go to preallocated tensors where supported."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from contest import Contestant
from tir_mlir.target.host import machine_architecture, machine_features


def missing() -> str | None:
    return None if importlib.util.find_spec("torch") is not None else "torch is not installed: pip install torch"


def set_threads(number: int) -> None:
    _torch().set_num_threads(number)


def describe() -> str:
    return f"PyTorch {_torch().__version__}"


def product(a: np.ndarray, b: np.ndarray) -> Contestant:
    """torch.mm(a, b); a and b may be transposed views."""
    torch = _torch()
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    z = torch.empty(a.shape[0], b.shape[1], dtype=x.dtype)
    return Contestant(lambda: torch.mm(x, y, out=z), z.numpy)


def integer_product(a: np.ndarray, b: np.ndarray) -> Contestant:
    """The faster of two products of 8-bit integers, measured here.

    oneDNN's takes a as uint8 with zero point 128 and b packed before the calls, sums in int32 and returns float32,
    which is exact below 2**24. `torch._int_mm` takes both as they are and returns int32; it is a scalar loop on
    processors without VNNI.
    """
    return min((_packed_product(a, b), _plain_product(a, b)), key=lambda one: _seconds(one.call))


def _seconds(call: Callable[[], object], rounds: int = 5) -> float:
    """The least time of a few calls."""
    took = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return min(took)


def _plain_product(a: np.ndarray, b: np.ndarray) -> Contestant:
    torch = _torch()
    x, y = torch.from_numpy(a), torch.from_numpy(np.ascontiguousarray(b))
    z = torch.empty(a.shape[0], b.shape[1], dtype=torch.int32)
    return Contestant(lambda: torch._int_mm(x, y, out=z), z.numpy)


def _packed_product(a: np.ndarray, b: np.ndarray) -> Contestant:
    torch = _torch()
    _k, n = b.shape
    x = torch.from_numpy((a.astype(np.int16) + 128).astype(np.uint8))
    packed = torch.ops.onednn.qlinear_prepack(torch.from_numpy(np.ascontiguousarray(b.T)), list(x.shape))
    scales, zeros = torch.ones(n), torch.zeros(n, dtype=torch.int64)
    last: list[Any] = []

    def call() -> None:
        last[:] = [
            torch.ops.onednn.qlinear_pointwise(
                x, 1.0, 128, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
            )
        ]

    return Contestant(call, lambda: last[0].numpy().astype(np.int32))


def _saturates() -> bool:
    """Return whether oneDNN adds pairs of products of bytes in 16 bits, by `vpmaddubsw`: on x86 without VNNI. Its
    results of whole ranges are wrong there, and are not compared."""
    return machine_architecture() == "x86_64" and not machine_features() & {"avx512vnni", "avxvnni"}


def half_product(a: np.ndarray, b: np.ndarray) -> Contestant:
    """torch.mm of float16, or of bfloat16 given as bit patterns; the result is rounded to the same type."""
    torch = _torch()
    x, y = (torch.from_numpy(v.view(np.int16)).view(_half(v)) for v in (a, b))
    z = torch.empty(a.shape[0], b.shape[1], dtype=x.dtype)
    return Contestant(lambda: torch.mm(x, y, out=z), lambda: z.float().numpy())


def _half(array: np.ndarray) -> Any:
    return _torch().float16 if array.dtype == np.float16 else _torch().bfloat16


def convolution(x: np.ndarray, w: np.ndarray, stride: int, pad: int) -> Contestant:
    """torch.nn.functional.conv2d of an image in NCHW and weights in OIHW."""
    torch = _torch()
    image, weights = torch.from_numpy(x), torch.from_numpy(w)
    return _last(lambda: torch.nn.functional.conv2d(image, weights, stride=stride, padding=pad))


def integer_convolution(x: np.ndarray, w: np.ndarray, stride: int, pad: int, groups: int, step: float) -> Contestant:
    """oneDNN's convolution of uint8, channels last, by packed weights of int8, with a ReLU, times step, to uint8."""
    torch, ops = _torch(), _torch().ops.onednn
    image, kernel = torch.from_numpy(x).permute(0, 3, 1, 2), torch.from_numpy(w)
    window = [stride, stride], [pad, pad], [1, 1], groups
    scales, zeros = torch.ones(w.shape[0]), torch.zeros(w.shape[0], dtype=torch.int64)
    packed = ops.qconv_prepack(kernel, scales, 1.0, 0, *window, list(image.shape))
    last: list[Any] = []

    def call() -> None:
        last[:] = [
            ops.qconv2d_pointwise(
                image, 1.0, 0, packed, scales, zeros, None, *window, 1 / step, 0, torch.uint8, "relu", [], ""
            )
        ]

    return Contestant(call, None if _saturates() else lambda: last[0].permute(0, 2, 3, 1).numpy())


def softmax(x: np.ndarray) -> Contestant:
    torch = _torch()
    source, target = torch.from_numpy(x), torch.empty(x.shape)
    return Contestant(lambda: torch.softmax(source, -1, out=target), target.numpy)


def layer_norm(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, epsilon: float) -> Contestant:
    torch = _torch()
    source, weight, bias = (torch.from_numpy(v) for v in (x, scale, shift))
    return _last(lambda: torch.nn.functional.layer_norm(source, x.shape[-1:], weight, bias, epsilon))


def product_relu(a: np.ndarray, b: np.ndarray) -> Contestant:
    torch = _torch()
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    z = torch.empty(a.shape[0], b.shape[1])
    return Contestant(lambda: torch.relu_(torch.mm(x, y, out=z)), z.numpy)


def chain(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Contestant:
    """relu(x * y + z) * x - y, one operator at a time, in place after the first."""
    torch = _torch()
    a, b, c = (torch.from_numpy(v) for v in (x, y, z))
    out = torch.empty(x.shape)
    return Contestant(lambda: torch.mul(a, b, out=out).add_(c).relu_().mul_(a).sub_(b), out.numpy)


def transpose(x: np.ndarray) -> Contestant:
    torch = _torch()
    source, target = torch.from_numpy(x), torch.empty(x.shape[::-1])
    return Contestant(lambda: target.copy_(source.t()), target.numpy)


def rms_norm(x: np.ndarray, scale: np.ndarray) -> Contestant:
    torch = _torch()
    source, weight = torch.from_numpy(x), torch.from_numpy(scale)
    return _last(lambda: torch.nn.functional.rms_norm(source, x.shape[-1:], weight, 1e-5))


def product_gelu(a: np.ndarray, b: np.ndarray, bias: np.ndarray) -> Contestant:
    torch = _torch()
    x, y, z = (torch.from_numpy(v) for v in (a, b, bias))
    return _last(lambda: torch.nn.functional.gelu(torch.baddbmm(z, x, y)))


def depthwise(x: np.ndarray, w: np.ndarray) -> Contestant:
    """conv2d of an image in NCHW with one 3 x 3 window per channel and zero padding of 1."""
    torch = _torch()
    image, weights = torch.from_numpy(x), torch.from_numpy(w).unsqueeze(1)
    return _last(lambda: torch.nn.functional.conv2d(image, weights, padding=1, groups=w.shape[0]))


def integer_gemv(a: np.ndarray, x: np.ndarray) -> Contestant:
    """oneDNN's product of 8-bit integers with one row, see `integer_product`."""
    one = _packed_product(x[None], a.T)
    return Contestant(one.call, None if _saturates() else lambda: one.result()[0])  # pyright: ignore[reportOptionalCall]


def int4_gemv(q: np.ndarray, scales: np.ndarray, x: np.ndarray) -> Contestant:
    """PyTorch's product with packed 4-bit weights in groups of 32; a half byte q stands for (q - 8) * scale."""
    torch = _torch()
    stored = q.view(np.uint8)
    halves = np.stack([stored & 15, stored >> 4], axis=2).reshape(len(q), -1)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(torch.from_numpy(halves.astype(np.int32)), 2)
    scale = torch.from_numpy(np.ascontiguousarray(scales.T))
    groups, row = torch.stack([scale, torch.zeros_like(scale)], -1).contiguous(), torch.from_numpy(x.reshape(1, -1))
    last = _last(lambda: torch.ops.aten._weight_int4pack_mm_for_cpu(row, packed, 32, groups))
    return Contestant(last.call, lambda: last.result()[0])  # pyright: ignore[reportOptionalCall]


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> Contestant:
    torch = _torch()
    inputs = [torch.from_numpy(x)[None] for x in (q, k, v)]
    return _last(lambda: torch.nn.functional.scaled_dot_product_attention(*inputs)[0])


def operator(function: Callable[..., Any], inputs: Sequence[np.ndarray]) -> Contestant:
    """`function(torch, *tensors)`."""
    torch = _torch()
    tensors = [torch.from_numpy(x) for x in inputs]
    return _last(lambda: function(torch, *tensors))


def sparse_product(starts: np.ndarray, columns: np.ndarray, values: np.ndarray, x: np.ndarray) -> Contestant:
    torch = _torch()
    parts, vector = [torch.from_numpy(v) for v in (starts, columns, values)], torch.from_numpy(x)
    matrix = torch.sparse_csr_tensor(*parts, (len(x), len(x)), check_invariants=False)
    return _last(lambda: matrix @ vector)


def histogram(x: np.ndarray) -> Contestant:
    torch = _torch()
    data = torch.from_numpy(x)
    return _last(lambda: torch.bincount(data, minlength=256))


def scatter_add(x: np.ndarray, p: np.ndarray, rows: int) -> Contestant:
    torch = _torch()
    data, index = torch.from_numpy(x), torch.from_numpy(p)
    return _last(lambda: torch.zeros(rows, x.shape[1]).index_add_(0, index, data))


def cumulative(a: np.ndarray) -> Contestant:
    torch = _torch()
    source, target = torch.from_numpy(a), torch.empty(a.shape)
    return Contestant(lambda: torch.cumsum(source, 1, out=target), target.numpy)


def heat(a: np.ndarray, steps: int) -> Contestant:
    """A one-dimensional convolution for each time step."""
    torch = _torch()
    start, weights = torch.from_numpy(a), torch.tensor([[[0.25, 0.5, 0.25]]])
    u = start.clone()

    def call() -> None:
        u.copy_(start)
        for t in range(steps):
            u[(t + 1) % 2, 1:-1] = torch.nn.functional.conv1d(u[t % 2][None, None], weights)[0, 0]

    return Contestant(call, u.numpy)


def solve(lower: np.ndarray, b: np.ndarray) -> Contestant:
    torch = _torch()
    matrix, sides = torch.from_numpy(lower), torch.from_numpy(b)
    return _last(lambda: torch.linalg.solve_triangular(matrix, sides, upper=False))


def blur(x: np.ndarray) -> Contestant:
    """A convolution of the image in float32: PyTorch has none of bytes."""
    torch = _torch()
    image = torch.from_numpy(x)
    weights = torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]])[None, None] / 16
    return _last(lambda: torch.nn.functional.conv2d(image.float()[None, None], weights).add_(0.5).to(torch.uint8)[0, 0])


def half_size(x: np.ndarray) -> Contestant:
    return resize(x, (x.shape[0] // 2, x.shape[1] // 2))


def resize(x: np.ndarray, size: tuple[int, int]) -> Contestant:
    """Bilinear interpolation of bytes. Its result is not compared, as it rounds differently."""
    torch = _torch()
    image = torch.from_numpy(x)[None, None]
    found = _last(lambda: torch.nn.functional.interpolate(image, size=size, mode="bilinear"))
    return Contestant(found.call)


def top_k(x: np.ndarray, k: int) -> Contestant:
    torch = _torch()
    data = torch.from_numpy(x)
    found: list[Any] = []

    def call() -> None:
        found[:] = torch.topk(data, k)

    return Contestant(call, lambda: found[1].numpy())


def _last(call: Callable[[], Any]) -> Contestant:
    """A contestant for operators that allocate a new tensor per call."""
    found: list[Any] = []

    def keep() -> None:
        found[:] = [call()]

    return Contestant(keep, lambda: found[0].numpy())


@functools.cache
def _torch() -> Any:
    torch = importlib.import_module("torch")
    torch.set_grad_enabled(False)
    return torch
