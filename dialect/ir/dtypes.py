"""Element types by NumPy-style name."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError, short_repr

_FLOATS = {"float16": ir.F16Type, "bfloat16": ir.BF16Type, "float32": ir.F32Type, "float64": ir.F64Type}
_INTS = {"bool": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
NAMES = (*_FLOATS, *_INTS)


def to_mlir(dtype: str) -> ir.Type:
    """`"float32"` -> `f32`. Errors: TirError for unknown and unsigned types."""
    if isinstance(dtype, str) and dtype in _FLOATS:
        return _FLOATS[dtype].get()
    if isinstance(dtype, str) and dtype in _INTS:
        return ir.IntegerType.get_signless(_INTS[dtype])
    said = f'"{dtype}"' if isinstance(dtype, str) else short_repr(dtype)
    raise TirError(f"dtype {said} is not supported; use one of {', '.join(NAMES)}")


def to_name(type_: ir.Type) -> str:
    """`f32` -> `"float32"`; `index` (loop variables, sizes) reads as `"int32"`; pointers as `"handle"`."""
    if isinstance(type_, ir.IndexType):
        return "int32"
    for name, cls in _FLOATS.items():
        if isinstance(type_, cls):
            return name
    if isinstance(type_, ir.IntegerType):
        for name, width in _INTS.items():
            if type_.width == width:
                return name
    if str(type_) == "!llvm.ptr":
        return "handle"
    raise TirError(f"type {type_} has no TensorIR name")


def is_float(dtype: str) -> bool:
    return dtype in _FLOATS


def bits(dtype: str) -> int:
    """Width in memory in bits; a bool takes a byte."""
    if dtype == "bool":
        return 8
    return int("".join(c for c in dtype if c.isdigit()))
