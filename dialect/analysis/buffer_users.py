"""Where a buffer is used, by its uses: in a large function that is far less than all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access, accesses
from tir_mlir.dialect.ir import remembered, top_of


def users(buffer: ir.Value) -> Iterator[ir.Operation]:
    """The ops in the body of a function that use a buffer, or a view of it, inside or directly. In no order."""
    for use in buffer.uses:
        owner = use.owner.operation
        yield top_of(owner)
        for result in owner.results:
            if isinstance(result.type, ir.MemRefType):
                yield from users(result)


def nests_using(buffers: Iterable[ir.Value]) -> list[ir.Operation]:
    """The ops in the body of a function that use one of the buffers, in program order."""
    found: list[ir.Operation] = []
    for buffer in buffers:
        for top in users(buffer):
            if top not in found:
                found.append(top)
    return _in_order(found)


def _in_order(tops: list[ir.Operation]) -> list[ir.Operation]:
    """Sort ops of one block. A merge sort: an op knows only whether it is before another one."""
    if len(tops) < 2:
        return tops
    left, right = _in_order(tops[: len(tops) // 2]), _in_order(tops[len(tops) // 2 :])
    merged: list[ir.Operation] = []
    while left and right:
        merged.append((left if left[0].is_before_in_block(right[0]) else right).pop(0))
    return merged + left + right


@remembered
def accesses_to(buffer: ir.Value, home: ir.Operation) -> list[Access]:
    """The accesses to a buffer in an op, in program order."""
    places = nests_using([buffer]) if home.name == "func.func" else [home]
    return [a for place in places for a in accesses(place) if a.buffer == buffer]
