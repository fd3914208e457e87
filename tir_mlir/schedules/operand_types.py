"""The types in which products read their operands, and copies in the type of the sums."""

from __future__ import annotations

from collections.abc import Collection

from mlir import ir

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, Buffer, defining_op, dtypes, ops, signs
from tir_mlir.dialect.ir.op_traits import PRODUCTS, SUMS, WIDENINGS, accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, CastBaseOp, ElementLoadOp, StoreOp, isa
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.handles import BlockHandle
from tir_mlir.schedules.block_queries import block_info


def reads_only_as(block: Block, name: str, dtype: str) -> bool:
    """Whether a block uses the elements of a buffer only cast to a type, which represents all of their values: it then
    computes the same from copies of that type.

        T.Cast("int32", A[..]) of int8                 as int32
        T.Cast("int32", A[..]) of float32, A[..] < 1   not: as int32, or without the cast, it is another value
    """
    loads = [op for op in ops(block.op) if isa(op, ElementLoadOp) and _name(op) == name]
    users = [use.owner.operation for load in loads for use in load.results[0].uses]
    return bool(users) and all(_widens(user, dtype) for user in users)


def is_product(block: Block, operands: Collection[str], out: str, dtype: str) -> bool:
    """Whether a block adds products of an element of each operand, cast to the type of the sum: all that instructions
    that multiply and add compute.

        C[..] = C[..] + T.Cast("int32", A[..]) * T.Cast("int32", B[..])
    """
    stores = [op for op in block.body_ops() if isa(op, AffineStoreOp)]
    if len(stores) != 1 or _name(stores[0]) != out:
        return False
    total = defining_op(StoreOp(stores[0]).value)
    if total is None or total.name not in SUMS:
        return False
    added = [defining_op(v) for v in total.operands]
    products = [op for op in added if op is not None and op.name in PRODUCTS]
    others = [op for op in added if op not in products]
    if len(products) != 1 or not others or _element(others[0], dtype) != out:
        return False
    factors = [_element(defining_op(v), dtype) for v in products[0].operands]
    return sorted(map(str, factors)) == sorted(operands)


def store_as(sch: Schedule, copy: BlockHandle, dtype: str) -> None:
    """Change the type of what a copy stores. Raises ScheduleError unless the type represents every value of its own:
    no other schedule of the library takes an `unsafe_*` step.

        A_packed = T.alloc_buffer(.., "int8")          A_packed = T.alloc_buffer(.., "int32")
        A_packed[..] = A[..]                     ->    A_packed[..] = T.Cast("int32", A[..])
        .. T.Cast("int32", A_packed[..]) ..            .. A_packed[..] ..
    """
    stored_dtype = block_info(sch, copy).writes[0].buffer.dtype
    if not dtypes.represents(dtype, stored_dtype):
        raise ScheduleError(
            f"{dtype} does not represent every value of {stored_dtype}, so a copy cannot be stored in it"
        )
    sch.unsafe_set_dtype(copy, 0, dtype)


def _name(access: ir.Operation) -> str:
    return Buffer(accessed_memref(access)).name


def _widens(op: ir.Operation, dtype: str) -> bool:
    """Whether an op casts its operand to a type that represents every value of it."""
    if op.name not in WIDENINGS or signs.dtype_of(op.results[0]) != dtype:
        return False
    source = signs.dtype_of(CastBaseOp(op).source)
    return source is not None and dtypes.represents(dtype, source)


def _element(op: ir.Operation | None, dtype: str) -> str | None:
    """The buffer of an element of a type, or of one that is cast to a type that represents every value of its own."""
    if op is not None and _widens(op, dtype):
        op = defining_op(CastBaseOp(op).source)
    elif op is not None and signs.dtype_of(op.results[0]) != dtype:
        return None
    return _name(op) if op is not None and isa(op, AffineLoadOp) else None
