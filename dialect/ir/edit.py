"""IR edits that are safe with the Python bindings: rebuilding, substitution, constant folding, cloning, erasure."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.constants import float_constants
from tir_mlir.dialect.ir import attrs, dtypes, signs
from tir_mlir.dialect.ir.index import Constraint, Index, emit_map, is_apply, read_apply, read_map
from tir_mlir.dialect.ir.memo import touch, touch_declaration, touch_users
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND, TO_FLOAT, is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    AffineForOp,
    AffineIfOp,
    AffineOp,
    AffineParallelOp,
    ApplyOp,
    BitcastOp,
    CastBaseOp,
    ConstantOp,
    FuncOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.ir.views import Loop, is_declaration, is_init, is_loop, is_size, is_where, parent_op
from tir_mlir.dialect.ir.walk import constraints, is_inside, ops, used_outside

_COMPUTED: dict[str, Callable[..., Any]] = {
    "arith.addf": operator.add, "arith.subf": operator.sub, "arith.mulf": operator.mul,
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
    "arith.maximumf": float_constants.maximum, "arith.maxnumf": float_constants.maximum, "arith.maxsi": max,
    "arith.minimumf": float_constants.minimum, "arith.minnumf": float_constants.minimum, "arith.minsi": min,
    "arith.extf": float, "arith.truncf": float, "arith.sitofp": float, "arith.extsi": int, "arith.trunci": int,
    "arith.fptosi": int, "arith.index_cast": int, "arith.uitofp": float, "arith.extui": int, "arith.fptoui": int,
    "arith.bitcast": int,
}  # fmt: skip


def fold_known(root: ir.Operation) -> None:
    """Fold branches and operations under `root` whose result is now constant, as the parser does."""
    fold_choices(root)
    fold_constants(root)


def fold_constants(root: ir.Operation) -> None:
    """Fold every operation on constants under `root`, if its type can represent the result."""
    for op in ops(root):
        _fold(op)


def fold_conversion(op: ir.Operation) -> None:
    """Fold a conversion, or chain of conversions, of a constant."""
    operand = CastBaseOp(op).source.owner
    if not isinstance(operand, ir.Block) and operand.name in _COMPUTED and len(operand.operands) == 1:
        fold_conversion(operand.operation)
    _fold(op)


def _fold(op: ir.Operation) -> None:
    if op.name not in _COMPUTED or isinstance(op.results[0].type, ir.IndexType):
        return
    if isa(op, BitcastOp) and not all(isinstance(v.type, ir.IntegerType) for v in (*op.operands, *op.results)):
        return
    operands = [_constant(v, signs.operand_sign(op) is True) for v in op.operands]
    if None in operands or not all(math.isfinite(g) for g in operands):  # type: ignore[arg-type]
        return
    if op.name in TO_FLOAT and abs(operands[0]) > 1 << 53:  # type: ignore[arg-type]
        return  # a Python float would round it once more
    value = _COMPUTED[op.name](*operands)
    type_ = op.results[0].type
    dtype = signs.dtype_of(op.results[0]) or dtypes.to_name(type_)
    if not (math.isfinite(value) if dtypes.is_float(dtype) else dtypes.fits(value, dtype)):
        return
    touch(op)
    with ir.InsertionPoint(op), op.location:
        folded = arith.constant(type_, value if dtypes.is_float(dtype) else dtypes.as_signed(value, dtype))
    replace_uses(op.results[0], folded)
    erase(op)


def _constant(value: ir.Value, unsigned: bool) -> float | int | None:
    if is_apply(value):
        return read_apply(value).as_constant()  # an index that became constant
    if defining_op(value, ConstantOp) is None:
        return None
    attribute = value.owner.attributes["value"]
    if isinstance(attribute, ir.IntegerAttr) and unsigned:
        return dtypes.as_typed(attribute.value, f"u{dtypes.to_name(value.type)}")
    return attribute.value if isinstance(attribute, ir.FloatAttr | ir.IntegerAttr) else None


_SEGMENTS = frozenset({"operandSegmentSizes"})


def rebuild(op: ir.Operation, operands: Sequence[ir.Value], changes: Mapping[str, ir.Attribute]) -> ir.Operation:
    """Replace an op by one with other operands and attributes; bodies are moved, ids and locations kept.

    Without a new op if there are as many operands: to list the attributes of an op takes long.
    """
    touch(op)
    facts, listed = op.attributes, op.operands
    if len(listed) == len(operands) and all(facts[key] == changes[key] for key in _SEGMENTS.intersection(changes)):
        for number, value in enumerate(operands):
            listed[number] = value
        for key, attribute in changes.items():
            facts[key] = attribute
        return op
    attributes = {name: facts[name] for name in facts} | dict(changes)
    with ir.InsertionPoint(op):
        new = ir.Operation.create(
            op.name,
            results=[r.type for r in op.results],
            operands=list(operands),
            attributes=attributes,
            regions=len(op.regions),
            loc=op.location,
        )
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for body in list(old_region.blocks):
            body.append_to(new_region)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def _map(map_: ir.AffineMap) -> ir.Attribute:
    return ir.AffineMapAttr.get(map_)


def rewrite_indices(op: ir.Operation, change: Callable[[Index], Index]) -> ir.Operation:
    """Apply `change` to every index expression of an affine op. Returns the replacement op."""
    if isa(op, AffineAccessOp, ApplyOp):
        operands = list(op.operands)
        start = MEMREF_OPERAND[op.name] + 1 if isa(op, AffineAccessOp) else 0
        indices = read_map(attrs.map_of(op.attributes["map"]), operands[start:])
        map_, map_operands = emit_map([change(i) for i in indices])
        return rebuild(op, operands[:start] + map_operands, {"map": _map(map_)})
    if isa(op, AffineForOp):
        return set_bounds(op, [change(i) for i in Loop(op).lowers], [change(i) for i in Loop(op).uppers])
    if isa(op, AffineParallelOp):
        return rebind(op, [change(i) for i in _raw_bindings(op)])
    if isa(op, AffineIfOp):
        return rebuild_guard(op, [Constraint(change(c.index), c.is_eq) for c in constraints(op)])
    raise ValueError(f"{op.name} has no index expressions")


def set_bounds(op: ir.Operation, lowers: Sequence[Index], uppers: Sequence[Index]) -> ir.Operation:
    """Change the bounds of a loop; its iter_args are kept."""
    (low, low_used), (high, high_used) = emit_map(lowers), emit_map(uppers)
    carried = list(op.operands)[len(op.operands) - len(op.results) :]
    sizes = ir.DenseI32ArrayAttr.get([len(low_used), len(high_used), len(carried)])
    changes = {"lowerBoundMap": _map(low), "upperBoundMap": _map(high), "operandSegmentSizes": sizes}
    return rebuild(op, [*low_used, *high_used, *carried], changes)


def _raw_bindings(op: ir.Operation) -> list[Index]:
    map_ = attrs.map_of(op.attributes["lowerBoundsMap"])
    return read_map(map_, list(op.operands)[: map_.n_inputs])


def rebind(op: ir.Operation, bindings: Sequence[Index]) -> ir.Operation:
    """Change the bindings of a block (their number is kept)."""
    low, operands = emit_map(bindings)
    high = ir.AffineMap.get(low.n_dims, low.n_symbols, [e + 1 for e in low.results])
    return rebuild(op, operands + operands, {"lowerBoundsMap": _map(low), "upperBoundsMap": _map(high)})


def rebuild_guard(op: ir.Operation, conditions: Sequence[Constraint]) -> ir.Operation:
    """Change the conjunction of an `affine.if`."""
    map_, operands = emit_map([c.index for c in conditions])
    set_ = ir.IntegerSet.get(map_.n_dims, map_.n_symbols, list(map_.results), [c.is_eq for c in conditions])
    return rebuild(op, operands, {"condition": ir.IntegerSetAttr.get(set_)})


def substitute(mapping: Mapping[ir.Value, Index], root: ir.Operation | None = None) -> None:
    """Replace values by expressions in every affine op that uses them (under `root` if given).

    Other users (loop variables used as data, non-affine indices) get an `affine.apply` of the expression.
    """
    users = dict.fromkeys(use.owner.operation for value in mapping for use in value.uses)
    for user in users if root is None else [u for u in users if is_inside(u, root)]:
        if isa(user, AffineOp):
            rewrite_indices(user, lambda i: i.substitute(mapping))
        else:
            _substitute_operands(user, mapping)


def _substitute_operands(user: ir.Operation, mapping: Mapping[ir.Value, Index]) -> None:
    from tir_mlir.dialect.ir.create import apply  # not at the top: import cycle

    for number, operand in enumerate(list(user.operands)):
        if operand in mapping:
            touch(user)
            with ir.InsertionPoint(user), user.location:
                user.operands[number] = apply(mapping[operand])


def fold_applies(root: ir.Operation) -> None:
    """Fold every `affine.apply` under `root` into its affine users, and erase the unused ones."""
    for op in ops(root):
        if isa(op, AffineOp) and any(is_apply(v) for v in op.operands):
            rewrite_indices(op, lambda i: i)
    for op in reversed(ops(root)):
        if isa(op, ApplyOp) and not any(True for _ in op.results[0].uses):
            touch(op)
            op.erase()


def fold_choices(root: ir.Operation) -> None:
    """Replace every `affine.if` under `root` with a constant condition by the branch taken.

    The parser does the same. Guards and inits are kept.
    """
    for op in reversed(ops(root)):
        if op.name not in AffineIfOp.names or is_init(op) or is_where(op):
            continue
        conditions = [(c.index.simplify().as_constant(), c.is_eq) for c in constraints(op)]
        if any(n is None for n, _ in conditions):
            continue
        is_true = all(n == 0 if is_eq else n >= 0 for n, is_eq in conditions)  # type: ignore[operator]
        _take_side(op, list(op.regions)[0 if is_true else 1])


def _take_side(op: ir.Operation, side: ir.Region) -> None:
    touch(op)
    if len(side.blocks):
        *side_ops, end = list(side.blocks[0].operations)
        for inner in side_ops:
            inner.move_before(op)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
    op.erase()


def clone(op: ir.Operation, ip: ir.InsertionPoint, mapping: Mapping[ir.Value, ir.Value] | None = None) -> ir.Operation:
    """A deep copy of an op at `ip`, outside values replaced by `mapping`. Ids are copied: see `renumber`."""
    owner = ip.block.owner.operation
    if is_declaration(op):
        touch_declaration()
    elif not isa(owner, FuncOp):
        touch(owner)
    new = op.operation.clone(ip).operation
    if mapping:
        replace_values(new, mapping)
    return new


def replace_values(root: ir.Operation, mapping: Mapping[ir.Value, ir.Value]) -> None:
    """Replace operands under `root` by values of the same type."""
    for op in ops(root):
        for number, operand in enumerate(list(op.operands)):
            if operand in mapping:
                touch(op)
                op.operands[number] = mapping[operand]


def renumber(root: ir.Operation) -> None:
    """Assign fresh ids to every loop and block under `root` (after a clone)."""
    from tir_mlir.dialect.ir.create import fresh_id

    for op in ops(root):
        if attrs.ID in op.attributes:
            op.attributes[attrs.ID] = attrs.to_attr(fresh_id(op))


def move_before(op: ir.Operation | ir.OpView, anchor: ir.Operation | ir.OpView) -> None:
    """Move an op before another one."""
    moved, owner = op.operation, anchor.operation.block.owner.operation
    touch(moved)
    if not isa(owner, FuncOp):
        touch(owner)
    moved.move_before(anchor.operation)


def replace_uses(old: ir.Value, new: ir.Value) -> None:
    """Replace all uses of a value by another of the same type."""
    touch_users(old)
    old.replace_all_uses_with(new)


def set_attribute(op: ir.Operation | ir.OpView, key: str, attribute: ir.Attribute) -> None:
    touch(op.operation)
    op.attributes[key] = attribute


def set_operand(op: ir.Operation, number: int, value: ir.Value) -> None:
    touch(op)
    op.operands[number] = value


def drop(op: ir.Operation) -> None:
    """Erase an op without uses, but nothing that it uses (see `erase`)."""
    touch(op)
    op.erase()


def retype(value: ir.Value, type_: ir.Type) -> None:
    """Change the type of a value; the ops that use it must accept the new one."""
    touch_users(value)
    owner = value.owner
    touch(owner.owner.operation if isinstance(owner, ir.Block) else owner.operation)
    value.set_type(type_)


def move_body(source: ir.Block, target: ir.Block, until: ir.Operation | None = None) -> None:
    """Move all ops of a body except its terminator, or those before `until`, before the terminator of another body."""
    end = list(target.operations)[-1]
    for op in list(source.operations)[:-1]:
        if until is not None and op.operation == until:
            return
        move_before(op, end)


def erase(op: ir.Operation) -> None:
    """Erase an op and the ops used only by it. Errors: RuntimeError if it has other users (MLIR would abort)."""
    user = used_outside(op)
    if user is not None:
        raise RuntimeError(f"{op.name} cannot be erased: {user.name} still uses one of its values")
    touch(op)
    owners = [] if len(op.regions) else [v.owner for v in op.operands]
    feeders = [o.operation for o in owners if not isinstance(o, ir.Block)]
    op.operation.erase()
    for feeder in dict.fromkeys(feeders):
        if is_pure(feeder) and not any(True for r in feeder.results for _ in r.uses) and not _is_named(feeder):
            erase(feeder)


def _is_named(op: ir.Operation) -> bool:
    """Whether an op defines a shape variable that the attributes of its function, or of an op in it, name."""
    if attrs.NAME not in op.attributes or not is_size(op):
        return False
    name, func = attrs.get(op, attrs.NAME), parent_op(op)
    inputs = range(len(func.regions[0].blocks[0].arguments))
    named = [attrs.argument_attributes(func, number).get(attrs.SYMS, ()) for number in inputs]
    return any(name in syms for syms in named) or any(name in attrs.get(o, attrs.SYMS, ()) for o in ops(func))


def prune(op: ir.Operation, stop: ir.Operation) -> None:
    """Erase an op and the enclosing loops and guards that become empty, up to `stop`."""
    parent = parent_op(op)
    erase(op)
    may_go = parent != stop.operation and (is_loop(parent) or isa(parent, AffineIfOp))
    if may_go and len(parent.regions[0].blocks[0].operations) == 1:
        prune(parent, stop)


def captured_values(op: ir.Operation) -> list[ir.Value]:
    """Values defined outside `op` and used inside it."""
    nested = dict.fromkeys(ops(op))
    outer: dict[ir.Value, None] = {}
    for inner in nested:
        for value in inner.operands:
            owner = value.owner
            parent = owner.owner.operation if isinstance(owner, ir.Block) else owner
            if parent not in nested:
                outer[value] = None
    return list(outer)
