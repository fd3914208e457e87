"""Whether what a block reads is overwritten after it has read it, so that reading it later would give another value."""

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
    """A write under the ops `between` of an element that one of `reads` has read before, in the same iteration of the
    loops at and above `level`, an op around all of them; with the two iterations. Raises NotProvable if undecided.
    """
    asked = {a.buffer for a in reads}
    writes = [a for op in between for a in accesses(op) if a.is_write and a.buffer in asked]
    for write in writes:
        for read in (a for a in reads if a.buffer == write.buffer):
            with question(f"whether {Buffer(write.buffer).name} is written after it is read"):
                one, other = relation_of(read), relation_of(write)
                clash = _later(one, other, level)
                if not clash.is_empty():
                    return write, witness(one, other, clash)
    return None


def _later(read: AccessRelation, write: AccessRelation, level: ir.Operation) -> isl.Map:
    """{ iteration of a read -> a later iteration of a write of the same element }, in one iteration of `level`."""
    pairs = same_element(read, write)
    for depth in range(loops_around(level)):
        pairs = pairs.equate(dim_type.in_, depth, dim_type.out, depth)
    whens = [times(t, level) for t in (read, write)]
    length = max(map(len, whens))
    clocks = [
        t.dom.relation([*when, *[t.dom.zero] * (length - len(when))])
        for t, when in zip((read, write), whens, strict=True)
    ]
    later = lex_lt(isl.Map.from_domain_and_range(clocks[0].range(), clocks[1].range()), list(range(length)))
    return pairs.intersect(clocks[0].apply_range(later).apply_range(clocks[1].reverse()))
