"""Fixes for refusals of compute_at, reverse_compute_at and rolling_buffer: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, loop
from programs.short import (
    EARLIER_READER,
    HALVES,
    KEPT_PAIR,
    PAIR,
    PAIR_2D,
    SUMS,
    SUMS_OF_A_TRIANGLE,
    SUMS_OF_WHOLE_ROWS,
    each,
    main,
    nest,
    sblock,
    under,
)

OVERWRITTEN = main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), each("reset", "A[vi] = 1.0"), each("C", "C[vi] = b[vi]"))
FROM_B = sblock("D", "vi:8=i", "d[vi] = b[vi]")
FROM_D = nest("i:8 j:1", sblock("C", "vi:8=i", "C[vi] = d[vi]"))
FIRST_COLUMN = nest("j:1", sblock("w", "vi:8=i vj:1=j", "B[vi, vj] = A[vi, vj]"))


BOTH_COLUMNS = nest("i:8 j:1", sblock("C", "vi:8=i", "C[vi] = b[vi, 0] + b[vi, 1]"))


def columns(value: str) -> str:
    """Two columns of b."""
    return nest("j:2", sblock("b", "vi:8=i vj:2=j", f"b[vi, vj] = {value}"))


PARTIAL = sblock("P", "SR i k", "p[vi] = p[vi] + A[vi, vk]", init="p[vi] = 0.0")
IN_RANGE = "if X[0] >= 0 and X[0] < 4:"
COPIED, READ = each("B:8x4", "b[vi, vj] = A[vi, vj]"), "C[vi, vj] = b[vi, vj]"


def parts(*body: str) -> str:
    return main("A:6x7 B:3 D:6x3 p:6", nest("i:6", *body))


def gathered(producer: str) -> str:
    """A producer of what is read under a condition on data."""
    read = "C[vi, vj] = T.if_then_else(X[0] >= 0 and X[0] < 4, b[vi, vj], T.float32(0))"
    return main("A:4x6 X:1:int32 C:4x6 b:4x6", producer, each("C:4x6", read))


ROWS = [
    Row(
        "compute_at: nothing reads it, a loop before its input",
        main(
            "A:8 C:8 b:8 d:8 e:8",
            each("E", "e[vi] = A[vi]"),
            each("B", "b[vi] = A[vi]"),
            each("d", "d[vi] = b[vi]"),
            each("C", "C[vi] = e[vi]"),
        ),
        lambda s: s.compute_at("d", loop(s, "E")),
        "choose a loop after it",
        lambda s: s.compute_at("d", loop(s, "C")),
    ),
    Row(
        "compute_at: an output",
        KEPT_PAIR,
        lambda s: s.compute_at("B", loop(s, "C")),
        'cache_write of block "B" first',
        lambda s: (s.cache_write("B", 0, "local"), s.compute_at("B", loop(s, "B_local"))),
    ),
    Row(
        "compute_at: it would take from a vectorized loop what kept its lanes apart",
        main(
            "A:10 D:8 p:10 c:8",
            under(
                "for i in T.vectorized(8):",
                nest("j:3", sblock("P", "vi:10=i + j", "p[vi] = A[vi]")),
                sblock("C", "vi:8=i", "c[vi] = p[vi] + p[vi + 2]"),
            ),
            each("D", "D[vi] = c[vi]"),
        ),
        lambda s: s.compute_at("C", loop(s, "D")),
        "unroll it",
        lambda s: (s.unroll(loop(s, "P")), s.compute_at("C", loop(s, "D"))),
    ),
    Row(
        "compute_at: an input of several writers",
        main(
            "A:8x8 C:8x8 b:8x8 d:8x8",
            nest(
                "i:8",
                nest("j:4", sblock("L", "vo:8=i vi:4=j", "b[vo, vi] = A[vo, vi]")),
                nest("j:4", sblock("H", "vo:8=i vi:4=j", "b[vo, vi + 4] = A[vo, vi + 4]")),
                nest("j:8", sblock("D", "vi:8=i vj:8=j", "d[vi, vj] = b[vi, vj]")),
            ),
            nest("i:8 j:8", sblock("C", "vi:8=i vj:8=j", "C[vi, vj] = d[vi, vj]")),
        ),
        lambda s: s.compute_at("D", loop(s, "C", 1)),
        "blockize the writers into one block first",
        lambda s: (s.blockize([s.get_block("L"), s.get_block("H")]), s.compute_at("D", loop(s, "C", 1))),
    ),
    Row(
        "compute_at: an input written outside any block",
        main("A:8 C:8 b:8 d:8", nest("i:8", "b[i] = A[i]", FROM_B), FROM_D),
        lambda s: s.compute_at("D", loop(s, "C", 1)),
        "put that statement into a block",
        instead=main("A:8 C:8 b:8 d:8", nest("i:8", sblock("B", "vi:8=i", "b[vi] = A[vi]"), FROM_B), FROM_D),
    ),
    Row(
        "compute_at: an input overwritten",
        OVERWRITTEN,
        lambda s: s.compute_at("B", loop(s, "C")),
        "read a copy made by a block before",
        instead=main(
            "A:8 C:8 a:8 b:8",
            each("a", "a[vi] = A[vi]"),
            each("B", "b[vi] = a[vi]"),
            each("reset", "A[vi] = 1.0"),
            each("C", "C[vi] = b[vi]"),
        ),
    ),
    Row(
        "compute_at: an input of which a part was there before",
        main("A:8x2 B:8x2 C:8 b:8x2", nest("i:8", FIRST_COLUMN, columns("B[vi, vj]")), BOTH_COLUMNS),
        lambda s: s.compute_at("b", loop(s, "C", 1)),
        "from a copy made by a block before",
        instead=main(
            "A:8x2 B:8x2 C:8 b:8x2 o:8",
            each("o", "o[vi] = B[vi, 1]"),
            nest("i:8", FIRST_COLUMN, columns("T.if_then_else(vj < 1, B[vi, vj], o[vi])")),
            BOTH_COLUMNS,
        ),
    ),
    Row(
        "compute_at: an input overwritten, the reader brought instead",
        OVERWRITTEN,
        lambda s: s.compute_at("B", loop(s, "C")),
        'reverse_compute_at moves the consumers of block "B" to it',
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
    ),
    Row(
        "compute_at: a sum read half way",
        main(
            "A:8 C:8 p:8 t:1",
            nest(
                "k:8",
                sblock("S", "vo:1=0 vk:8R=k", "t[vo] = t[vo] + A[vk]", init="t[vo] = 0.0"),
                sblock("P", "vk:8=k", "p[vk] = t[0]"),
            ),
            each("C", "C[vi] = p[vi]"),
        ),
        lambda s: s.compute_at("P", loop(s, "C")),
        'reverse_compute_at moves the consumers of block "P" to it',
        lambda s: s.reverse_compute_at("C", loop(s, "P")),
    ),
    Row(
        "compute_at: a loop of its own",
        PAIR,
        lambda s: s.compute_at("B", loop(s, "B")),
        "a loop around a consumer of the block",
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "compute_at: a loop in another scope",
        PAIR_2D,
        lambda s: s.compute_at("B", loop(s, "C")),
        'a loop around block "C_o"',
        lambda s: s.compute_at("B", loop(s, "C_o")),
        before=lambda s: s.blockize(loop(s, "C", 1)),
    ),
    Row(
        "compute_at: a part of a sum",
        SUMS_OF_A_TRIANGLE,
        lambda s: s.compute_at("C", loop(s, "D")),
        "T.if_then_else with the identity",
        instead=SUMS_OF_WHOLE_ROWS,
    ),
    Row(
        "compute_at: an update alone",
        SUMS,
        lambda s: s.compute_at("C_update", loop(s, "D")),
        "before decompose_reduction removes the init",
        lambda s: s.compute_at("C", loop(s, "D")),
        before=lambda s: s.decompose_reduction("C", loop(s, "C")),
        again=True,
    ),
    Row(
        "compute_at: writers of halves",
        HALVES,
        lambda s: s.compute_at("L", loop(s, "C")),
        "blockize the writers into one block",
        lambda s: s.compute_at(s.blockize([s.get_block("L"), s.get_block("H")]), loop(s, "C")),
    ),
    Row(
        "compute_at: a recurrence",
        main(
            "A:8 C:8 b:9",
            nest("i:1", sblock("Z", "vi:1=i", "b[vi] = 0.0")),
            nest("i:8", sblock("B", "vi:8O=i", "b[vi + 1] = b[vi] + A[vi]")),
            each("C", "C[vi] = b[vi + 1]"),
        ),
        lambda s: s.compute_at("B", loop(s, "C")),
        "merge",
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
    ),
    Row(
        "reverse_compute_at: a later block of the loop writes what its next iteration reads",
        main(
            "A:8 C:8 b:9 p:8",
            nest("z:9", sblock("Z", "vi:9=z", "b[vi] = 0.0")),
            nest(
                "i:8",
                nest("j:1", sblock("P", "vi:8=i + j", "p[vi] = A[vi]")),
                sblock("C", "vi:8=i", "C[vi] = b[vi] + p[vi]"),
                sblock("W", "vi:8=i", "b[vi + 1] = A[vi]"),
            ),
        ),
        lambda s: s.reverse_compute_at("C", loop(s, "Z")),
        'choose a loop in loop i that ends before block "W"',
        lambda s: s.reverse_compute_at("C", loop(s, "P", 1)),
    ),
    Row(
        "reverse_compute_at: a result that is read before",
        EARLIER_READER,
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        'cache_write of block "C"',
        lambda s: (s.cache_write("C", "C", "local"), s.reverse_compute_at("C", loop(s, "B"))),
    ),
    Row(
        "reverse_compute_at: nothing feeds it, a loop after its reader",
        main("A:8 C:8 D:8 b:8", each("B", "b[vi] = A[vi]"), each("C", "C[vi] = b[vi]"), each("D", "D[vi] = A[vi]")),
        lambda s: s.reverse_compute_at("B", loop(s, "D")),
        "choose a loop before it, or around all consumers",
        lambda s: s.reverse_compute_at("B", loop(s, "C")),
    ),
    Row(
        "reverse_compute_at: nothing feeds it, a loop that may not run",
        main("A:8 C:8 D:n b:8", each("B", "b[vi] = A[vi]"), each("D:n", "D[vi] = 1.0"), each("C", "C[vi] = b[vi]")),
        lambda s: s.reverse_compute_at("B", loop(s, "D")),
        "choose a loop that always runs",
        lambda s: s.reverse_compute_at("B", loop(s, "C")),
    ),
    Row(
        "reverse_compute_at: an order that counts",
        main(
            "A:4x2x4 C:4 b:4x2x4",
            each("B:4x2x4", "b[vi, vj, vk] = A[vi, vj, vk] * 2.0"),
            nest(
                "i:4 l:4 k:2",
                sblock("C", "vi:4=i vk:2R=k vl:4R=l", "C[vi] = C[vi] * 0.5 + b[vi, vk, vl]", init="C[vi] = 0.0"),
            ),
        ),
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        "reorder_block_iter_var",
        lambda s: (s.reorder_block_iter_var("C", [0, 2, 1]), s.reverse_compute_at("C", loop(s, "B"))),
    ),
    Row(
        "reverse_compute_at: iterations without a producer",
        main(
            "A:4 C:8 b:4 d:4",
            each("B:4", "b[vi] = A[vi] * 2.0", "d[vi] = A[vi] + 1.0"),
            each("C", "C[vi] = T.if_then_else(vi < 4, b[vi] + d[vi], 0.0)"),
        ),
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        'compute_at of its producers, at a loop of block "C"',
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "rolling_buffer: a result that is not a copy",
        main("A:10 B:10 C:8", each("B:10", "B[vi] = A[vi] * 2.0"), each("C", "C[vi] = B[vi] + B[vi + 2]")),
        lambda s: s.rolling_buffer("B", 0),
        "cache_read of B for its consumer",
        lambda s: (
            s.cache_read("C", "B", "local"),
            s.compute_at("B_local", loop(s, "C")),
            s.rolling_buffer("B_local", 0),
        ),
    ),
    Row(
        "compute_at: a sum whose parts are used",
        parts(nest("k:7", PARTIAL, nest("u:3", sblock("D", "SSS i u k", "D[vi, vu] = p[vi] + B[vu]", where="k == u")))),
        lambda s: s.compute_at("P", loop(s, "D", 2)),
        "in the program, let what follows the block in loop k come after that loop",
        lambda s: s.compute_at("P", loop(s, "D", 1)),
        instead=parts(nest("k:7", PARTIAL), nest("u:3", sblock("D", "SS i u", "D[vi, vu] = p[vi] + B[vu]"))),
    ),
    Row(
        "reverse_compute_at: a producer under a condition on data",
        gathered(under(IN_RANGE, each("B:4x6", "b[vi, vj] = A[X[0], vj]"))),
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        "in the program, put the condition into the body of the block",
        instead=gathered(each("B:4x6", under(IN_RANGE, "b[vi, vj] = A[X[0], vj]"))),
    ),
    Row(
        "reverse_compute_at: iterations that a guard excludes",
        main("A:9 C:9 b:9", each("B:9", "b[vi] = A[vi]"), each("C:9", "C[vi] = b[vi]", where="i < 5")),
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        "or, in the program, shrink its domain to what its loops run",
        instead=main("A:9 C:9 b:9", each("B:9", "b[vi] = A[vi]"), each("C:5", "C[vi] = b[vi]")),
    ),
    Row(
        "compute_at: a loop over data",
        main("X:9:int32 A:8x4 C:8x4 b:8x4", COPIED, nest("i:8 k:X[i],X[i+1] j:4", sblock("C", "SS i j", READ))),
        lambda s: s.compute_at("B", loop(s, "C", 1)),
        "in the program, put the whole loop into the body of one block",
        instead=main("X:9:int32 A:8x4 C:8x4 b:8x4", COPIED, each("C:8x4", nest("k:X[vi],X[vi+1]", READ))),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
