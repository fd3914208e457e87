"""Fixes for refusals of cache_read, cache_write, cache_index, read_at and write_at: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import CUT_SQUARE, HALVES, PAIR, TRIANGLE, each, main, nest, sblock, total, under

COND = "if A[0] > 0.0:"
BRANCHES = main(
    "A:8 B:8 C:8",
    nest(
        "i:8",
        under(COND, sblock("B", "vi:8=i", "B[vi] = A[vi]")),
        under("else:", sblock("C", "vi:8=i", "C[vi] = B[vi]")),
    ),
)


def running_sums(begun: int) -> str:
    """A block that overwrites what another one has begun."""
    update = each("X i:3O", "X[vi + 1] = X[vi] + A[vi]")
    return main("A:3 B:4; X:4", each(f"start:{begun}", "X[vi] = 0.0"), update, each("B:4", "B[vi] = X[vi]"))


ROWS = [
    Row(
        "cache_read: several writers",
        HALVES,
        lambda s: s.cache_read("C", 0, "local"),
        "blockize the writers into one block first",
        lambda s: (s.blockize([s.get_block("L"), s.get_block("H")]), s.cache_read("C", 0, "local")),
    ),
    Row(
        "cache_read: written outside any block",
        main("A:8 C:8 b:8", nest("i:8", "b[i] = A[i]"), each("C", "C[vi] = b[vi]")),
        lambda s: s.cache_read("C", 0, "local"),
        "put that statement into a block",
        instead=PAIR,
    ),
    Row(
        "cache_read: values of another iteration",
        main(
            "A:9 C:9 b:9",
            nest(
                "i:9",
                sblock("B", "vi:9=i", "b[vi] = A[vi]"),
                sblock("C", "vi:9=i", "C[vi] = T.if_then_else(vi > 0, b[vi - 1], T.float32(0))"),
            ),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies the current contents",
        lambda s: s.read_at(loop(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_read: a parameter of which a half is written",
        main("A:8 B:8 C:8", each("B:4", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]")),
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies the current contents",
        lambda s: s.read_at(loop(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_read: a writer that may not run",
        main(
            "A:8 B:8 C:8",
            nest("i:8", under(COND, sblock("B", "vi:8=i", "B[vi] = A[vi]")), sblock("C", "vi:8=i", "C[vi] = B[vi]")),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies the current contents",
        lambda s: s.read_at(loop(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_read: writer and reader in two branches",
        BRANCHES,
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies the current contents",
        lambda s: s.read_at(s.add_unit_loop("C"), "C", 0, "local"),
    ),
    Row(
        "cache_read: a second reader in the other branch",
        main(
            "A:8 B:8 C:8 D:8",
            nest(
                "i:8",
                under(COND, sblock("B", "vi:8=i", "B[vi] = A[vi]"), sblock("D", "vi:8=i", "D[vi] = B[vi]")),
                under("else:", sblock("C", "vi:8=i", "C[vi] = B[vi]")),
            ),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "leave this reader out (consumer_blocks)",
        lambda s: s.cache_read("C", 0, "local", [s.get_block("D")]),
    ),
    Row(
        "cache_write: a listed reader of what nobody wrote",
        main("A:8 B:8 C:8", each("B:4", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]")),
        lambda s: s.cache_write("B", 0, "local", [s.get_block("C")]),
        "leave this reader out (consumer_blocks)",
        lambda s: s.cache_write("B", 0, "local"),
    ),
    Row(
        "cache_write: read outside any block",
        main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), nest("i:8", "C[i] = b[i]")),
        lambda s: s.cache_write("B", 0, "local"),
        "put that statement into a block",
        instead=PAIR,
    ),
    Row(
        "cache_write: no box",
        main("A:8 C:16", each("C", "C[vi * 2] = A[vi]")),
        lambda s: s.cache_write("C", 0, "local"),
        "write_at a loop",
        lambda s: s.write_at(loop(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_write: an init outside",
        main("A:8x4 C:8", total()),
        lambda s: s.cache_write("C", 0, "local"),
        'pass block "C_o"',
        lambda s: s.cache_write("C_o", 0, "local"),
        before=lambda s: s.blockize(loop(s, "C", 1)),
    ),
    Row(
        "cache_write: writer and reader in two branches",
        BRANCHES,
        lambda s: s.cache_write("B", 0, "local"),
        "write_at a loop around the writer alone",
        lambda s: s.write_at(s.add_unit_loop("B"), "B", 0, "local"),
    ),
    Row(
        "cache_write: a reader ahead in the loop",
        main(
            "A:9 B:9 C:9",
            nest("i:8", sblock("C", "vi:8=i", "C[vi] = B[vi]"), sblock("B", "vi:8=i", "B[vi + 1] = A[vi]")),
        ),
        lambda s: s.cache_write("B", 0, "local"),
        "write_at a loop around the writer alone",
        lambda s: s.write_at(s.add_unit_loop("B"), "B", 0, "local"),
    ),
    Row(
        "cache_index: a threshold too high",
        main("A:8 C:8", each("C", "C[vi] = A[vi // 2]")),
        lambda s: s.cache_index("C", "global", 5),
        "a lower cse_thresh",
        lambda s: s.cache_index("C", "global", 1),
    ),
    Row(
        "cache_value: a constant",
        main("A:8 C:8", each("C", "C[vi] = A[vi] * 2.0")),
        lambda s: s.cache_value("C", [1], "local"),
        "a path to one of them",
        lambda s: s.cache_value("C", [0], "local"),
    ),
    Row(
        "cache_value: a guard",
        main("A:7 C:7", each("C:7", "C[vi] = A[vi] * 2.0")),
        lambda s: s.cache_value("C", [], "local"),
        "cache_value before the loops are split",
        lambda s: (s.cache_value("C", [], "local"), s.split(loop(s, "C"), [None, 2])),
        before=lambda s: s.split(loop(s, "C"), [None, 2]),
        again=True,
    ),
    Row(
        "cache_value: a producer in the loop",
        PAIR,
        lambda s: s.cache_value("C", [], "local"),
        "cache_value before compute_at",
        lambda s: (s.cache_value("C", [], "local"), s.compute_at("B", loop(s, "C_part"))),
        before=lambda s: s.compute_at("B", loop(s, "C")),
        again=True,
    ),
    Row(
        "write_in_place: a parameter",
        PAIR,
        lambda s: s.write_in_place("B", "A"),
        "cache_read or cache_write makes a buffer of the program",
        lambda s: (s.cache_read("B", "A", "global"), s.write_in_place("B", "A_global")),
    ),
    Row(
        "read_at: written after it was read",
        main("A:8 B:8", nest("i:8", sblock("B", "vi:8=i", "B[vi] = A[vi]"), sblock("A", "vi:8=i", "A[vi] = 0.0"))),
        lambda s: s.read_at(loop(s, "B"), "B", 0, "local"),
        "pass an inner loop",
        lambda s: s.read_at(s.add_unit_loop("B"), "B", 0, "local"),
    ),
    Row(
        "read_at: a block that reads and writes",
        main("A:8", each("A", "A[vi] = A[vi] + 1.0")),
        lambda s: s.read_at(loop(s, "A"), "A", 0, "local"),
        "cache_inplace copies around a single block",
        lambda s: s.cache_inplace("A", 0, "local"),
    ),
    Row(
        "read_at: a loop elsewhere",
        PAIR,
        lambda s: s.read_at(loop(s, "B"), "C", 0, "local"),
        "pass one of its own loops",
        lambda s: s.read_at(loop(s, "C"), "C", 0, "local"),
    ),
    Row(
        "read_at: a range that depends on a loop",
        TRIANGLE,
        lambda s: s.read_at(loop(s, "C", 1), "C", 0, "local"),
        "give j its maximal range",
        instead=CUT_SQUARE,
    ),
    Row(
        "write_at: no box",
        main("A:4x8 C:4x16", each("C:4x8", "C[vi, vj * 2] = A[vi, vj]")),
        lambda s: s.write_at(loop(s, "C"), "C", 0, "local"),
        "pass an inner loop",
        lambda s: s.write_at(loop(s, "C", 1), "C", 0, "local"),
    ),
    Row(
        "write_at: what the buffer held before",
        main("A:8", each("A", "A[vi] = A[vi] + 1.0")),
        lambda s: s.write_at(loop(s, "A"), "A", 0, "local"),
        "cache_inplace copies in",
        lambda s: s.cache_inplace("A", 0, "local"),
    ),
    Row(
        "cache_inplace: what nobody has written",
        running_sums(1),
        lambda s: s.cache_inplace("X", 0, "local"),
        "in the program, write all of X first",
        instead=running_sums(4),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
