"""Structural keys of the rules that depend only on an op and its nest: the nest, the buffer's shape."""

from __future__ import annotations

from collections.abc import Hashable

from mlir import ir

from tir_mlir.dialect.ir import Block, NestKey, attrs, is_block, nest_key_in, nest_key_of, remembered


def _block_key(op: ir.Operation) -> Hashable:
    nest = nest_key_in(op.regions[0].blocks[0])
    return None if nest is None else (nest.number, op.attributes[attrs.ITERS], Block(op).init is not None)


def _access_key(op: ir.Operation) -> Hashable:
    """The key of an affine access: its nest and its buffer's shape; None if it depends on more."""
    name = op.name
    nest = nest_key_of(op) if name in ("affine.load", "affine.store") else None
    if nest is None:
        return None
    operands = list(op.operands)
    place = 1 if name == "affine.store" else 0
    memref = operands[place]
    index = nest.mapped(op.attributes["map"], operands[place + 1 :])
    shape = None if index is None else _shape_key(memref, nest)
    return None if shape is None else (nest.number, index, shape)


@remembered
def _shape_of(memref: ir.Value) -> tuple[tuple[int, ...], bool]:
    """The shape of a buffer, and whether it is constant."""
    type_ = ir.MemRefType(memref.type)
    return tuple(type_.shape), type_.has_static_shape


def _shape_key(memref: ir.Value, nest: NestKey) -> Hashable:
    """The extents of a parameter or allocation; None for a view or if unknown."""
    owner = memref.owner
    shape, is_static = _shape_of(memref)
    if not isinstance(owner, ir.Block):
        return nest.mapped(shape, owner.operands) if owner.name in ("memref.alloc", "memref.alloca") else None
    if is_static:
        return shape
    facts = ir.DictAttr(ir.ArrayAttr(owner.owner.attributes["arg_attrs"])[ir.BlockArgument(memref).arg_number])
    return facts[attrs.SHAPE], facts[attrs.SYMS]


def settled_key(op: ir.Operation) -> Hashable:
    """The structural key of the rules in `SETTLED`; None if there is none."""
    key = _block_key(op) if is_block(op) else _access_key(op)
    return None if key is None else (op.name, key)
