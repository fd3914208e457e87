"""Accesses in execution order: whether an element is accessed at one place, then at another."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, AccessRelation, lex_lt, relation_of, same_element, witness
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.dataflow import times
from tir_mlir.dialect.diagnostics import Counterexample
from tir_mlir.dialect.ir import Buffer
from tir_mlir.dialect.presburger import dim_type, question
from tir_mlir.passes.schedule.legality.written_before_read import loops_around


def written_after_read(
    reads: Sequence[Access], between: Sequence[ir.Operation], level: ir.Operation
) -> tuple[Access, Counterexample] | None:
    """A write under the ops `between` of an element that one of `reads` has read before; see `in_order`."""
    writes = [a for op in between for a in accesses(op) if a.is_write]
    conflict = in_order(reads, writes, level)
    return None if conflict is None else (conflict[1], conflict[2])


def in_order(
    first: Sequence[Access], second: Sequence[Access], level: ir.Operation
) -> tuple[Access, Access, Counterexample] | None:
    """An access of `first` and a later one of `second` to one element, in the same iteration of the loops at and above
    `level`, an op around all of them; with the two iterations. Raises NotProvable if undecided.
    """
    for earlier in first:
        for later in (a for a in second if a.buffer == earlier.buffer):
            with question(f"in which order elements of {Buffer(earlier.buffer).name} are accessed"):
                a, b = relation_of(earlier), relation_of(later)
                clash = _later(a, b, level)
                if not clash.is_empty():
                    return earlier, later, witness(a, b, clash)
    return None


def _later(a: AccessRelation, b: AccessRelation, level: ir.Operation) -> isl.Map:
    """{ iteration of a -> later iteration of b with the same element }, in one iteration of `level`."""
    pairs = same_element(a, b)
    for depth in range(loops_around(level)):
        pairs = pairs.equate(dim_type.in_, depth, dim_type.out, depth)
    whens = [times(t, level) for t in (a, b)]
    length = max(map(len, whens))
    clocks = [
        t.dom.relation([*when, *[t.dom.zero] * (length - len(when))]) for t, when in zip((a, b), whens, strict=True)
    ]
    later = lex_lt(isl.Map.from_domain_and_range(clocks[0].range(), clocks[1].range()), list(range(length)))
    return pairs.intersect(clocks[0].apply_range(later).apply_range(clocks[1].reverse()))
