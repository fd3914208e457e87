"""Lower prefetch annotations of loops to prefetch ops."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import ceil, prod

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Constraint, Index, Loop, bits, create, emit_map, is_loop, owner_op, walk
from tir_mlir.dialect.ir.annotation_keys import PREFETCH
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineStoreOp, isa
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.passes.lower.memory.compact import view_box
from tir_mlir.passes.lower.outcomes import Outcomes
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs

LINE_BYTES = 64
"""Bytes of a cache line."""
_VIEW = "memref.subview"
IN_L1, IN_L2 = 3, 2
"""Where a line is to be: the localities of `affine.prefetch`."""
MAX_LINES = 64
"""Maximal lines prefetched in one iteration: more than a core can have in flight."""


@lowering(
    "tir-lower-prefetch", "Lower prefetch annotations to affine.prefetch", works_on=Content(annotations={PREFETCH})
)
def run(module: ir.Module) -> None:
    """Prefetch, at the start of each iteration, what the iteration accesses of the named buffers.

        for %i {                                      for %i {
          for %k {...}                                  affine.prefetch %C[%i, 0], write, ...
          use %C[%i, 0..16]                   -->       affine.prefetch %C[%i, 15], write, ...
        } {prefetch = ["C"]}                            for %k {...}
                                                        use %C[%i, 0..16] }

    The annotation `prefetch` names one or several buffers, or maps each to a number of iterations ahead: {"A": 4}, or
    to the name of a loop around, {"W": "j"}: then each iteration asks for a part of what the next one of that loop
    reads, evenly over the iterations between. That is data which is read many times, and comes from behind L2 at first.

        for %j {                                      for %j {
          for %i {                                      for %i {
            for %k {                          -->         for %k {
              use %W[%j, %k, 0..64]                         affine.prefetch %W[%j + 1, 0, (%i * 256 + %k) * 16], ...
            } {prefetch = {W = "j"}}                        use %W[%j, %k, 0..64]

    Supports accesses whose indices are sums of loop variables, under loops of constant extent, up to 64 lines. Warns
    about skipped buffers. Requires peeled loops (`tir-lower-peel-tails`), not vectorized yet.
    """
    for func in programs(module):
        names = {Buffer(b).root.name for op in walk.ops(func.op) if (b := _accessed(op)) is not None}
        outcomes = Outcomes()
        loops = [Loop(op) for op in walk.ops(func.op) if is_loop(op) and PREFETCH in Loop(op).annotations]
        tiles = {(loop.name, around) for loop in loops for around in _loops_around(loop)}
        for loop in loops:
            for name, ahead in _requests(loop, names, tiles).items():
                key = Outcomes.key(loop, f'loop {loop.name} does not prefetch "{name}"')
                is_count = isinstance(ahead, int)
                outcomes.add(key, _prefetch(loop, name, ahead) if is_count else _prefetch_next(loop, name, ahead))
        outcomes.warn()


@dataclass(frozen=True)
class PrefetchBox:
    """The box that one access covers in an iteration: its corner and extents."""

    buffer: ir.Value
    corner: tuple[Index, ...]
    extents: tuple[int, ...]
    written: bool

    def starts(self) -> list[tuple[int, ...]]:
        """Offsets of elements that touch every line of the box for any alignment of the corner."""
        *rows, last = self.extents
        step = max(1, LINE_BYTES * 8 // bits(Buffer(self.buffer).dtype))
        columns = sorted({*range(0, last, step), last - 1})
        return list(itertools.product(*map(range, rows), columns))


def _prefetch(loop: Loop, name: str, ahead: int) -> str:
    """Prefetch one buffer; returns the reason and the way out if that is not possible, else ""."""
    accesses = [op for op in walk.ops(loop.op)[1:] if isa(op, AffineElementAccessOp)]
    touching = [op for op in accesses if Buffer(accessed_memref(op)).root.name == name]
    patches = list(dict.fromkeys(p for op in touching if (p := _access_box(op, loop))))
    count = sum(len(p.starts()) for p in patches)
    if count > MAX_LINES:
        return f"{count} lines in an iteration, at most {MAX_LINES}; annotate an inner loop, or split this one"
    if not count:
        return (
            "no access in the loop whose indices are sums of loops with constant extents; annotate a loop with such "
            "accesses, or unannotate this one"
        )
    _emit_prefetches(loop, patches, ahead)
    return ""


def _prefetch_next(loop: Loop, name: str, around: Loop) -> str:
    """Prefetch a part of what the next iteration of a loop around reads of a buffer; returns what `_prefetch` does."""
    between = [loop, *_loops_up_to(loop.op, around)]
    counts = [inner.const_extent or 0 for inner in between]
    found = [(op, b) for op in walk.ops(loop.op) if (b := _accessed(op)) is not None and Buffer(b).root.name == name]
    if not found or not prod(counts):
        return f"no access in it, or loops up to {around.name} that have no constant extents; annotate another loop"
    op, buffer = found[0]
    corner = _start_of_next(op, around)
    rest = list(ir.MemRefType(buffer.type).shape)[len(corner) :]
    known = all(v == around.var or not walk.is_inside(owner_op(v), around.op) for c in corner for v in c.values)
    if not corner or not rest or not known or any(ir.ShapedType.is_dynamic_size(size) for size in rest):
        return f"what the next iteration of {around.name} reads is not one piece of memory; pack it before"
    position = Index.constant(0)
    for inner, count in zip(reversed(between), reversed(counts), strict=True):
        position = position * count + (Index.from_value(inner.var) - inner.lower)
    part = ceil(prod(rest) / prod(counts))
    target = [*corner, *[Index.constant(0)] * (len(rest) - 1), (position * part).simplify()]
    with ir.InsertionPoint.at_block_begin(loop.body), loop.op.location:
        _create(buffer, *emit_map(target), False, IN_L2)
    return ""


def _start_of_next(op: ir.Operation, around: Loop) -> list[Index]:
    """Where the next iteration of a loop starts to read, in the dimensions up to the last one that depends on it."""
    indices = view_box(op)[0] if op.name == _VIEW else walk.access_indices(op)
    start = {inner.var: Index.wrap(inner.lower) for inner in _loops_up_to(op, around)}
    fixed = max((d + 1 for d, index in enumerate(indices) if index.uses(around.var)), default=0)
    following = start | {around.var: Index.from_value(around.var) + 1}
    return [index.substitute(following).simplify() for index in indices[:fixed]]


def _loops_up_to(op: ir.Operation, around: Loop) -> list[Loop]:
    """The loops around an op that are inside another one, the innermost first."""
    return [Loop(p) for p in itertools.takewhile(lambda p: p != around.op, walk.parents(op)) if is_loop(p)]


def _accessed(op: ir.Operation) -> ir.Value | None:
    """The buffer that an access or a view is of."""
    if op.name == _VIEW:
        return op.operands[0]
    return accessed_memref(op) if isa(op, AffineElementAccessOp) else None


def _loops_around(loop: Loop) -> dict[str, Loop]:
    """The loops around a loop, by name."""
    return {Loop(op).name: Loop(op) for op in walk.parents(loop.op) if is_loop(op)}


def _requests(loop: Loop, accessed_names: set[str], tiles: Set[tuple[str, str]]) -> dict[str, int | Loop]:
    """The buffers that the annotation names, with the number of iterations ahead, or the loop around. tiles: names of
    annotated loops and of those around them. A loop that is around another one of this name only is around the full
    tiles: this one was peeled off, and nothing follows it."""
    annotation = loop.annotations[PREFETCH]
    names = annotation if isinstance(annotation, list) else [annotation]
    requests: dict[str, int | Loop] = {}
    around = _loops_around(loop)
    for name, given in annotation.items() if isinstance(annotation, dict) else [(name, 0) for name in names]:
        if isinstance(given, str) and given not in around and (loop.name, given) in tiles and name in accessed_names:
            continue
        ahead = around.get(given, -1) if isinstance(given, str) else given
        if isinstance(name, str) and isinstance(ahead, Loop) and name in accessed_names:
            requests[name] = ahead
            continue
        if not isinstance(name, str) or type(ahead) is not int or ahead < 0:
            raise LoweringError(
                f"{location_text(loop.op)}: loop {loop.name} has prefetch = {annotation!r}; expected names of buffers, "
                f'or a dictionary from names to the number of iterations ahead, such as {{"A": 4}}, or to a loop around'
            )
        if name not in accessed_names:
            raise LoweringError(
                f'{location_text(loop.op)}: loop {loop.name} prefetches "{name}", which the program does not '
                f"access; it has {', '.join(sorted(accessed_names))}"
            )
        requests[name] = ahead
    return requests


def _access_box(op: ir.Operation, loop: Loop) -> PrefetchBox | None:
    """The box of an access over the loops between it and `loop`; None if its indices are not plain sums."""
    buffer = accessed_memref(op)
    if walk.is_inside(owner_op(buffer), loop.op):
        return None
    indices, extents = walk.access_indices(op), []
    between = [Loop(p) for p in itertools.takewhile(lambda p: p != loop.op, walk.parents(op)) if is_loop(p)]
    for inner in between:
        if inner.const_extent is None and any(i.uses(inner.var) for i in indices):
            return None
    corner = []
    for index in indices:
        start, extent = index, 1
        for inner in between:
            if not start.uses(inner.var):
                continue
            linear = dim_factors(start.expr)
            last = (inner.const_extent or 1) - 1
            if linear is None or last < 0:
                return None
            factor = linear[0][start.values.index(inner.var)]
            start = start.substitute({inner.var: inner.lower + (last if factor < 0 else 0)}).simplify()
            extent += abs(factor) * last
        corner.append(start)
        extents.append(extent)
    if any(not _known_before(v, loop) for i in corner for v in i.values):
        return None
    return PrefetchBox(buffer, tuple(corner), tuple(extents), isa(op, AffineStoreOp))


def _known_before(value: ir.Value, loop: Loop) -> bool:
    return value == loop.var or not walk.is_inside(owner_op(value), loop.op)


def _emit_prefetches(loop: Loop, patches: Sequence[PrefetchBox], ahead: int) -> None:
    """Emit the prefetches at the start of the body, guarded by the existence of the iteration ahead."""
    target = Index.from_value(loop.var) + ahead
    with ir.InsertionPoint.at_block_begin(loop.body), loop.op.location:
        if not ahead:
            return _prefetch_lines(patches, {})
        exists = create.guard([Constraint((u - 1 - target).simplify()) for u in loop.uppers])
        with create.at_start(exists.regions[0].blocks[0]):
            return _prefetch_lines(patches, {loop.var: target})


def _prefetch_lines(patches: Sequence[PrefetchBox], shift: Mapping[ir.Value, Index]) -> None:
    """Prefetch each line once, for writing if it is also written."""
    lines: dict[tuple, bool] = {}
    for patch in patches:
        for start in patch.starts():
            indices = [(c.substitute(shift) + s).simplify() for c, s in zip(patch.corner, start, strict=True)]
            map_, operands = emit_map(indices)
            key = (patch.buffer, map_, tuple(operands))
            lines[key] = lines.get(key, False) or patch.written
    for (buffer, map_, operands), written in lines.items():
        _create(buffer, map_, operands, written, IN_L1)


def _create(buffer: ir.Value, map_: ir.AffineMap, operands: Sequence[ir.Value], written: bool, locality: int) -> None:
    attributes = {
        "map": ir.AffineMapAttr.get(map_),
        "isWrite": ir.BoolAttr.get(written),
        "localityHint": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), locality),
        "isDataCache": ir.BoolAttr.get(True),
    }
    ir.Operation.create("affine.prefetch", [], [buffer, *operands], attributes)
