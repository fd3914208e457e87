"""Tensor types: a shape of numbers and named sizes, and an element type by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import dtypes


@dataclass(frozen=True)
class TensorType:
    """A shape, in which a size is a number or an expression of sizes as text ("n + 1"), and an element type."""

    shape: tuple[int | str, ...]
    dtype: str

    @property
    def mlir(self) -> ir.RankedTensorType:
        unknown = ir.ShapedType.get_dynamic_size()
        sizes = [size if isinstance(size, int) else unknown for size in self.shape]
        return ir.RankedTensorType.get(sizes, dtypes.element_type(self.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_symbolic(self) -> bool:
        return any(isinstance(size, str) for size in self.shape)

    @property
    def is_unsigned(self) -> bool:
        return self.dtype.startswith("u")

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.shape))}{',' * (len(self.shape) == 1)}) {self.dtype}"


def read_type(type_: ir.Type, shape: Sequence[int | str] | None, dtype: str | None) -> TensorType:
    """The type of a value, with what the attributes beside it add."""
    ranked = ir.RankedTensorType(type_)
    return TensorType(tuple(shape or ranked.shape), dtype or dtypes.to_name(ranked.element_type))
