"""Whether a block writes all elements of the windows of its kernels, or only those that a limit leaves."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, access_domain, footprint
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Block, attrs
from tir_mlir.dialect.presburger import question

WrittenElements = Mapping[ir.Value, isl.Map]
"""By buffer, the elements that an iteration of a block certainly writes."""


def written_elements(block: Block) -> WrittenElements:
    """What a block writes; a buffer is left out if that is not known."""
    groups: dict[ir.Value, list[Access]] = {}
    for access in accesses(block.op):
        if access.is_write:
            groups.setdefault(access.buffer, []).append(access)
    elements: dict[ir.Value, isl.Map] = {}
    for buffer, group in groups.items():
        if all(a.exact and access_domain(a).exact for a in group):
            try:
                with question("what a block writes"):
                    elements[buffer], _, _ = footprint(group, block.op)
            except NotProvable:
                continue
    return elements


def mark_partial_writes(block: Block, before: WrittenElements) -> None:
    """Let proofs know that the kernels of a block may write less than their windows, if these have an element which the
    block did not write before they replaced its statements: what another block wrote there may remain."""
    for buffer, elements in written_elements(block).items():
        try:
            with question("whether a kernel writes all of its window"):
                is_written = buffer in before and elements.is_subset(before[buffer])
        except NotProvable:
            is_written = False
        if not is_written:
            attrs.put(block.op, attrs.PARTIAL, ["writes"])
            return
