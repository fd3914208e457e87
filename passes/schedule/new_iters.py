"""A block with other iters: its body over the new ones, id, annotations and declared regions kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect import attrs, create, walk
from tir_mlir.dialect.create import Constraint, IterSpec
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.regions import Region, declare, declared
from tir_mlir.dialect.views import Block
from tir_mlir.dialect.walk import all_blocks

Old = Callable[[Sequence[Index]], Mapping[ir.Value, Index]]
"""The old iters as expressions of the new ones."""


def with_iters(block: Block, specs: Sequence[IterSpec], old: Old) -> Block:
    """The block with the iters `specs` in its place; an init runs where the new reduce iters start."""
    regions = _declared(block)
    with ir.InsertionPoint(block.op), block.op.location:
        new = create.block(block.name, specs)
    for key in block.op.attributes:
        if key not in new.op.attributes and key.startswith("tir."):
            new.op.attributes[key] = block.op.attributes[key]
    new.op.attributes[attrs.ID] = block.op.attributes[attrs.ID]
    mapping = old([Index.of(i.var) for i in new.iters])
    init = block.init
    if init is not None:
        starts = [Constraint(Index.of(i.var) - i.min, is_eq=True) for i in new.iters if i.kind == "R"]
        walk.rebuild_guard(init, starts or [Constraint(Index.constant(0), is_eq=True)])
    walk.move_body(block.body, new.body)
    walk.substitute(mapping)
    walk.erase(block.op)
    made = Block(new.op)
    _declare(made, regions, mapping)
    return made


Declared = list[tuple[int | None, str, list[Region]]]


def _declared(block: Block) -> Declared:
    """What a block and the blocks in it declare: maps over iters that are about to change. None: the block itself."""
    found: Declared = []
    for one in all_blocks(block.op):
        for key in (attrs.READS, attrs.WRITES):
            if key in one.op.attributes:
                found.append((None if one == block else one.id, key, declared(one, key, [])))
    return found


def _declare(block: Block, found: Declared, mapping: Mapping[ir.Value, Index]) -> None:
    inner = {b.id: b for b in all_blocks(block.op)}
    for number, key, regions in found:
        own = [Region(r.buffer, _over(r.mins, mapping), _over(r.extents, mapping)) for r in regions]
        declare(block if number is None else inner[number], key, own)


def _over(indices: Sequence[Index], mapping: Mapping[ir.Value, Index]) -> tuple[Index, ...]:
    return tuple(i.substitute(mapping).simplified() for i in indices)
