"""Fixes for refusals of annotate_buffer_access, parallel and storage_align: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import BIASED, PAIR, main, nest, sblock

ROWS = [
    Row(
        "annotate_buffer_access: a lambda of too many iters",
        PAIR,
        lambda s: s.annotate_buffer_access("B", 0, "read", lambda i, j: i),
        "write it as lambda vi:",
        lambda s: s.annotate_buffer_access("B", 0, "read", lambda vi: vi),
    ),
    Row(
        "parallel: a loop of a sum",
        BIASED,
        lambda s: s.parallel(loop(s, "C", 1)),
        "rfactor(k, 0)",
        lambda s: (s.rfactor(loop(s, "C", 1), 0), s.parallel(loop(s, "C_rf", 1))),
    ),
    Row(
        "parallel: a loop whose iterations meet",
        main("A:9 B:9", nest("i:8 j:2", sblock("B", "vi:8=i vj:2O=j", "B[vi] = A[vi + vj]"))),
        lambda s: s.parallel(loop(s, "B", 1)),
        "use a loop whose iterations access distinct elements",
        lambda s: s.parallel(loop(s, "B")),
    ),
    Row(
        "storage_align: an annotation of another form",
        PAIR,
        lambda s: s.storage_align("B", 0, 0, 4, 1),
        'unannotate(block, "buffer_dim_align")',
        lambda s: (s.unannotate("B", "buffer_dim_align"), s.storage_align("B", 0, 0, 4, 1)),
        before=lambda s: s.annotate("B", "buffer_dim_align", 3),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
