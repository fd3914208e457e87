"""A block with other iters: its body over the new ones, id, annotations and declared regions kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect import attrs, constants, create
from tir_mlir.dialect.constants import fold_known
from tir_mlir.dialect.create import IterSpec
from tir_mlir.dialect.index import Constraint, Index
from tir_mlir.dialect.regions import declare, declared
from tir_mlir.dialect.views import Block
from tir_mlir.passes.schedule.declared_below import DeclaredBelow

Old = Callable[[Sequence[Index]], Mapping[ir.Value, Index]]
"""The old iters as expressions of the new ones."""


def with_iters(block: Block, specs: Sequence[IterSpec], old: Old) -> Block:
    """The block with the iters `specs` in its place; an init runs where the new reduce iters start."""
    own = {key: declared(block, key, []) for key in (attrs.READS, attrs.WRITES) if key in block.op.attributes}
    below = DeclaredBelow.of(block.op)
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
        constants.rebuild_guard(init, starts or [Constraint(Index.constant(0), is_eq=True)])
    constants.move_body(block.body, new.body)
    constants.substitute(mapping)
    constants.erase(block.op)
    made = Block(new.op)
    for key, regions in own.items():
        declare(made, key, [r.over(mapping) for r in regions])
    below.keep(mapping)
    fold_known(made.op)
    return made
