"""Complex numbers, each tensor a pair of real ones: products, polar form, Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import Value
from tir_mlir.graph.importers import fourier
from tir_mlir.graph.importers.aten.aten_table import Translation
from tir_mlir.graph.importers.aten.torch_emitter import Term, TorchEmitter
from tir_mlir.graph.importers.emitter import axis_in, static_size


@dataclass(frozen=True)
class Pair:
    """The real and the imaginary part of a tensor. joined: both along a last axis, where that costs no copy."""

    real: Value
    imaginary: Value
    joined: Value | None = None

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.real.shape

    @property
    def dtype(self) -> str:
        """That of the parts."""
        return self.real.dtype


ComplexTerm: TypeAlias = "Pair | Term | complex"
"""What operators of complex numbers take: pairs, real tensors and numbers."""
OfPairs = TypeVar("OfPairs", bound="Callable[..., Pair | Value]")
TABLE: dict[str, Callable[..., Pair | Value]] = {}
BY_PARTS = frozenset(
    "view.default reshape _unsafe_view flatten.using_ints unflatten.int unsqueeze squeeze.default squeeze.dim "
    "squeeze.dims transpose.int t permute movedim.int movedim.intlist expand cat stack repeat tile flip roll "
    "slice.Tensor select.int narrow split.Tensor split.sizes split_with_sizes chunk unbind.int index_select "
    "index.Tensor gather clone contiguous alias detach constant_pad_nd pad sum sum.dim_IntList mean mean.dim diagonal "
    "neg lift_fresh_copy slice_scatter select_scatter".split()
)
"""Operators that do the same to both parts."""


def on_pairs(*names: str) -> Callable[[OfPairs], OfPairs]:
    """Register a function of pairs for operators, as `aten` does for others."""

    def put(function: OfPairs) -> OfPairs:
        TABLE.update({f"aten.{name}": function for name in names})
        return function

    return put


def parts_of(e: TorchEmitter, x: ComplexTerm, dtype: str) -> Pair:
    """Complex numbers of any: a pair as it is, of real ones the imaginary part is 0."""
    if isinstance(x, Pair):
        return x
    if isinstance(x, complex):
        return Pair(e.constant(x.real, dtype), e.constant(x.imag, dtype))
    real = e.cast(x, dtype)
    return Pair(real, e.broadcast(e.constant(0, dtype), real.shape))


def by_parts(e: TorchEmitter, function: Translation, arguments: dict[str, Any]) -> Pair | list[Pair]:
    """A translation done to the real parts and to the imaginary ones."""
    dtype = next(v.dtype for v in _pairs(arguments.values()))
    if arguments.get("value") is not None:  # what is padded with
        arguments = arguments | {"value": complex(arguments["value"])}
    real, imaginary = (
        function(e, **{k: _part(e, v, name, dtype) for k, v in arguments.items()}) for name in ("real", "imaginary")
    )
    if isinstance(real, Value) and isinstance(imaginary, Value):
        return Pair(real, imaginary)
    assert isinstance(real, Sequence) and isinstance(imaginary, Sequence)
    return [Pair(a, b) for a, b in zip(real, imaginary, strict=True) if a is not None and b is not None]


def _pairs(values: Iterable[object]) -> list[Pair]:
    return [pair for v in values for pair in ([v] if isinstance(v, Pair) else _pairs(v) if isinstance(v, list) else [])]


def _part(e: TorchEmitter, value: object, name: str, dtype: str) -> object:
    if isinstance(value, complex):
        return value.real if name == "real" else value.imag
    if isinstance(value, list):
        return [_part(e, v, name, dtype) for v in value]
    if isinstance(value, Pair):
        return getattr(value, name)
    if isinstance(value, Value) and value.dtype.startswith("float") and name == "imaginary":
        return e.broadcast(e.constant(0, dtype), value.shape)
    return value


@on_pairs("complex")
def pair(e: TorchEmitter, real: Value, imag: Value) -> Pair:
    shape = e.shape
    return Pair(e.broadcast(real, shape), e.broadcast(imag, shape))


@on_pairs("view_as_complex", "view_as_complex_copy")
def from_last_axis(e: TorchEmitter, x: Value) -> Pair:
    axis = len(x.shape) - 1
    return Pair(*(e.reshape(e.slice(x, axis, n, n + 1), x.shape[:-1]) for n in (0, 1)))


@on_pairs("view_as_real", "view_as_real_copy")
def to_last_axis(e: TorchEmitter, x: Pair) -> Value:
    if x.joined is not None:
        return x.joined
    return e.concat([e.reshape(p, (*x.shape, 1)) for p in (x.real, x.imaginary)], len(x.shape))


@on_pairs("real")
def real_part(e: TorchEmitter, x: Pair | Value) -> Value:
    return x.real if isinstance(x, Pair) else x


@on_pairs("imag")
def imaginary_part(e: TorchEmitter, x: Pair) -> Value:
    return x.imaginary


@on_pairs("conj", "_conj", "_conj_physical", "conj_physical")
def conjugate(e: TorchEmitter, x: Pair) -> Pair:
    return Pair(x.real, e.op("negative", x.imaginary))


@on_pairs("resolve_conj", "resolve_neg")
def resolve_conj_and_neg(e: TorchEmitter, x: Pair) -> Pair:
    return x


@on_pairs("abs")
def size(e: TorchEmitter, x: Pair) -> Value:
    return e.op("hypot", x.real, x.imaginary)


@on_pairs("angle")
def angle(e: TorchEmitter, x: Pair) -> Value:
    return e.op("atan2", x.imaginary, x.real)


@on_pairs("polar")
def polar(e: TorchEmitter, abs: Value, angle: Value) -> Pair:
    return Pair(e.op("multiply", abs, e.op("cos", angle)), e.op("multiply", abs, e.op("sin", angle)))


@on_pairs("exp")
def exponential(e: TorchEmitter, x: Pair) -> Pair:
    return polar(e, e.op("exp", x.real), x.imaginary)


@on_pairs("mul.Tensor", "mul.Scalar", "mul")
def multiply(e: TorchEmitter, x: ComplexTerm, other: ComplexTerm) -> Pair:
    if not isinstance(x, Pair):
        return multiply(e, parts_of(e, other, e.dtype), x)
    if not isinstance(other, (Pair, complex)):
        return Pair(*(e.binary("multiply", p, other, x.dtype) for p in (x.real, x.imaginary)))
    factor = parts_of(e, other, x.dtype)
    return Pair(*fourier.product(e, (x.real, x.imaginary), (factor.real, factor.imaginary)))


@on_pairs("div.Tensor", "div.Scalar", "div")
def divide(e: TorchEmitter, x: ComplexTerm, other: ComplexTerm) -> Pair:
    if isinstance(x, Pair) and not isinstance(other, (Pair, complex)):
        return Pair(*(e.binary("divide", p, other, x.dtype) for p in (x.real, x.imaginary)))
    by = parts_of(e, other, e.dtype)
    square = e.op("add", e.op("multiply", by.real, by.real), e.op("multiply", by.imaginary, by.imaginary))
    top = multiply(e, parts_of(e, x, by.dtype), conjugate(e, by))
    return Pair(*(e.op("divide", p, square) for p in (top.real, top.imaginary)))


@on_pairs("add.Tensor", "sub.Tensor")
def sum_of_pairs(e: TorchEmitter, x: ComplexTerm, other: ComplexTerm, alpha: int = 1) -> Pair:
    if alpha != 1:
        raise GraphError(f"alpha={alpha} of complex numbers\n  fix: multiply first")
    a, b = parts_of(e, x, e.dtype), parts_of(e, other, e.dtype)
    kind = "add" if ".add." in str(e.node.target) else "subtract"
    return Pair(e.op(kind, a.real, b.real), e.op(kind, a.imaginary, b.imaginary))


@on_pairs("mm", "bmm", "matmul")
def matrix_product(e: TorchEmitter, x: ComplexTerm, other: ComplexTerm = 0, mat2: ComplexTerm | None = None) -> Pair:
    a, b = parts_of(e, x, e.dtype), parts_of(e, other if mat2 is None else mat2, e.dtype)
    real = e.op("subtract", e.op("matmul", a.real, b.real), e.op("matmul", a.imaginary, b.imaginary))
    return Pair(real, e.op("add", e.op("matmul", a.real, b.imaginary), e.op("matmul", a.imaginary, b.real)))


@on_pairs("_to_copy", "to.dtype")
def to_complex(e: TorchEmitter, x: Pair | Value, dtype: str | None = None) -> Pair:
    """A real tensor as complex numbers; complex ones as real are their real part."""
    pair = parts_of(e, x, e.dtype)
    return Pair(e.cast(pair.real, e.dtype), e.cast(pair.imaginary, e.dtype))


def _scale(sizes: list[int], normalization: int) -> float:
    """0: none, 1: by the root of the number of elements, 2: by the number."""
    count = math.prod(sizes)
    return {0: 1.0, 1: 1 / math.sqrt(count), 2: 1 / count}[normalization]


def _axes(x: Pair | Value, dim: Sequence[int]) -> tuple[list[int], list[int]]:
    axes = [axis_in(d, len(x.shape)) for d in dim]
    return axes, [static_size(x.shape[a], "the size of a Fourier transform") for a in axes]


@on_pairs("_fft_c2c")
def fft(e: TorchEmitter, x: Pair, dim: Sequence[int], normalization: int, forward: bool) -> Pair:
    axes, sizes = _axes(x, dim)
    return Pair(*fourier.transform(e, (x.real, x.imaginary), axes, forward, _scale(sizes, normalization)))


@on_pairs("_fft_r2c")
def fft_of_real(e: TorchEmitter, x: Value, dim: Sequence[int], normalization: int, onesided: bool) -> Pair:
    axes, sizes = _axes(x, dim)
    if onesided and axes == [len(x.shape) - 1] and _scale(sizes, normalization) == 1:
        real, imaginary = fourier.half_of_real(e, x, axes[-1])
        return Pair(real, imaginary, fourier.joined_half_of_real(e, x))
    if onesided:
        parts = fourier.half_of_real(e, x, axes[-1])
    else:
        parts = fourier.transform(e, (x,), axes[-1:], True, 1)
    return Pair(*fourier.transform(e, parts, axes[:-1], True, _scale(sizes, normalization)))


@on_pairs("_fft_c2r")
def real_fft(e: TorchEmitter, x: Pair, dim: Sequence[int], normalization: int, last_dim_size: int) -> Value:
    axes, sizes = _axes(x, dim)
    length = static_size(last_dim_size, "the size of a Fourier transform")
    parts = fourier.transform(e, (x.real, x.imaginary), axes[:-1], False, 1)
    real = fourier.real_part_of_inverse(e, parts, axes[-1], length)
    scale = _scale([*sizes[:-1], length], normalization)
    return real if scale == 1 else e.multiply(real, scale)
