"""Whether values of a buffer live across iterations of a loop, after blocks are removed.

`dialect.analysis.dataflow` answers this for programs with blocks, by isl's dataflow analysis. Two things differ here.
Must-writes: a write through a pointer counts only where the call is marked as overwriting its region, since lowering
may not rely on declared regions. Users: the buffer is followed through views and pointers that lowering has made; an
unknown op is NotProvable. One question is asked at every depth of the nest, so order is composed of
cached maps instead of a schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, of_op
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import OVERWRITES, Buffer, Index, attrs, is_loop, walk
from tir_mlir.dialect.presburger import sets

dim_type = isl.dim_type


@dataclass
class BufferUse:
    """One read or write of a buffer, with the loops around it, its time and its elements."""

    op: ir.Operation
    is_write: bool
    kills: bool
    loops: list[ir.Value]
    path: list[int]
    elements: isl.Map


Domains = dict[ir.Block, sets.Domain]
"""Iterations by MLIR block: ops side by side share them. Valid as long as no loop around changes."""


VIEWS = ("memref.subview", "memref.cast")
SILENT = ("memref.dim", "memref.dealloc")


def touches(value: ir.Value, domains: Domains) -> list[BufferUse]:
    """All reads and writes of an allocated buffer, through views and pointers too.

    Raises NotProvable when one cannot be told, or when the buffer has a name that is not followed.
    """
    found: list[BufferUse] = []
    for op in _users(value):
        try:
            made = [a for a in of_op(op) if a.buffer == value]
        except KeyError as error:
            raise NotProvable("an access to a region of unknown size") from error
        found += [t for a in made if (t := touch(a, domains)) is not None]
    return found


def _users(value: ir.Value) -> list[ir.Operation]:
    """The ops that read or write a buffer: its users, those of its views, and where pointers into it are made."""
    found: dict[ir.Operation, None] = {}
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            op = use.owner.operation
            if op.name in (*VIEWS, "memref.extract_aligned_pointer_as_index") or op.name.startswith("arith."):
                pending += op.results
            elif op.name == "memref.extract_strided_metadata":
                if any(True for _ in op.results[0].uses):
                    raise NotProvable("a second name for the buffer")
            elif op.name == "llvm.inttoptr" and attrs.ACCESS in op.attributes:
                found[op] = None
            elif any(isinstance(r.type, ir.MemRefType) for r in op.results) or not _is_access(op):
                raise NotProvable(f"{op.name} on the buffer")
            elif op.name not in SILENT:
                found[op] = None
    return list(found)


def _is_access(op: ir.Operation) -> bool:
    """Whether an op that uses a memref touches its elements and nothing more; vectors of elements are not followed."""
    if len(op.regions) or op.name.endswith(("yield", "return")) or op.name.startswith("affine.vector"):
        return False
    return any(isinstance(v.type, ir.MemRefType) for v in op.operands)


def touch(access: Access, domains: Domains) -> BufferUse | None:
    """The access as a relation; None for a read that is known not to happen.

    Raises NotProvable when its loops or indices are beyond isl.
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
    return BufferUse(op, access.is_write, kills, dom.dims, _path(op), elements)


def relation(
    op: ir.Operation, mins: Sequence[Index], extents: Sequence[Index], domains: Domains
) -> tuple[sets.Domain, isl.Map]:
    """The iterations of `op` and { iteration -> elements of the box }; NotProvable where isl cannot say."""
    try:
        dom = domains.get(op.block) or sets.domain(op)
        domains[op.block] = dom
        if dom.free:
            raise NotProvable("a bound that is no expression of loops")
        return dom, sets.region_map(dom, mins, extents)
    except KeyError as error:
        raise NotProvable("an index that is no expression of loops and shape variables") from error


def _writes_all(access: Access, overwrites: bool) -> bool:
    """Whether every element of the region is surely written."""
    if access.op.name == "affine.store":
        return access.is_point
    return overwrites and Buffer(access.buffer).rank > 0


def _call_of(pointer: ir.Operation) -> ir.Operation | None:
    """The one call that gets a pointer: the time at which it writes."""
    users = {use.owner.operation for use in pointer.results[0].uses}
    if len(users) != 1:
        return None
    user = users.pop()
    return user if user.name in ("func.call", "llvm.call") and user.block == pointer.block else None


def _path(op: ir.Operation) -> list[int]:
    """Positions at which `op` is found from the function down, one entry a level that is not a loop's own."""
    places: list[int] = []
    current = op
    for parent in walk.parents(op):
        places.append(walk.position(current))
        current = parent
    return places[::-1]


def common_loops(ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The loops around all of `ops`, outer to inner."""
    shared = walk.common_parent(ops)
    chain = [shared, *walk.parents(shared)]
    return [p for p in chain[::-1] if is_loop(p)]


def is_private(touches: Sequence[BufferUse], depth: int) -> bool:
    """Whether each read follows a write within the same iteration of the outermost `depth` loops."""
    writes = [t for t in touches if t.kills]
    for read in touches:
        if read.is_write:
            continue
        covered: isl.Map | None = None
        for write in writes:
            part = _before(read, write, depth).apply_range(write.elements)
            covered = part if covered is None else covered.union(part)
        if covered is None or not read.elements.is_subset(covered):
            return False
    return True


def _before(read: BufferUse, write: BufferUse, depth: int) -> isl.Map:
    """{ iteration of the read -> iterations of the write earlier in the same outer iteration }."""
    pairs = zip(read.loops, write.loops, strict=False)
    shared = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(read.loops), len(write.loops)))
    return _before_map(len(read.loops), len(write.loops), depth, shared, write.path < read.path)


@lru_cache(maxsize=1024)
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


def conflicts(touches: Sequence[BufferUse], depth: int) -> bool:
    """Whether two iterations of loop number `depth` may touch one element, one of them writing."""
    for number, one in enumerate(touches):
        for other in touches[number:]:
            if one.is_write or other.is_write:
                both = one.elements.apply_range(other.elements.reverse())
                if not both.intersect(_apart(len(one.loops), len(other.loops), depth)).is_empty():
                    return True
    return False


@lru_cache(maxsize=256)
def _apart(first: int, second: int, depth: int) -> isl.Map:
    a, b = [f"a{i}" for i in range(first)], [f"b{i}" for i in range(second)]
    same = [f"a{i} = b{i}" for i in range(depth)]
    return isl.Map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {' and '.join([*same, f'a{depth} != b{depth}'])} }}")
