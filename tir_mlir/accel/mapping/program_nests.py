"""Which blocks of a function are mapped together: a sum with elementwise blocks that follow it, and chains of these."""

from __future__ import annotations

from collections.abc import Mapping

from tir_mlir.schedule import Schedule


def nests_of(sch: Schedule, function: str) -> list[tuple[str, str | None]]:
    """The blocks of a function that are mapped, in order, each with the elementwise block that computes with its
    result; None if that is stored as it is. Elementwise blocks of which one alone reads the other become one."""
    names = [sch.get(block).name for block in sch.get_child_blocks(sch.get_block("root", function))]
    order = {name: number for number, name in enumerate(names)}
    sums = [name for name in names if not is_elementwise(sch, name)]
    taken: set[str] = set()
    nests: dict[str, str | None] = {}
    for name in reversed(sums):
        nests[name] = _join_readers(sch, name, order, taken)
    for name in names:
        if name not in sums and name not in taken:
            last = name
            while (reader := _only_reader(sch, last, taken)) is not None:
                sch.compute_inline(last)
                taken.add(last)
                last = reader
            taken.add(last)
            nests[last] = None
    return sorted(nests.items(), key=lambda nest: order[nest[0]])


def is_elementwise(sch: Schedule, block: str) -> bool:
    """Whether a block computes each element once."""
    return all(i.kind == "S" for i in sch.get(sch.get_block(block)).iter_vars)


def _join_readers(sch: Schedule, block: str, order: Mapping[str, int], taken: set[str]) -> str | None:
    """Make one block of the elementwise ones that follow a sum, each alone. Returns its name."""
    last: str | None = None
    while (reader := _only_reader(sch, last or block, taken)) is not None:
        others = {sch.get(p).name for p in sch.get_producers(sch.get_block(reader))} - {block, last}
        if any(order[other] > order[block] for other in others):  # it is computed when the sum has been stored
            break
        if last is not None:
            sch.compute_inline(last)
        last = reader
        taken.add(last)
    return last


def _only_reader(sch: Schedule, block: str, taken: set[str]) -> str | None:
    """The elementwise block that alone reads what a block computes, if no sum takes it."""
    readers = [sch.get(r).name for r in sch.get_consumers(sch.get_block(block))]
    if len(readers) != 1 or readers[0] in taken or not is_elementwise(sch, readers[0]):
        return None
    return readers[0]
