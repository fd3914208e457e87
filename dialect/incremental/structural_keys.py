"""Structural keys: a number for the loops, blocks and guards around an op, equal for equal structure across modules.

A step works on a clone, so all ops are new after it although most of the program is unchanged. Results that depend only
on the ops around an op (its iterations, whether its bindings remain in their domains) are cached under this number. The
rules that depend on an op and its nest only are under its `settled_key`: the nest, and the shape of the buffer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import (
    ENTRIES,
    Block,
    BoundedDict,
    attrs,
    cache_while_frozen,
    is_apply,
    is_block,
    owner_op,
    symbols_by_name,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, index_operands
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineForOp,
    AffineIfOp,
    AllocLikeOp,
    FuncOp,
    ModuleOp,
    isa,
)

Origin = Any
"""The origin of a value: a count from the outside in, a shape variable's name, or an expression of these."""


@dataclass(frozen=True)
class NestKey:
    """The nest around the ops of one MLIR block: its number, and the origins of the values that affine maps may use."""

    number: int
    origins: dict[ir.Value, Origin]

    def origin(self, value: ir.Value) -> Origin:
        """The origin of a value; None if unknown."""
        origin = self.origins.get(value)
        if origin is None and is_apply(value):
            origin = self.attribute_key(attrs.map_of(owner_op(value).attributes["map"]), owner_op(value).operands)
        return origin

    def attribute_key(self, what: Any, operands: Iterable[ir.Value]) -> Origin:
        """An attribute and the origins of its operands, as a key; None if one is unknown."""
        origins = []
        for value in operands:
            origin = self.origin(value)
            if origin is None:
                return None
            origins.append(origin)
        return (what, *origins)


_numbers: BoundedDict[Any, int] = BoundedDict(2 * ENTRIES)
_next = 0
_LOOP = ("lowerBoundMap", "upperBoundMap")
_BLOCK = ("lowerBoundsMap", attrs.MIN, attrs.EXTENT, attrs.SYMS)


@cache_while_frozen
def nest_key_in(body: ir.Block) -> NestKey | None:
    """The key of the nest around the ops of a body; None if it contains ops without a key."""
    op = body.owner.operation
    name = op.name
    if name in FuncOp.names:
        positions = {value: name for name, value in symbols_by_name(op).items()}
        promises = [op.attributes[k] for k in (attrs.ASSUME, attrs.SYMS) if k in op.attributes]
        return NestKey(_number(("func", *promises, *sorted(positions.values()))), positions)
    outer = nest_key_in(op.block) if name not in ModuleOp.names else None
    if outer is None:
        return None
    keys = _LOOP if name in AffineForOp.names else _BLOCK if is_block(op) else ()
    is_if = name in AffineIfOp.names
    if is_if:
        op_key = (op.attributes["condition"], body == op.regions[0].blocks[0])
    elif keys:
        attributes = op.attributes
        op_key = (name, *[attributes[k] for k in keys])
    else:
        op_key = (name,)
    mapped = outer.attribute_key(op_key, op.operands) if keys or is_if else op_key
    if mapped is None:
        return None
    positions = outer.origins
    if keys:
        count = len(positions)
        positions = positions | {value: count + n for n, value in enumerate(body.arguments)}
    return NestKey(_number((outer.number, mapped)), positions)


def nest_key_of(op: ir.Operation) -> NestKey | None:
    """The key of the nest around an op."""
    return nest_key_in(op.block)


def _number(key: Any) -> int:
    global _next
    number = _numbers.get(key)
    if number is None:
        _next += 1
        _numbers[key] = number = _next
    return number


def _block_key(op: ir.Operation) -> Hashable:
    nest = nest_key_in(op.regions[0].blocks[0])
    return None if nest is None else (nest.number, op.attributes[attrs.ITERS], Block(op).init is not None)


def _access_key(op: ir.Operation) -> Hashable:
    """The key of an affine access: its nest and its buffer's shape; None if it depends on more."""
    nest = nest_key_of(op) if isa(op, AffineElementAccessOp) else None
    if nest is None:
        return None
    memref = accessed_memref(op)
    index = nest.attribute_key(op.attributes["map"], index_operands(op))
    shape = None if index is None else _shape_key(memref, nest)
    return None if shape is None else (nest.number, index, shape)


@cache_while_frozen
def _shape_of(memref: ir.Value) -> tuple[tuple[int, ...], bool]:
    """The shape of a buffer, and whether it is constant."""
    type_ = ir.MemRefType(memref.type)
    return tuple(type_.shape), type_.has_static_shape


def _shape_key(memref: ir.Value, nest: NestKey) -> Hashable:
    """The extents of a parameter or allocation; None for a view or if unknown."""
    owner = memref.owner
    shape, is_static = _shape_of(memref)
    if not isinstance(owner, ir.Block):
        return nest.attribute_key(shape, owner.operands) if isa(owner, AllocLikeOp) else None
    if is_static:
        return shape
    facts = ir.DictAttr(ir.ArrayAttr(owner.owner.attributes["arg_attrs"])[ir.BlockArgument(memref).arg_number])
    return facts[attrs.SHAPE], facts[attrs.SYMS]


def settled_key(op: ir.Operation) -> Hashable:
    """The structural key of the rules in `SETTLED`; None if there is none."""
    key = _block_key(op) if is_block(op) else _access_key(op)
    return None if key is None else (op.name, key)
