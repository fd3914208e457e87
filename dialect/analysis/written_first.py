"""Reads that plainly follow the writes of their elements: a fast path of the dataflow analysis."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.access_relations import AccessRelation, structural_key
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import child_towards, common_parent, is_data_loop, is_loop, parents
from tir_mlir.dialect.presburger import dim_type


def follows_writes(read: AccessRelation, writes: Sequence[AccessRelation], root: ir.Operation) -> bool:
    """Whether every element of a read is written earlier in the same iteration of `root`. False: unknown.

    Looks at writes that are in an earlier op of a body around the read, in which they write all that is read:

        for k_0:             # the common body
            for ax: S[...] =
            for k_1: ... = S[...]
    """
    by_depth: dict[int, list[AccessRelation]] = {}
    for write in writes:
        if write.dom.exact and write.access.exact:
            depth = _common_depth(write.access.op, read.access.op, root)
            if depth is not None:
                by_depth.setdefault(depth, []).append(write)
    for depth in sorted(by_depth, reverse=True):
        wanted = _outer(read, depth)
        written: isl.Map | None = None
        for write in by_depth[depth]:
            part = _outer(write, depth)
            written = part if written is None else written.union(part)
        if written is not None and wanted.is_subset(written):
            return True
    return False


def _common_depth(write: ir.Operation, read: ir.Operation, root: ir.Operation) -> int | None:
    """The number of loops around the body in which the op with a write is before that with a read; None if there is no
    such body in `root`."""
    common = common_parent([write, read])
    around = [common, *parents(common)]
    if root not in around or any(is_data_loop(p) for p in around[: around.index(root) + 1]):
        return None
    first, second = child_towards(common, write), child_towards(common, read)
    if first.block != second.block or first == second or not first.is_before_in_block(second):
        return None
    return sum(is_loop(p) for p in around)


def _outer(touch: AccessRelation, depth: int) -> isl.Map:
    """{ iteration of the outer loops -> elements }."""
    return touch.relation.project_out(dim_type.in_, depth, len(touch.dom.dims) - depth)


def flow_key(buffer: ir.Value, loop: ir.Operation) -> Hashable | None:
    """A structural key that determines which reads of a buffer in a loop follow writes; None if there is none."""
    parts = []
    for access in accesses(loop):
        if access.buffer == buffer:
            key = structural_key(access)
            if key is None:
                return None
            parts.append((access.kind, access.exact, key, _path(loop, access.op)))
    return sum(is_loop(p) for p in parents(loop)), tuple(parts)


def _path(root: ir.Operation, op: ir.Operation) -> tuple[int, ...]:
    """Where an op is in another one: the place in each body."""
    found: list[int] = []
    current = op
    for parent in parents(op):
        bodies = [o.operation for region in parent.regions for block in region.blocks for o in block.operations]
        found.append(bodies.index(current))
        if parent == root:
            break
        current = parent
    return tuple(found)
