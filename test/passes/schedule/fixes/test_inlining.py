"""Fixes for refusals of compute_inline and reverse_compute_inline: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import (
    EARLIER_READER,
    GATHER,
    HALVES,
    KEPT_PAIR,
    PAIR,
    STENCIL,
    SUMS,
    TWO_RESULTS,
    VIEWED,
    each,
    followed,
    main,
    nest,
    sblock,
)

ROWS = [
    Row(
        "compute_inline: an output",
        KEPT_PAIR,
        lambda s: s.compute_inline("B"),
        'cache_write of block "B" first',
        lambda s: (s.cache_write("B", 0, "local", [s.get_block("C")]), s.compute_inline("B")),
    ),
    Row(
        "compute_inline: a reader through a view",
        main(
            "A:8 C:8 b:8",
            each("B", "b[vi] = A[vi]"),
            each("C", "m = T.match_buffer(b[vi : vi + 1], (1,), offset_factor=1)", "C[vi] = m[0]"),
        ),
        lambda s: s.compute_inline("B"),
        'compute_at moves block "B" to its reader',
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "compute_inline: values of another iteration",
        main(
            "A:9 C:9 b:9",
            nest(
                "i:9",
                sblock("B", "vi:9=i", "b[vi] = A[vi]"),
                sblock("C", "vi:9=i", "C[vi] = T.if_then_else(vi > 0, b[vi - 1], T.float32(0))"),
            ),
        ),
        lambda s: s.compute_inline("B"),
        "give each its own loop nest",
        instead=main(
            "A:9 C:9 b:9",
            each("B:9", "b[vi] = A[vi]"),
            each("C:9", "C[vi] = T.if_then_else(vi > 0, b[vi - 1], T.float32(0))"),
        ),
    ),
    Row(
        "compute_inline: an input overwritten in between",
        main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), each("A", "A[vi] = 0.0"), each("C", "C[vi] = b[vi]")),
        lambda s: s.compute_inline("B"),
        "reverse_compute_inline of the reader",
        lambda s: s.reverse_compute_inline("C"),
    ),
    Row(
        "compute_inline: an index that is loaded, of what is not laid out by its iters",
        main(
            "A:8 C:8 E:8 b:8",
            nest("i:4 j:2", sblock("B", "vo:4=i vj:2=j", "b[vo * 2 + vj] = A[vo * 2 + vj]")),
            each("C", "C[vi] = b[T.max(0, T.min(7, T.cast(E[vi], 'int32')))]"),
        ),
        lambda s: s.compute_inline("B"),
        'compute_at moves block "B" to its reader',
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "compute_inline: an index that is loaded, in a condition",
        main(
            "A:8 C:8 E:8 b:8",
            each("B", "b[vi] = T.if_then_else(vi < 4, A[vi], T.float32(0))"),
            each("C", "C[vi] = b[T.max(0, T.min(7, T.cast(E[vi], 'int32')))]"),
        ),
        lambda s: s.compute_inline("B"),
        "compute_at moves the block to its reader",
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "compute_inline: a sum",
        SUMS,
        lambda s: s.compute_inline("C"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", loop(s, "D")),
    ),
    Row(
        "compute_inline: two stores",
        TWO_RESULTS,
        lambda s: s.compute_inline("B"),
        "compute_at",
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "compute_inline: a store through a view",
        VIEWED,
        lambda s: s.compute_inline("B"),
        "compute_at",
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "compute_inline: in place",
        main("A:8 C:8", each("B", "A[vi] = A[vi] * 2.0"), each("C", "C[vi] = A[vi] + 1.0")),
        lambda s: s.compute_inline("B"),
        "let it write a buffer other than A",
        instead=PAIR,
    ),
    Row(
        "reverse_compute_inline: elements read twice",
        main("A:8 C:8 b:4", each("B:4", "b[vi] = A[vi] * 2.0"), each("C", "C[vi] = b[vi // 2] + 1.0")),
        lambda s: s.reverse_compute_inline("C"),
        "reverse_compute_at",
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
    ),
    Row(
        "reverse_compute_inline: two writers",
        HALVES,
        lambda s: s.reverse_compute_inline("C"),
        "let one block write all",
        instead=main("A:8 C:8 b:8", each("B", "b[vi] = A[vi % 4]"), each("C", "C[vi] = b[vi] + 1.0")),
    ),
    Row(
        "reverse_compute_inline: a sum, to which it adds",
        SUMS,
        lambda s: s.reverse_compute_inline("D"),
        "fuse_reduction_epilogue merges an addition to it",
        lambda s: s.fuse_reduction_epilogue("C", "D"),
    ),
    Row(
        "reverse_compute_inline: a sum, of which it takes the half",
        followed("D[vi] = c[vi] * 0.5"),
        lambda s: s.reverse_compute_inline("D"),
        "otherwise reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "reverse_compute_inline: a sum taken apart",
        SUMS,
        lambda s: s.reverse_compute_inline("D"),
        "before decompose_reduction, fuse_reduction_epilogue",
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        before=lambda s: s.decompose_reduction("C", loop(s, "C")),
        again=True,
    ),
    Row(
        "reverse_compute_inline: a result that others see",
        KEPT_PAIR,
        lambda s: s.reverse_compute_inline("C"),
        "reverse_compute_at",
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
    ),
    Row(
        "reverse_compute_inline: two inputs of one producer",
        main(
            "A:8 C:8 b:8 d:8",
            each("B", "b[vi] = A[vi] * 2.0", "d[vi] = A[vi] * 3.0"),
            each("C", "C[vi] = b[vi] + d[vi]"),
        ),
        lambda s: s.reverse_compute_inline("C"),
        "reverse_compute_at",
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
    ),
    Row(
        "reverse_compute_inline: no input",
        PAIR,
        lambda s: s.reverse_compute_inline("B"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "reverse_compute_inline: another reader",
        main(
            "A:8 C:8 D:8 b:8",
            each("B", "b[vi] = A[vi] * 2.0"),
            each("C", "C[vi] = b[vi] + 1.0"),
            each("D", "D[vi] = b[vi] + 2.0"),
        ),
        lambda s: s.reverse_compute_inline("C"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "reverse_compute_inline: several indices",
        STENCIL,
        lambda s: s.reverse_compute_inline("C"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "reverse_compute_inline: an index from memory",
        GATHER,
        lambda s: s.reverse_compute_inline("C"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "reverse_compute_inline: a result that is used between",
        EARLIER_READER,
        lambda s: s.reverse_compute_inline("C"),
        'cache_write of block "C"',
        lambda s: (s.cache_write("C", "C", "local"), s.reverse_compute_inline("C")),
    ),
    Row(
        "reverse_compute_inline: a part that a guard cannot single out",
        main("A:16 C:8 b:16", each("B:16", "b[vi] = A[vi] * 2.0"), each("C", "C[vi] = b[vi * 2]")),
        lambda s: s.reverse_compute_inline("C"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "reverse_compute_inline: a tile that computes more",
        main(
            "A:10 C:8 b:10",
            nest(
                "i:2",
                nest("j:6", sblock("B", "vi:10=i * 4 + j", "b[vi] = A[vi] + 1.0")),
                nest("j:4", sblock("C", "vi:8=i * 4 + j", "C[vi] = b[vi + 1]")),
            ),
        ),
        lambda s: s.reverse_compute_inline("C"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "reverse_compute_inline: a choice of what is not computed",
        main("A:8 C:8 b:8", each("B:4", "b[vi] = A[vi]"), each("C", "C[vi] = T.if_then_else(vi < 4, b[vi], 0.0)")),
        lambda s: s.reverse_compute_inline("C"),
        'compute_inline of block "B"',
        lambda s: s.compute_inline("B"),
    ),
    Row(
        "compute_inline: several elements at once",
        main(
            "A:8x16 C:8x16 b:8x16",
            nest("i:8 j:4", sblock("B", "SS i j", "b[vi, vj * 4:vj * 4 + 4] = A[vi, vj * 4:vj * 4 + 4] * 2.0")),
            each("C:8x16", "C[vi, vj] = b[vi, vj]"),
        ),
        lambda s: s.compute_inline("B"),
        "in the program, access the elements one by one, under a loop T.vectorized(n)",
        instead=main(
            "A:8x16 C:8x16 b:8x16",
            nest("i:8 j:4 l:4:vectorized", sblock("B", "vi:8=i vj:16=j*4+l", "b[vi, vj] = A[vi, vj] * 2.0")),
            each("C:8x16", "C[vi, vj] = b[vi, vj]"),
        ),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
