"""Fixes for refusals of split, loop_partition and reorder: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import (
    ONE,
    PAIR,
    PAIR_2D,
    SUMS,
    SUMS_OF_A_TRIANGLE,
    each,
    main,
    nest,
    row_sums,
    sblock,
)

ROWS = [
    Row(
        "split: too few iterations",
        ONE,
        lambda s: s.split(loop(s, "C"), [2, 4]),
        "[None, 4] infers it",
        lambda s: s.split(loop(s, "C"), [None, 4]),
    ),
    Row(
        "split: two factors to infer",
        ONE,
        lambda s: s.split(loop(s, "C"), [None, None]),
        "all factors but one",
        lambda s: s.split(loop(s, "C"), [None, 4]),
    ),
    Row(
        "split: no factor",
        ONE,
        lambda s: s.split(loop(s, "C"), []),
        "[None, 16]",
        lambda s: s.split(loop(s, "C"), [None, 16]),
    ),
    Row(
        "split: a loop with two ends",
        main("B:6", nest("k:8 i:T.min(k+1,6)", sblock("B", "vi:6O=i", "B[vi] = 0.0"))),
        lambda s: s.split(loop(s, "B", 1), [None, 4]),
        "T.where for the others",
        instead=main("B:6", nest("k:8 i:6", sblock("B", "vi:6O=i", "B[vi] = 0.0", where="i < k + 1"))),
    ),
    Row(
        "split: statements outside blocks",
        main("A:16 C:16 D:16", nest("i:16", "D[i] = A[i]", sblock("C", "vi:16=i", "C[vi] = A[vi] + 1.0"))),
        lambda s: s.split(loop(s, "C"), [None, 5]),
        "factors that divide 16",
        lambda s: s.split(loop(s, "C"), [None, 4]),
    ),
    Row(
        "loop_partition: no lengths",
        PAIR,
        lambda s: s.loop_partition(loop(s, "C"), []),
        "[1, None]",
        lambda s: s.loop_partition(loop(s, "C"), [1, None]),
    ),
    Row(
        "loop_partition: several lengths open",
        PAIR,
        lambda s: s.loop_partition(loop(s, "C"), [None, 3, None]),
        "give all lengths but one",
        lambda s: s.loop_partition(loop(s, "C"), [2, 3, None]),
    ),
    Row(
        "loop_partition: nothing left",
        PAIR,
        lambda s: s.loop_partition(loop(s, "C"), [4, 4]),
        "use at most 7",
        lambda s: s.loop_partition(loop(s, "C"), [4, 3]),
    ),
    Row(
        "loop_partition: a size for a bound",
        main("A:n C:n", each("C:n", "C[vi] = A[vi]")),
        lambda s: s.loop_partition(loop(s, "C"), [4, None]),
        "split it by a constant first",
        lambda s: (s.split(loop(s, "C"), [None, 8]), s.loop_partition(loop(s, "C", 1), [4, None])),
    ),
    Row(
        "reorder: two nests",
        PAIR_2D,
        lambda s: s.reorder(loop(s, "B", 1), loop(s, "C")),
        "reorder each nest by itself",
        lambda s: (s.reorder(loop(s, "B", 1), loop(s, "B")), s.reorder(loop(s, "C", 1), loop(s, "C"))),
    ),
    Row(
        "reorder: loops side by side",
        PAIR_2D,
        lambda s: s.reorder(loop(s, "B"), loop(s, "C")),
        "compute_at, reverse_compute_at and merge put two nests under one",
        lambda s: (s.compute_at("B", loop(s, "C")), s.reorder(loop(s, "C"))),
    ),
    Row(
        "reorder: a nest with an init",
        SUMS,
        lambda s: s.reorder(loop(s, "C_update", 1), loop(s, "C_update")),
        "before the step that added the other ops",
        lambda s: (s.reorder(loop(s, "C", 1), loop(s, "C")), s.decompose_reduction("C", loop(s, "C"))),
        before=lambda s: s.decompose_reduction("C", loop(s, "C", 1)),
        again=True,
    ),
    Row(
        "reorder: bounds that use a loop",
        SUMS_OF_A_TRIANGLE,
        lambda s: s.reorder(loop(s, "C", 1), loop(s, "C")),
        "give k its maximal range",
        instead=row_sums("i:8 k:8", where="k <= i"),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
