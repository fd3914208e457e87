"""Typed constants and types of TVM: `tvm.tir.const(1, "int64")`, `tvm.tir.IntImm`, `tvm.DataType`, `ForKind`."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.dialect.ir import dtypes

if TYPE_CHECKING:
    from tir_mlir.te import Expr


class DataType(str):
    """The name of an element type: `tvm.DataType("float16").bits` is 16."""

    def __new__(cls, name: object) -> DataType:
        text = str(getattr(name, "dtype", name))
        if text not in (*dtypes.NAMES, "handle", "void") and not dtypes.is_vector(text):
            raise ArgumentError(dtypes.refusal(f'"{text}"'))
        return super().__new__(cls, text)

    @property
    def bits(self) -> int:
        """The width of a lane: 1 for a bool, 64 for a handle."""
        if dtypes.element(self) in ("bool", "void"):
            return 0 if self == "void" else 1
        return 64 if self == "handle" else dtypes.bits(self)

    @property
    def lanes(self) -> int:
        """The number of lanes: 4 of `int8x4`, 1 of a scalar type."""
        return dtypes.lanes(self)

    @property
    def itemsize(self) -> int:
        """Bytes in memory."""
        return max(1, self.bits // 8) * self.lanes


class IntImm(int):
    """A typed integer; a subclass of int."""

    dtype: str

    def __new__(cls, dtype: str, value: int) -> IntImm:
        constant = super().__new__(cls, value)
        constant.dtype = str(DataType(dtype))
        return constant

    @property
    def value(self) -> int:
        """The Python integer."""
        return int(self)


class FloatImm(float):
    """A typed float; a subclass of float."""

    dtype: str

    def __new__(cls, dtype: str, value: float) -> FloatImm:
        constant = super().__new__(cls, value)
        constant.dtype = str(DataType(dtype))
        return constant

    @property
    def value(self) -> float:
        """The Python float."""
        return float(self)


def const(value: bool | int | float | np.generic, dtype: str | None = None) -> IntImm | FloatImm:
    """A typed constant; by default int32 for an int, float32 for a float, bool for a bool."""
    if isinstance(value, np.generic):
        dtype, value = dtype or value.dtype.name, value.item()
    if not isinstance(value, (bool, int, float)):
        raise ArgumentError(f"a constant must be a number, not {short_repr(value)}")
    if dtype is None:
        dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
    return FloatImm(dtype, value) if dtypes.is_float(DataType(dtype)) else IntImm(dtype, int(value))


def Cast(dtype: str, value: Expr | int | float) -> Expr:
    """Cast a value or a number to a type."""
    from tir_mlir.te import cast

    return cast(value, dtype)


class ForKind(IntEnum):
    """TVM's numbers for the kinds of loops; `sch.get(loop).kind` is equal to them."""

    SERIAL = 0
    PARALLEL = 1
    VECTORIZED = 2
    UNROLLED = 3
    THREAD_BINDING = 4
