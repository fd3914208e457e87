"""Places of buffers in one piece of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def first_fit(
    sizes: Sequence[int], alignments: Sequence[int], meet: Callable[[int, int], bool], order: Sequence[int]
) -> tuple[list[int], int]:
    """Place buffers, in order, each at the lowest offset where it overlaps none that it meets.

    sizes: in bytes, or in any unit. alignments: what the offset of each is a multiple of. meet: whether two
    buffers, by number, are needed at the same time. order: all numbers. Returns the offsets, and the end of the last.
    """
    offsets = [0] * len(sizes)
    done: list[int] = []
    total = 0
    for i in order:
        unit = alignments[i]
        start = 0
        for j in sorted((j for j in done if meet(i, j)), key=lambda j: offsets[j]):
            if start + sizes[i] <= offsets[j]:
                break
            start = max(start, -(-(offsets[j] + sizes[j]) // unit) * unit)
        offsets[i] = start
        total = max(total, start + sizes[i])
        done.append(i)
    return offsets, total
