"""Unsigned integers: which op computes them, and which values are unsigned.

MLIR's arith is signless. Where a sign changes the result it is in the op (`divui`, `cmpi ult`, `extui`); where it does
not (a buffer, a parameter, the result of a cast) the attribute `tir.dtype` holds the unsigned type. So the ops alone
determine what a program computes; `tir.dtype` determines how it prints and which arrays it takes.
"""

from __future__ import annotations

from math import prod

from mlir import ir

from tir_mlir.dialect.ir import attrs, dtypes
from tir_mlir.dialect.ir.op_traits import (
    LANES,
    SIGNLESS,
    UNSIGNED,
    WIDENINGS,
    accessed_memref,
)
from tir_mlir.dialect.ir.op_views import (
    ByteViewOp,
    CompareIntegersOp,
    ConstantOp,
    FuncOp,
    IfOp,
    IndexCastOp,
    LoadOp,
    PointerOp,
    SelectOp,
    ViewLikeOp,
    isa,
)

_UNSIGNED_OPS = frozenset(UNSIGNED.values())
_UNSIGNED_RESULT = _UNSIGNED_OPS - IndexCastOp.names - WIDENINGS
_ULT, _SLT, _SGE = 6, 2, 5
_MARKED = 4  # the distance of an unsigned predicate of cmpi from the signed one


def op_for(op: str, dtype: str) -> str:
    """The op of a type: `arith.divsi` -> `arith.divui` for uint8."""
    return UNSIGNED.get(op, op) if dtypes.is_unsigned(dtype) else op


def predicate_for(number: int, dtype: str) -> int:
    """The `arith.cmpi` predicate of a type: `slt` -> `ult` for uint8, and for bool, of which True is -1 if signed."""
    plain = dtypes.is_unsigned(dtype) or dtypes.element(dtype) == "bool"
    return number + _MARKED if plain and _SLT <= number <= _SGE else number


def signed_predicate(number: int) -> tuple[int, bool]:
    """The signed form of an `arith.cmpi` predicate, and whether it is unsigned."""
    return (number - _MARKED, True) if number >= _ULT else (number, False)


def mark(value: ir.Value, dtype: str) -> ir.Value:
    """Record that a value has an unsigned type, unless its op says so. Returns the value."""
    if dtypes.is_unsigned(dtype) and not isinstance(value.owner, ir.Block) and not isa(value.owner, ConstantOp):
        if dtype_of(value) != dtype:
            value.owner.attributes[attrs.DTYPE] = ir.StringAttr.get(dtype)
    return value


def declare(op: ir.Operation | ir.OpView, dtype: str) -> None:
    """Set the type of an allocation, or of a value, that its MLIR type does not show."""
    attrs.put(op, attrs.DTYPE, dtype if dtypes.is_unsigned(dtype) else None)


def operand_sign(op: ir.Operation) -> bool | None:
    """Whether an op reads its integer operands as unsigned (True) or signed (False); None if it reads bits."""
    name = op.name
    if name in _UNSIGNED_OPS:
        return True
    if name in CompareIntegersOp.names:
        number = ir.IntegerAttr(op.attributes["predicate"]).value
        return None if number < _SLT else number >= _ULT
    return False if name in UNSIGNED else None


def operand_dtype(op: ir.Operation) -> str | None:
    """The type of the integer operands of an op: by its sign, else that of the first operand that has one."""
    if op.name in SIGNLESS:
        return dtype_of(op.results[0])
    values = list(op.operands)
    type_ = values[-1].type if values else ir.NoneType.get()
    if not is_integer(type_):
        return None
    sign = operand_sign(op)
    if sign is None:
        return _first_dtype(values)
    return ("u" if sign else "") + dtypes.to_name(type_)


def dtype_of(value: ir.Value) -> str | None:
    """The TensorIR type of a value; None for a constant integer, and for sums and choices of these: it has the type of
    what it is used with."""
    type_ = value.type
    if not is_integer(type_):
        return dtypes.to_name(type_)
    owner = value.owner
    if isinstance(owner, ir.Block):
        return dtypes.with_sign_of(type_, _parameter_dtype(value))
    op = owner.operation
    if attrs.DTYPE in op.attributes:
        return dtypes.with_sign_of(type_, attrs.get(op, attrs.DTYPE))
    name = op.name
    if name in ConstantOp.names:
        return None
    if name in LoadOp.names:
        return dtypes.with_lanes(buffer_dtype(accessed_memref(op)), _lanes(type_))
    if name in LANES:
        dtype = _first_dtype(list(op.operands))
        return None if dtype is None else dtypes.with_lanes(dtype, _lanes(type_))
    if name in _UNSIGNED_RESULT:
        return f"u{dtypes.to_name(type_)}"
    if name in SIGNLESS:
        return _first_dtype(list(op.operands)[name in SelectOp.names :])
    if name in IfOp.names:
        number = ir.OpResult(value).result_number
        return _first_dtype([list(region.blocks[0].operations)[-1].operands[number] for region in op.regions])
    return dtypes.to_name(type_)


def is_integer(type_: ir.Type) -> bool:
    """Whether a value has a sign: an integer of more than one bit, or a vector of them."""
    type_ = type_.element_type if isinstance(type_, ir.VectorType) else type_
    return isinstance(type_, ir.IntegerType) and type_.width > 1


def _lanes(type_: ir.Type) -> int:
    return prod(type_.shape) if isinstance(type_, ir.VectorType) else 1


def _first_dtype(values: list[ir.Value]) -> str | None:
    """The type of the first value that has one."""
    return next((dtype for dtype in map(dtype_of, values) if dtype is not None), None)


def buffer_dtype(memref: ir.Value) -> str:
    """The element type of a buffer: that of the parameter or allocation behind its views."""
    type_ = ir.MemRefType(memref.type).element_type
    if not isinstance(type_, ir.IntegerType) or type_.width == 1:
        return dtypes.to_name(type_)
    owner = memref.owner
    while not isinstance(owner, ir.Block) and attrs.DTYPE not in owner.attributes and _is_view(owner.operation):
        memref = ViewLikeOp(owner.operation).source
        owner = memref.owner
    if isinstance(owner, ir.Block):
        return dtypes.with_sign_of(type_, _parameter_dtype(memref))
    return dtypes.with_sign_of(type_, attrs.get(owner, attrs.DTYPE))


def _parameter_dtype(argument: ir.Value) -> str | None:
    """What a parameter of a function declares; None for other block arguments."""
    op = ir.BlockArgument(argument).owner.owner.operation
    number = ir.BlockArgument(argument).arg_number
    return attrs.argument_attributes(op, number).get(attrs.DTYPE) if isa(op, FuncOp) else None


def _is_view(op: ir.Operation) -> bool:
    return (isa(op, ViewLikeOp, PointerOp)) and not isa(op, ByteViewOp)  # which has a type of its own
