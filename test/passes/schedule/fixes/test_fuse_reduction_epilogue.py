"""Fixes for refusals of fuse_reduction_epilogue: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import BIASED, each, followed, main, nest, sblock, total

ROWS = [
    Row(
        "fuse_reduction_epilogue: a block after itself",
        BIASED,
        lambda s: s.fuse_reduction_epilogue("C", "C"),
        "pass the block that reads its result",
        lambda s: s.fuse_reduction_epilogue("C", "D"),
    ),
    Row(
        "fuse_reduction_epilogue: a sum of sums",
        main(
            "A:8x4 D:1 c:8",
            total(to="c"),
            nest("i:8", sblock("D", "vo:1=0 vi:8R=i", "D[vo] = D[vo] + c[vi]", init="D[vo] = 0.0")),
        ),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", loop(s, "D")),
    ),
    Row(
        "fuse_reduction_epilogue: a guard that a split made",
        BIASED,
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "split by factors that divide",
        lambda s: (s.split(loop(s, "D"), [None, 4]), s.fuse_reduction_epilogue("C", "D")),
        before=lambda s: s.split(loop(s, "D"), [None, 3]),
        again=True,
    ),
    Row(
        "fuse_reduction_epilogue: two sums in one block",
        main(
            "A:8x4 D:8 c:8 d:8",
            nest(
                "i:8 k:4",
                sblock(
                    "C",
                    "vi:8=i vk:4R=k",
                    "c[vi] = c[vi] + A[vi, vk]",
                    "d[vi] = T.max(d[vi], A[vi, vk])",
                    init="c[vi] = 0.0; d[vi] = 0.0",
                ),
            ),
            each("D", "D[vi] = c[vi] + 1.0"),
        ),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: an output",
        main("A:8x4 C:8 D:8", total(), each("D", "D[vi] = C[vi] + 1.0")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: the result read twice",
        followed("D[vi] = c[vi] + c[vi]"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: a block that reads something else",
        main("A:8x4 B:8 D:8 E:8 c:8", total(to="c"), each("D", "D[vi] = c[vi] + B[vi]"), each("E", "E[vi] = B[vi]")),
        lambda s: s.fuse_reduction_epilogue("C", "E"),
        "pass the block that reads c",
        lambda s: s.fuse_reduction_epilogue("C", "D"),
    ),
    Row(
        "fuse_reduction_epilogue: another reader",
        main("A:8x4 B:8 D:8 E:8 c:8", total(to="c"), each("D", "D[vi] = c[vi] + B[vi]"), each("E", "E[vi] = c[vi]")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: an input written in between",
        followed("D[vi] = c[vi] + B[vi]", each("B", "B[vi] = 1.0")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", loop(s, "D")),
    ),
    Row(
        "fuse_reduction_epilogue: the result's place used in between",
        followed("D[vi] = c[vi] + 1.0", each("B", "B[vi] = D[vi]")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", loop(s, "D")),
    ),
    Row(
        "fuse_reduction_epilogue: a product",
        followed("D[vi] = c[vi] * B[vi]"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: elements that are not taken",
        followed("D[vi] = T.if_then_else(vi < 3, c[vi], B[vi])"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: an index that is loaded",
        followed("D[vi] = c[T.max(0, T.min(7, T.cast(B[vi], 'int32')))]"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", loop(s, "D")),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
