"""Fixes for refusals of pipeline and double_buffer: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import each, main, nest, sblock

COPY = nest("c:4", sblock("S", "vk:8O=k vc:4=c", "S[vc] = A[vk * 4 + vc]"))
SUM = nest("c:4", sblock("B", "v:1O=0 vc:4R=c", "B[v] = B[v] + S[vc]"))
COPIED = main("A:32 B:1; S:4", each("zero i:1", "B[vi] = 0.0"), nest("k:8", COPY, SUM))
NOT_COPIED = main(
    "A:32 B:1 Q:32; S:4",
    each("zero i:1", "B[vi] = 0.0"),
    nest("k:8", nest("c:4", sblock("Q", "v:32O=k * 4 + c", "Q[v] = A[v] + 1.0")), COPY, SUM),
)
TWO_SUMS = main(
    "A:32 B:32 Q:1;",
    nest(
        "k:8",
        nest("c:4", sblock("Q", "v:1O=0 vk:32R=k * 4 + c", "Q[v] = Q[v] + A[vk]", init="Q[v] = 0.0")),
        nest("c:4", sblock("B", "vk:32=k * 4 + c", "B[vk] = A[vk]")),
    ),
)

ROWS = [
    Row(
        "pipeline: more stages than iterations",
        COPIED,
        lambda s: s.pipeline(loop(s, "S"), 9),
        "use at most 8 stages",
        lambda s: s.pipeline(loop(s, "S"), 8),
    ),
    Row(
        "pipeline: what is first is not a copy",
        NOT_COPIED,
        lambda s: s.pipeline(loop(s, "S"), 2),
        "stages=[...] gives each child its stage",
        lambda s: s.pipeline(loop(s, "S"), [0, 0, 1]),
    ),
    Row(
        "pipeline: a sum that begins in the prologue",
        TWO_SUMS,
        lambda s: s.pipeline(loop(s, "Q"), [0, 1]),
        "decompose_reduction moves the init into a block of its own",
        lambda s: (s.decompose_reduction("Q", loop(s, "Q")), s.pipeline(loop(s, "Q_update"), [0, 1])),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
