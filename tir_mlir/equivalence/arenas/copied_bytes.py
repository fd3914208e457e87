"""The contents of an arena that is only read, as elements of the check."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer
from tir_mlir.equivalence.edits import OpBuilder
from tir_mlir.equivalence.instrument import ARENA

_ELEMENT = 8
"""Bytes of a float in the check. The last one stays 0: what the others make is an element of the field."""


def copy_bytes(arena: ir.Value, memory: ir.Value, width: int, factor: int, build: OpBuilder) -> None:
    """Fill memory of `factor` times the bytes of an arena: the `width` bytes of each float, then zeros.

    factor 2, width 4: arena 1 2 3 4, 5 6 7 8 -> memory 1 2 3 4 0 0 0 0, 5 6 7 8 0 0 0 0; factor 1: as they are.
    """
    with ir.InsertionPoint.after(memory.owner), ir.Location.unknown():
        zero, one = build.index(0), build.index(1)
        end = _size(memory, build)
        loop = ir.Operation.create("scf.for", [], [zero, end, one], {ARENA: ir.UnitAttr.get()}, regions=1)
        body = loop.regions[0].blocks.append(ir.IndexType.get())
        with ir.InsertionPoint(body):
            at = body.arguments[0]
            byte = _byte(arena, at, width, build) if factor > 1 or width == _ELEMENT else _load(arena, at)
            ir.Operation.create("memref.store", [], [byte, memory, at])
            ir.Operation.create("scf.yield")


def _byte(arena: ir.Value, at: ir.Value, width: int, build: OpBuilder) -> ir.Value:
    """The byte of the arena for a byte of an element of 8; 0 for those that the element of the arena does not have."""
    step, most = build.index(_ELEMENT), build.index(min(width, _ELEMENT - 1) - 1)
    place = build.binary("arith.remui", at, step)
    element = build.binary("arith.divui", at, step)
    inside = build.binary("arith.minui", place, most)
    start = build.binary("arith.muli", element, build.index(width))
    found = _load(arena, build.binary("arith.addi", start, inside))
    zero = build.constant(ir.IntegerAttr.get(ir.IntegerType.get_signless(8), 0))
    return build.select(build.cmpi("ule", place, most), found, zero)


def _load(arena: ir.Value, at: ir.Value) -> ir.Value:
    return ir.Operation.create("memref.load", [ir.IntegerType.get_signless(8)], [arena, at]).results[0]


def _size(memory: ir.Value, build: OpBuilder) -> ir.Value:
    known = Buffer(memory).shape[0]
    if known is not None:
        return build.index(known)
    return ir.Operation.create("memref.dim", [ir.IndexType.get()], [memory, build.index(0)]).results[0]
