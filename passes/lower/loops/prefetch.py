"""Lower prefetch annotations of loops to prefetch ops."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Constraint, Index, Loop, bits, create, emit_map, is_loop, owner_op, walk
from tir_mlir.dialect.ir.annotation_keys import PREFETCH
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineStoreOp, isa
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.passes.lower.outcomes import Outcomes
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs

LINE_BYTES = 64
"""Bytes of a cache line."""
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

    The annotation `prefetch` names one or several buffers, or maps each to a number of iterations ahead: {"A": 4}.
    Supports accesses whose indices are sums of loop variables, under loops of constant extent, up to 64 lines. Warns
    about skipped buffers. Requires peeled loops (`tir-lower-peel-tails`), not vectorized yet.
    """
    for func in programs(module):
        names = {Buffer(accessed_memref(op)).root.name for op in walk.ops(func.op) if isa(op, AffineElementAccessOp)}
        outcomes = Outcomes()
        for loop in [Loop(op) for op in walk.ops(func.op) if is_loop(op) and PREFETCH in Loop(op).annotations]:
            for name, ahead in _requests(loop, names).items():
                key = Outcomes.key(loop, f'loop {loop.name} does not prefetch "{name}"')
                outcomes.add(key, _prefetch(loop, name, ahead))
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


def _requests(loop: Loop, accessed_names: set[str]) -> dict[str, int]:
    """The buffers that the annotation names, with the number of iterations ahead."""
    annotation = loop.annotations[PREFETCH]
    names = annotation if isinstance(annotation, list) else [annotation]
    requests: dict[str, int] = {}
    for name, ahead in annotation.items() if isinstance(annotation, dict) else [(name, 0) for name in names]:
        if not isinstance(name, str) or type(ahead) is not int or ahead < 0:
            raise LoweringError(
                f"{location_text(loop.op)}: loop {loop.name} has prefetch = {annotation!r}; expected names of buffers, "
                f'or a dictionary from names to the number of iterations ahead, such as {{"A": 4}}'
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
        attributes = {
            "map": ir.AffineMapAttr.get(map_),
            "isWrite": ir.BoolAttr.get(written),
            "localityHint": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 3),
            "isDataCache": ir.BoolAttr.get(True),
        }
        ir.Operation.create("affine.prefetch", [], [buffer, *operands], attributes)
