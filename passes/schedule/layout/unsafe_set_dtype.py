"""unsafe_set_dtype: change the element type of an allocated buffer."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Block, attrs, convert, dtypes, edit, fold_conversion, signs
from tir_mlir.dialect.ir.op_traits import UNSIGNED, WIDENINGS
from tir_mlir.dialect.ir.op_views import DimOp, ElementAccessOp, ElementLoadOp, ElementStoreOp, StoreOp, SubviewOp, isa
from tir_mlir.passes.schedule.edits import find_buffer
from tir_mlir.passes.schedule.registry import check, copy_view, primitive, refuse, use_words


@primitive("unsafe_set_dtype", moves="in place", proves=False)
def unsafe_set_dtype(block: Block, buffer_index: int | str, dtype: str) -> None:
    """Change the element type of a buffer that a block writes; stores and loads convert.

        Y = T.alloc_buffer((n,), "float32")         Y = T.alloc_buffer((n,), "float16")
        Y[vi] = x                           ->      Y[vi] = T.Cast("float16", x)
        ... Y[vi] ...                               ... T.Cast("float32", Y[vi]) ...

    The name remains. If the new type represents every value of the old one, a widening cast of a loaded value applies
    to the new type directly: for int8 stored as int16, `T.Cast("int32", Y[vi])` is unchanged; stored as float32,
    `T.Cast("float32", Y[vi])` is `Y[vi]`. Unsafe: values are rounded to the new type, so the program may compute
    something else, and a reduction that rounds at every step depends on its order.

    Requires: the program allocates the buffer; it and its views (`T.match_buffer`) are only loaded and stored, not
    passed to a call by pointer. `buffer_index` is a position in `T.writes`, or a name.
    """
    buffer = find_buffer(block, buffer_index, attrs.WRITES)
    by_caller = f"{buffer.name} is a parameter of the function, whose type the caller chooses"
    check(buffer.is_alloc, block, f"{by_caller}; cache_write it and change the copy")
    try:
        new = dtypes.element_type(dtype)
    except TirError as error:
        refuse(block, str(error))
    views, users = _users(buffer.value, buffer.name)
    old = buffer.dtype
    if old == dtype:
        return
    for value in (buffer.value, *views):
        type_ = ir.MemRefType(value.type)
        edit.retype(value, ir.MemRefType.get(type_.shape, new, type_.layout, type_.memory_space))
    assert buffer.op is not None
    signs.declare(buffer.op, dtype)
    for user in users:
        if isa(user, ElementStoreOp):
            with ir.InsertionPoint(user), user.location:
                conversion = convert(StoreOp(user).value, dtype, old).owner
            edit.set_operand(user, 0, conversion.results[0])
            fold_conversion(conversion.operation)
        elif isa(user, ElementLoadOp):
            _convert_load(user, old, dtype)


def _users(value: ir.Value, name: str) -> tuple[list[ir.Value], list[ir.Operation]]:
    """The views of a buffer (T.match_buffer), and the loads and stores of it and of them. Refuses other users."""
    views: list[ir.Value] = []
    users: list[ir.Operation] = []
    for user in [use.owner.operation for use in value.uses]:
        if isa(user, SubviewOp):
            inner = _users(user.results[0], name)
            views += [user.results[0], *inner[0]]
            users += inner[1]
        elif isa(user, ElementAccessOp, DimOp):
            users.append(user)
        else:
            text = f"{name} is also used by {use_words(user)}, which cannot be converted; only loads and stores can"
            refuse(user, text, fix=copy_view(name))
    return views, users


def _convert_load(op: ir.Operation, old: str, new: str) -> None:
    value = op.results[0]
    uses = [(use.owner.operation, use.operand_number) for use in value.uses]
    edit.retype(value, dtypes.to_mlir(new))
    with ir.InsertionPoint.after(op), op.location:
        if dtypes.represents(new, old):
            widened = [owner for owner, _ in uses if _applies_to(owner, old, new)]
            uses = [use for use in uses if use[0] not in widened]
            for owner in widened:
                edit.replace_uses(owner.results[0], convert(value, signs.dtype_of(owner.results[0]) or ""))
                edit.drop(owner)
        if uses:
            back = convert(value, old)
            for owner, number in uses:
                edit.set_operand(owner, number, back)


def _applies_to(cast: ir.Operation, old: str, new: str) -> bool:
    """Whether a cast of a value of a type is one of the same value of a type that represents it: integers to any wider
    type, floats to types that represent the new one, which do not round."""
    if dtypes.is_float(old):
        names = {"arith.extf"}
    else:
        unsigned = frozenset(UNSIGNED.values())
        names = WIDENINGS & unsigned if dtypes.limits(old)[0] == 0 else WIDENINGS - unsigned
    result = signs.dtype_of(cast.results[0]) if cast.name in names else None
    return result is not None and (not dtypes.is_float(new) or dtypes.represents(result, new))
