"""Conflicts between iterations of one block: two that differ in an iter access one element, and one of them writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access, accesses
from tir_mlir.dialect.analysis.certainty import doubt
from tir_mlir.dialect.analysis.regions import footprint
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, NotProvable
from tir_mlir.dialect.ir import Block, Buffer, parents
from tir_mlir.dialect.presburger import dim_type, domain, flatten, question, smallest_point


@dataclass(frozen=True)
class IterConflict:
    """Pairs { iters -> iters } that differ in the iter at `number` and access one element of `buffer`.

    `doubt`: why it is undecided whether they do; "" if they certainly do.
    """

    block: Block
    number: int
    buffer: ir.Value
    pairs: isl.Map
    doubt: str = ""

    @property
    def example(self) -> Counterexample | None:
        """The smallest pair; None if it is undecided."""
        return None if self.doubt else self._smallest()

    def _smallest(self) -> Counterexample:
        point = smallest_point(flatten(self.pairs)) or []
        count, names = len(self.block.iters), [i.name for i in self.block.iters]
        pair = point[-2 * count : -count], point[-count:]
        return Counterexample(tuple(Iteration.from_point(self.block.name, names, p) for p in pair))

    @property
    def text(self) -> str:
        """The smallest pair and its buffer, or the doubt, as part of a sentence."""
        if self.doubt:
            return (
                f"it is not provable that no two of its iterations touch one element of {Buffer(self.buffer).name}: "
                f"{self.doubt}"
            )
        show = [", ".join(f"{name} = {v}" for name, v in i.values) for i in self._smallest().iterations]
        return (
            f"the iterations ({show[0]}) and ({show[1]}) touch the same element of {Buffer(self.buffer).name}, "
            "one of them writing"
        )


def iter_conflict(
    block: Block, differ: Sequence[int], equal: Sequence[int] = (), skip_undecided: bool = False
) -> IterConflict | None:
    """A conflict of iterations that differ in one of the iters `differ` and agree in the iters `equal`, or None; a
    certain one, if there is one.

    Both run in the same iteration of the loops and blocks around the block. Errors: NotProvable, unless
    `skip_undecided`.
    """
    undecided: IterConflict | None = None
    for buffer, group in _written(block):
        if _is_plain(block, group, differ):
            continue
        for a in group:
            for b in group:
                if not (a.is_write or b.is_write):
                    continue
                try:
                    conflict = _conflict(block, a, b, differ, equal)
                except NotProvable:
                    if not skip_undecided:
                        raise
                    continue
                if conflict is None:
                    continue
                if not (why := doubt(a) or doubt(b)):
                    return IterConflict(block, conflict[0], buffer, conflict[1])
                undecided = undecided or IterConflict(block, conflict[0], buffer, conflict[1], why)
    return undecided


def _written(block: Block) -> Iterator[tuple[ir.Value, list[Access]]]:
    """The accesses of a block by buffer, for buffers that it writes and does not allocate."""
    groups: dict[ir.Value, list[Access]] = {}
    for access in accesses(block.op):
        owner = Buffer(access.buffer).op
        if owner is None or not any(p == block.op for p in parents(owner)):
            groups.setdefault(access.buffer, []).append(access)
    return ((buffer, group) for buffer, group in groups.items() if any(a.is_write for a in group))


def _is_plain(block: Block, group: Sequence[Access], differ: Sequence[int]) -> bool:
    """Fast path: whether all accesses have the same index, in which each of the iters is a separate dimension."""
    first = group[0]
    if any(a.mins != first.mins or not a.is_point for a in group):
        return False
    alone = [m.is_value() for m in first.mins]
    return all(any(v is not None and v == block.iters[n].var for v in alone) for n in differ)


def _conflict(
    block: Block, a: Access, b: Access, differ: Sequence[int], equal: Sequence[int]
) -> tuple[int, isl.Map] | None:
    with question("iter kinds"):
        clash = _clash(a, b, block)
        for n in equal:
            clash = clash.equate(dim_type.in_, n, dim_type.out, n)
        for n in differ:
            for order in (clash.order_lt, clash.order_gt):
                bad = order(dim_type.in_, n, dim_type.out, n)
                if not bad.is_empty() and not (bad := _run(bad, block)).is_empty():
                    return n, bad
    return None


def _clash(a: Access, b: Access, block: Block) -> isl.Map:
    """{ iters -> iters } that access one element in the same iteration of the enclosing ops, inner loops relaxed."""
    count = len(block.iters)
    (first_map, first, _), (second_map, second, _) = (footprint([x], block.op, split=True) for x in (a, b))
    clash = first_map.apply_range(second_map.reverse())
    outer_values = second[: len(second) - count]
    for position, value in enumerate(first[: len(first) - count]):
        if value in outer_values:
            clash = clash.equate(dim_type.in_, position, dim_type.out, outer_values.index(value))
    return clash.project_out(dim_type.in_, 0, len(first) - count).project_out(dim_type.out, 0, len(outer_values))


def _run(clash: isl.Map, block: Block) -> isl.Map:
    """Restrict { iters -> iters } to instances that run: the domain may be larger."""
    dom = domain(block.op, extra=[i.binding for i in block.iters])
    points = dom.relation([dom.aff(i.binding) for i in block.iters]).range()
    return clash.intersect_domain(points).intersect_range(points)
