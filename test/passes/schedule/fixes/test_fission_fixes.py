"""Fixes for refusals of fission: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, loop
from programs.short import PAIR, main, nest, sblock

DEEP = main(
    "A:8x4 C:8x4 b:8x4",
    nest(
        "i:8 j:4",
        sblock("B", "vi:8=i vj:4=j", "b[vi, vj] = A[vi, vj]"),
        sblock("C", "vi:8=i vj:4=j", "C[vi, vj] = b[vi, vj]"),
    ),
)
ONE_ELEMENT = main(
    "A:8 C:8 b:1", nest("i:8", sblock("B", "vi:8O=i", "b[0] = A[vi]"), sblock("C", "vi:8=i", "C[vi] = b[0]"))
)
EIGHT_ELEMENTS = main(
    "A:8 C:8 b:8", nest("i:8", sblock("B", "vi:8=i", "b[vi] = A[vi]"), sblock("C", "vi:8=i", "C[vi] = b[vi]"))
)
NEXT_ROW = main(
    "A:9x4 C:8x4",
    nest(
        "j:4 i:8",
        sblock("B", "vi:8O=i vj:4=j", "A[vi, vj] = 1.0"),
        sblock("C", "vi:8=i vj:4=j", "C[vi, vj] = A[vi + 1, vj]"),
    ),
)


def both_store(value: str) -> list[str]:
    """Two blocks that store a value."""
    return [sblock(name, "vi:8=i", f"{name}[vi] = {value}") for name in "BC"]


ROWS = [
    Row(
        "fission: two blocks deeper",
        DEEP,
        lambda s: s.fission(loop(s, "B"), after="B"),
        "fission loop j first",
        lambda s: (s.fission(loop(s, "B", 1), after="B"), s.fission(loop(s, "B"), after="B")),
    ),
    Row(
        "fission: a block in a block",
        PAIR,
        lambda s: s.fission(loop(s, "B_o"), after="B"),
        'pass "B_o"',
        lambda s: s.fission(loop(s, "B_o"), after="B_o"),
        before=lambda s: (
            s.blockize(s.split(loop(s, "B"), [None, 4])[1]),
            s.merge(loop(s, "B_o"), s.split(loop(s, "C"), [None, 4])[0]),
        ),
    ),
    Row(
        "fission: the last block",
        DEEP,
        lambda s: s.fission(loop(s, "C", 1), after="C"),
        "pass an earlier block",
        lambda s: s.fission(loop(s, "C", 1), after="B"),
    ),
    Row(
        "fission: one element for all iterations",
        ONE_ELEMENT,
        lambda s: s.fission(loop(s, "B"), after="B"),
        "give b a dimension for loop i",
        instead=EIGHT_ELEMENTS,
    ),
    Row(
        "fission: the next row",
        NEXT_ROW,
        lambda s: s.fission(loop(s, "B", 1), after="B"),
        "fission another loop of the nest",
        lambda s: (s.reorder(loop(s, "B", 1), loop(s, "B")), s.fission(loop(s, "B", 1), after="B")),
    ),
    Row(
        "fission: a value that both parts use",
        main("A:8 B:8 C:8", nest("i:8", "x: T.let[T.float32] = A[i]", *both_store("x"))),
        lambda s: s.fission(loop(s, "B"), after="B"),
        "in the program, store it to a buffer with one element for each iteration",
        instead=main("A:8 B:8 C:8 x:8", nest("i:8", "x[i] = A[i]", *both_store("x[vi]"))),
    ),
]


@each_of(ROWS)
def test_the_fix_works(row: Row):
    row.follow()
