"""The rule of iter kinds: iters declared spatial are independent."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, footprint
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, NotProvable
from tir_mlir.dialect.ir import Block, Buffer, parents
from tir_mlir.dialect.presburger import dim_type, domain, flatten, only_where, question, smallest_point
from tir_mlir.dialect.verify.violation import fail


def iter_kinds(block: Block) -> None:
    """Check that no two instances that run and differ in a spatial iter access one element, one of them writing."""
    spatial = [n for n, i in enumerate(block.iters) if i.kind == "S" and i.extent.as_constant() != 1]
    groups: dict[ir.Value, list[Access]] = {}
    for access in accesses(block.op):
        if not _owned(access.buffer, block):
            groups.setdefault(access.buffer, []).append(access)
    for buffer, group in groups.items():
        if any(a.is_write for a in group) and not _plainly_spatial(block, group, spatial):
            _check_spatial(block, buffer, group, spatial)


def _owned(buffer: ir.Value, block: Block) -> bool:
    home = Buffer(buffer).op
    return home is not None and any(p == block.op for p in parents(home))


def _plainly_spatial(block: Block, group: Sequence[Access], spatial: Sequence[int]) -> bool:
    """Whether all accesses have the same index, with every spatial iter as a separate dimension and no reduce iter."""
    first = group[0]
    if any(a.mins != first.mins or not a.is_point for a in group):
        return False
    alone = [m.is_value() for m in first.mins]
    return all(any(v is not None and v == block.iters[n].var for v in alone) for n in spatial)


def _check_spatial(block: Block, buffer: ir.Value, group: Sequence[Access], spatial: Sequence[int]) -> None:
    name = Buffer(buffer).name
    for a in group:
        for b in group:
            if not (a.is_write or b.is_write):
                continue
            try:
                with question("iter kinds"):
                    clash = _clash(a, b, block)
                    for n in spatial:
                        for order in (clash.order_lt, clash.order_gt):
                            bad = order(dim_type.in_, n, dim_type.out, n)
                            if not bad.is_empty() and not (bad := _run(bad, block)).is_empty():
                                _report_kind(block, n, bad, name)
            except NotProvable:
                continue  # primitives that rely on it check the affected loops themselves


def _clash(a: Access, b: Access, block: Block) -> isl.Map:
    """{ iters -> iters } that access one element in the same iteration of the enclosing ops, inner loops relaxed."""
    count = len(block.iters)
    (one, first, _), (other, second, _) = (footprint([x], block.op) for x in (a, b))
    clash = one.apply_range(other.reverse())
    around = second[: len(second) - count]
    for place, value in enumerate(first[: len(first) - count]):
        if value in around:
            clash = clash.equate(dim_type.in_, place, dim_type.out, around.index(value))
    return clash.project_out(dim_type.in_, 0, len(first) - count).project_out(dim_type.out, 0, len(around))


def _run(clash: isl.Map, block: Block) -> isl.Map:
    """Restrict { iters -> iters } to instances that run: the domain may be larger."""
    dom = domain(block.op, extra=[i.binding for i in block.iters])
    points = dom.relation([dom.aff(i.binding) for i in block.iters]).range()
    return clash.intersect_domain(points).intersect_range(points)


def _report_kind(block: Block, number: int, bad: isl.Map, buffer: str) -> None:
    point = smallest_point(flatten(bad)) or []
    count = len(block.iters)
    pair = point[-2 * count : -count], point[-count:]
    example = Counterexample(tuple(Iteration.of(block.name, [i.name for i in block.iters], p) for p in pair))
    show = [", ".join(f"{name} = {v}" for name, v in i.values) for i in example.iterations]
    it = block.iters[number]
    fail(
        block.op,
        "kinds",
        f'iter {it.name} of block "{block.name}" is declared spatial, but the iterations ({show[0]}) and ({show[1]}) '
        f"touch the same element of {buffer}, one of them writing{only_where(bad, block.op)}; declare it a reduce or"
        " opaque axis, or index by it",
        example,
    )
