"""Complex numbers, each tensor a pair of real ones: products, polar form, Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import fourier
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.emitter import Operand, axis_in, static_size

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@dataclass(frozen=True)
class Pair:
    """The real and the imaginary part of a tensor."""

    real: Any
    imaginary: Any

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.real.shape

    @property
    def dtype(self) -> str:
        """That of the parts."""
        return self.real.dtype


TABLE: dict[str, Callable[..., Any]] = {}
BY_PARTS = frozenset(
    "view.default reshape _unsafe_view flatten.using_ints unflatten.int unsqueeze squeeze.default squeeze.dim "
    "squeeze.dims transpose.int t permute movedim.int movedim.intlist expand cat stack repeat tile flip roll "
    "slice.Tensor select.int narrow split.Tensor split.sizes split_with_sizes chunk unbind.int index_select "
    "index.Tensor gather clone contiguous alias detach constant_pad_nd pad sum sum.dim_IntList mean mean.dim diagonal "
    "neg lift_fresh_copy slice_scatter select_scatter".split()
)
"""Operators that do the same to both parts."""


def on_pairs(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of pairs for operators, as `aten` does for others."""

    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        TABLE.update({f"aten.{name}": function for name in names})
        return function

    return put


def parts_of(e: TorchEmitter, x: Any, dtype: str) -> Pair:
    """Complex numbers of any: a pair as it is, of real ones the imaginary part is 0."""
    if isinstance(x, Pair):
        return x
    if isinstance(x, complex):
        return Pair(e.constant(x.real, dtype), e.constant(x.imag, dtype))
    real = e.cast(x, dtype)
    return Pair(real, e.broadcast(e.constant(0, dtype), real.shape))


def by_parts(e: TorchEmitter, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """A translation done to the real parts and to the imaginary ones."""
    dtype = next(v.dtype for v in _pairs(arguments))
    if arguments.get("value") is not None:  # what is padded with
        arguments = arguments | {"value": complex(arguments["value"])}
    results = [
        function(e, **{k: _part(e, v, name, dtype) for k, v in arguments.items()}) for name in ("real", "imaginary")
    ]
    if isinstance(results[0], (tuple, list)):
        return [Pair(a, b) for a, b in zip(*results, strict=True)]
    return Pair(*results)


def _pairs(arguments: Any) -> list[Pair]:
    values = arguments.values() if isinstance(arguments, dict) else arguments
    return [pair for v in values for pair in ([v] if isinstance(v, Pair) else _pairs(v) if isinstance(v, list) else [])]


def _part(e: TorchEmitter, value: Any, name: str, dtype: str) -> Any:
    if isinstance(value, complex):
        return value.real if name == "real" else value.imag
    if isinstance(value, list):
        return [_part(e, v, name, dtype) for v in value]
    if isinstance(value, Pair):
        return getattr(value, name)
    real = hasattr(value, "dtype") and str(value.dtype).startswith("float") and name == "imaginary"
    return e.broadcast(e.constant(0, dtype), value.shape) if real else value


@on_pairs("complex")
def pair(e: TorchEmitter, real: Value, imag: Value) -> Any:
    shape = e.shape
    return Pair(e.broadcast(real, shape), e.broadcast(imag, shape))


@on_pairs("view_as_complex", "view_as_complex_copy")
def from_last_axis(e: TorchEmitter, x: Value) -> Any:
    axis = len(x.shape) - 1
    return Pair(*(e.reshape(e.slice(x, axis, n, n + 1), x.shape[:-1]) for n in (0, 1)))


@on_pairs("view_as_real", "view_as_real_copy")
def to_last_axis(e: TorchEmitter, x: Pair) -> Value:
    return e.concat([e.reshape(p, (*x.shape, 1)) for p in (x.real, x.imaginary)], len(x.shape))


@on_pairs("real")
def real_part(e: TorchEmitter, x: Any) -> Any:
    return x.real if isinstance(x, Pair) else x


@on_pairs("imag")
def imaginary_part(e: TorchEmitter, x: Pair) -> Any:
    return x.imaginary


@on_pairs("conj", "_conj", "_conj_physical", "conj_physical")
def conjugate(e: TorchEmitter, x: Pair) -> Any:
    return Pair(x.real, e.op("negative", x.imaginary))


@on_pairs("resolve_conj", "resolve_neg")
def resolve_conj_and_neg(e: TorchEmitter, x: Pair) -> Any:
    return x


@on_pairs("abs")
def size(e: TorchEmitter, x: Pair) -> Any:
    return e.op("hypot", x.real, x.imaginary)


@on_pairs("angle")
def angle(e: TorchEmitter, x: Pair) -> Value:
    return e.op("atan2", x.imaginary, x.real)


@on_pairs("polar")
def polar(e: TorchEmitter, abs: Operand, angle: Operand) -> Any:
    return Pair(e.op("multiply", abs, e.op("cos", angle)), e.op("multiply", abs, e.op("sin", angle)))


@on_pairs("exp")
def exponential(e: TorchEmitter, x: Pair) -> Any:
    return polar(e, e.op("exp", x.real), x.imaginary)


@on_pairs("mul.Tensor", "mul.Scalar", "mul")
def multiply(e: TorchEmitter, x: Any, other: Value) -> Any:
    if not isinstance(x, Pair):
        x, other = other, x
    if not isinstance(other, (Pair, complex)):
        return Pair(*(e.binary("multiply", p, other, x.dtype) for p in (x.real, x.imaginary)))
    factor = parts_of(e, other, x.dtype)
    return Pair(*fourier.product(e, (x.real, x.imaginary), (factor.real, factor.imaginary)))


@on_pairs("div.Tensor", "div.Scalar", "div")
def divide(e: TorchEmitter, x: Any, other: Value) -> Any:
    if not isinstance(other, (Pair, complex)):
        return Pair(*(e.binary("divide", p, other, x.dtype) for p in (x.real, x.imaginary)))
    by = parts_of(e, other, x.dtype)
    square = e.op("add", e.op("multiply", by.real, by.real), e.op("multiply", by.imaginary, by.imaginary))
    top = multiply(e, parts_of(e, x, by.dtype), conjugate(e, by))
    return Pair(*(e.op("divide", p, square) for p in (top.real, top.imaginary)))


@on_pairs("add.Tensor", "sub.Tensor")
def sum_of_pairs(e: TorchEmitter, x: Any, other: Any, alpha: int = 1) -> Any:
    if alpha != 1:
        raise GraphError(f"alpha={alpha} of complex numbers\n  fix: multiply first")
    dtype = (x if isinstance(x, Pair) else other).dtype
    a, b = parts_of(e, x, dtype), parts_of(e, other, dtype)
    kind = "add" if ".add." in str(e.node.target) else "subtract"
    return Pair(e.op(kind, a.real, b.real), e.op(kind, a.imaginary, b.imaginary))


@on_pairs("mm", "bmm", "matmul")
def matrix_product(e: TorchEmitter, x: Any, other: Any = None, mat2: Any = None) -> Any:
    right = mat2 if other is None else other
    dtype = (x if isinstance(x, Pair) else right).dtype
    a, b = parts_of(e, x, dtype), parts_of(e, right, dtype)

    def times(left: Any, by: Any) -> Any:
        return e.op("matmul", left, by)

    real = e.op("subtract", times(a.real, b.real), times(a.imaginary, b.imaginary))
    return Pair(real, e.op("add", times(a.real, b.imaginary), times(a.imaginary, b.real)))


@on_pairs("_to_copy", "to.dtype")
def to_complex(e: TorchEmitter, x: Any, dtype: Any = None) -> Any:
    """A real tensor as complex numbers; complex ones as real are their real part."""
    pair = parts_of(e, x, e.dtype)
    return Pair(e.cast(pair.real, e.dtype), e.cast(pair.imaginary, e.dtype))


def _scale(sizes: list[int], normalization: int) -> float:
    """0: none, 1: by the root of the number of elements, 2: by the number."""
    count = math.prod(sizes)
    return {0: 1.0, 1: 1 / math.sqrt(count), 2: 1 / count}[normalization]


def _axes(x: Any, dim: Any) -> tuple[list[int], list[int]]:
    axes = [axis_in(d, len(x.shape)) for d in dim]
    return axes, [static_size(x.shape[a], "the size of a Fourier transform") for a in axes]


@on_pairs("_fft_c2c")
def fft(e: TorchEmitter, x: Pair, dim: Any, normalization: int, forward: bool) -> Any:
    axes, sizes = _axes(x, dim)
    return Pair(*fourier.transform(e, (x.real, x.imaginary), axes, forward, _scale(sizes, normalization)))


@on_pairs("_fft_r2c")
def fft_of_real(e: TorchEmitter, x: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    axes, sizes = _axes(x, dim)
    if onesided:
        parts = fourier.half_of_real(e, x, axes[-1])
    else:
        parts = fourier.transform(e, (x, None), axes[-1:], True, 1)
    return Pair(*fourier.transform(e, parts, axes[:-1], True, _scale(sizes, normalization)))


@on_pairs("_fft_c2r")
def real_fft(e: TorchEmitter, x: Pair, dim: Any, normalization: int, last_dim_size: int) -> Any:
    axes, sizes = _axes(x, dim)
    length = static_size(last_dim_size, "the size of a Fourier transform")
    parts = fourier.transform(e, (x.real, x.imaginary), axes[:-1], False, 1)
    real = fourier.real_part_of_inverse(e, parts, axes[-1], length)
    scale = _scale([*sizes[:-1], length], normalization)
    return real if scale == 1 else e.multiply(real, scale)
