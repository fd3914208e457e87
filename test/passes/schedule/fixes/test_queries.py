"""Fixes for refusals of get_block, get_producers and get_consumers: each is applied."""

from harness.fix_rows import Row, each_of
from programs.short import PAIR, each, main, nest

ROWS = [
    Row(
        "get_block: a function without blocks",
        main("A:8 C:8", nest("i:8", "C[i] = A[i]")),
        lambda s: s.get_block("C"),
        "add a T.block to the program",
        instead=main("A:8 C:8", each("C", "C[vi] = A[vi]")),
    ),
    Row(
        "get_producers: the root",
        PAIR,
        lambda s: s.get_producers(s.get_block("root")),
        "get_child_blocks",
        lambda s: s.get_child_blocks(s.get_block("root"))[1],
    ),
    Row(
        "get_consumers: the root",
        PAIR,
        lambda s: s.get_consumers(s.get_block("root")),
        "get_child_blocks",
        lambda s: s.get_child_blocks(s.get_block("root"))[0],
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
