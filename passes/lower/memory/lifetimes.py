"""Lifetimes of buffer elements across loop iterations, on programs without blocks.

`dialect.analysis.dataflow` answers this for programs with blocks, with isl's dataflow analysis. Two things differ here.
Must-writes: a write through a pointer counts only if the call is marked as overwriting its region, because lowering
may not rely on declared regions. Users: the buffer is followed through the views and pointers that lowering created;
an unknown op is NotProvable. The same question is asked at every depth of the nest, so the order is composed of
cached maps instead of a schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, AccessRelation, accesses_of_op
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import OVERWRITES, Buffer, Index, attrs, is_loop, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMCallOp
from tir_mlir.dialect.ir.op_views import (
    AffineStoreOp,
    AlignedPointerOp,
    CallOp,
    IntToPtrOp,
    NeutralOp,
    StridedMetadataOp,
    ViewLikeOp,
    isa,
)
from tir_mlir.dialect.presburger import sets

dim_type = isl.dim_type


@dataclass
class TimedAccess:
    """One read or write of a buffer: its loops, its position in time and its elements."""

    op: ir.Operation
    is_write: bool
    kills: bool
    loops: list[ir.Value]
    path: list[int]
    elements: isl.Map
    touch: AccessRelation


Domains = dict[ir.Block, sets.Domain]
"""Iteration domains by MLIR block, shared by its ops. Valid until a loop around it "
"changes."""


def timed_accesses(
    value: ir.Value, domains: Domains, indices: Mapping[ir.Operation, Sequence[Index]] | None = None
) -> list[TimedAccess]:
    """All reads and writes of an allocated buffer, including those through views and pointers. `indices`: those of all
    accesses, each to one element, in other dimensions that tell the elements apart as well.

    Raises NotProvable if one cannot be expressed, or if the buffer has an unsupported alias.
    """
    timed: list[TimedAccess] = []
    for op in _users(value):
        try:
            op_accesses = [a for a in accesses_of_op(op) if a.buffer == value]
        except KeyError as error:
            raise NotProvable("an access to a region of unknown size") from error
        if indices is not None:
            ones = tuple(Index.constant(1) for _ in indices[op])
            op_accesses = [replace(a, mins=tuple(indices[op]), extents=ones) for a in op_accesses]
        timed += [t for a in op_accesses if (t := timed_access(a, domains)) is not None]
    return timed


def _users(value: ir.Value) -> list[ir.Operation]:
    """The ops that access a buffer: its users, those of its views, and ops that take pointers to it."""
    users: dict[ir.Operation, None] = {}
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            op = use.owner.operation
            if isa(op, ViewLikeOp, AlignedPointerOp) or op.name.startswith("arith."):
                pending += op.results
            elif isa(op, StridedMetadataOp):
                if any(True for _ in op.results[0].uses):
                    raise NotProvable("an alias of the buffer")
            elif isa(op, IntToPtrOp) and attrs.ACCESS in op.attributes:
                users[op] = None
            elif any(isinstance(r.type, ir.MemRefType) for r in op.results) or not _is_access(op):
                raise NotProvable(f"{op.name} on the buffer")
            elif not isa(op, NeutralOp):
                users[op] = None
    return list(users)


def _is_access(op: ir.Operation) -> bool:
    """Whether an op only accesses elements of a memref; vector elements are not supported."""
    if len(op.regions) or op.name.endswith(("yield", "return")) or op.name.startswith("affine.vector"):
        return False
    return any(isinstance(v.type, ir.MemRefType) for v in op.operands)


def timed_access(access: Access, domains: Domains) -> TimedAccess | None:
    """The access as a relation; None for a read that never runs.

    Raises NotProvable if isl cannot express its loops or indices.
    """
    overwrites = OVERWRITES in access.op.attributes
    if overwrites and not access.is_write:
        return None
    dom, elements = relation(access.op, access.mins, access.extents, domains)
    kills = access.is_write and dom.exact and access.exact and _writes_all(access, overwrites)
    op = access.op
    if kills and overwrites:
        call = _call_of(op)
        kills, op = call is not None, call or op
    return TimedAccess(op, access.is_write, kills, dom.dims, _path(op), elements, AccessRelation(access, dom))


def relation(
    op: ir.Operation, mins: Sequence[Index], extents: Sequence[Index], domains: Domains
) -> tuple[sets.Domain, isl.Map]:
    """The iterations of `op` and { iteration -> elements of the box }. Raises NotProvable if isl cannot express
    them.
    """
    try:
        dom = domains.get(op.block) or sets.domain(op)
        domains[op.block] = dom
        if dom.free:
            raise NotProvable("a bound that is not an expression of loops")
        return dom, sets.region_map(dom, mins, extents)
    except KeyError as error:
        raise NotProvable("an index that is not an expression of loops and shape variables") from error


def _writes_all(access: Access, overwrites: bool) -> bool:
    """Whether every element of the region is definitely written."""
    if isa(access.op, AffineStoreOp):
        return access.is_point
    return overwrites and Buffer(access.buffer).rank > 0


def _call_of(pointer: ir.Operation) -> ir.Operation | None:
    """The only call that takes a pointer, whose position is the time of the write."""
    users = {use.owner.operation for use in pointer.results[0].uses}
    if len(users) != 1:
        return None
    user = users.pop()
    return user if isa(user, CallOp, LLVMCallOp) and user.block == pointer.block else None


def _path(op: ir.Operation) -> list[int]:
    """Positions of `op` and its parents from the function down, without those of loop bodies."""
    positions: list[int] = []
    current = op
    for parent in walk.parents(op):
        positions.append(walk.position_of_many(current))
        current = parent
    return positions[::-1]


def common_loops(ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The loops around all of `ops`, outer to inner."""
    shared = walk.common_parent(ops)
    chain = [shared, *walk.parents(shared)]
    return [p for p in chain[::-1] if is_loop(p)]


def plain_depth(timed: Sequence[TimedAccess]) -> int | None:
    """The number of outer loops in the body of which, for each read, writes before it write all that it reads in an
    iteration of that body: the buffer is private to an iteration of these. None: not that plain.

        for k:                                 1
          for i: S[i // 10, i % 10] = ...
          for y, x: ... = S[y, x]
    """
    depths = [_depth_of_writes(read, timed) for read in timed if not read.is_write]
    plain_depths = [depth for depth in depths if depth is not None]
    return min(plain_depths, default=None) if len(plain_depths) == len(depths) else None


def _depth_of_writes(read: TimedAccess, timed: Sequence[TimedAccess]) -> int | None:
    groups: dict[int, list[TimedAccess]] = {}
    for write in timed:
        if write.kills and write.path < read.path and not (write.touch.access.parts or read.touch.access.parts):
            groups.setdefault(_shared_depth(read, write), []).append(write)
    for depth in sorted(groups, reverse=True):
        first, *others = (write.touch.outer(depth) for write in groups[depth])
        for part in others:
            first = first.union(part)
        if read.touch.outer(depth).is_subset(first):
            return depth
    return None


def is_private(timed: Sequence[TimedAccess], depth: int) -> bool:
    """Whether each read follows a write in the same iteration of the outermost `depth` loops."""
    writes = [t for t in timed if t.kills]
    for read in timed:
        if read.is_write:
            continue
        covered: isl.Map | None = None
        for write in writes:
            part = _earlier_iterations(read, write, depth).apply_range(write.elements)
            covered = part if covered is None else covered.union(part)
        if covered is None or not read.elements.is_subset(covered):
            return False
    return True


def _earlier_iterations(read: TimedAccess, write: TimedAccess, depth: int) -> isl.Map:
    """{ iteration of the read -> earlier iterations of the write in the same outer iteration }."""
    shared = _shared_depth(read, write)
    return _before_map(len(read.loops), len(write.loops), depth, shared, write.path < read.path)


def _shared_depth(read: TimedAccess, write: TimedAccess) -> int:
    """The number of loops around both."""
    pairs = zip(read.loops, write.loops, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(read.loops), len(write.loops)))


@lru_cache(maxsize=256)
def _before_map(reads: int, writes: int, depth: int, shared: int, textually: bool) -> isl.Map:
    r, w = [f"r{i}" for i in range(reads)], [f"w{i}" for i in range(writes)]
    same = [f"r{i} = w{i}" for i in range(depth)]
    cases = []
    for level in range(depth, shared):
        equal = [f"r{i} = w{i}" for i in range(depth, level)]
        cases.append(" and ".join([*equal, f"w{level} < r{level}"]))
    if textually:
        cases.append(" and ".join(f"r{i} = w{i}" for i in range(depth, shared)) or "true")
    condition = " and ".join([*same, "(" + (" or ".join(f"({c})" for c in cases) or "false") + ")"])
    return isl.Map(f"{{ [{', '.join(r)}] -> [{', '.join(w)}] : {condition} }}")


def conflicts(timed: Sequence[TimedAccess], depth: int) -> bool:
    """Whether two iterations of loop number `depth` may access one element, one of them writing."""
    for number, first in enumerate(timed):
        for second in timed[number:]:
            if first.is_write or second.is_write:
                both = first.elements.apply_range(second.elements.reverse())
                if not both.intersect(_distinct_iterations(len(first.loops), len(second.loops), depth)).is_empty():
                    return True
    return False


@lru_cache(maxsize=256)
def _distinct_iterations(first: int, second: int, depth: int) -> isl.Map:
    a, b = [f"a{i}" for i in range(first)], [f"b{i}" for i in range(second)]
    same = [f"a{i} = b{i}" for i in range(depth)]
    return isl.Map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {' and '.join([*same, f'a{depth} != b{depth}'])} }}")
