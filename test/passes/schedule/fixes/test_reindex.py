"""Fixes for refusals of reindex and reindex_cache_read: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of
from programs.short import GATHER, PAIR_2D, STENCIL, VIEWS, each, main, nest, sblock, shorter

from tir_mlir import Schedule

ROWS_INSIDE = main("A:8x4 C:8x4", each("C", nest("j:4", "C[vi, j] = A[vi, j] + 1.0")))
PRODUCT = main(
    "A:8x4 B:4x8 C:8x8",
    nest(
        "i:8 j:8 k:4",
        sblock("C", "vi:8=i vj:8=j vk:4R=k", "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0"),
    ),
)
SHIFTED_ROWS = main(
    "A:6 C:2x6 D:2",
    nest(
        "t:2",
        nest("j:6", sblock("C", "vt:2=t vj:6=(t * 3 + j) % 6", "C[vt, vj] = A[5 - vj]")),
        sblock("D", "vt:2=t", "D[vt] = 1.0"),
    ),
)


def share_a_part(sch: Schedule, size: int) -> None:
    """Compute B for `size` points of C at a time, in a loop around both."""
    outer, _ = sch.split(sch.fuse(*sch.get_loops("C")), [None, size])
    sch.compute_at("B", outer)


ROWS = [
    Row(
        "reindex: a part of what is written",
        shorter(9),
        lambda s: s.reindex("C", ("write", 0)),
        'let block "C" write the rest as well',
        instead=shorter(5),
    ),
    Row(
        "reindex: a block inside",
        main(
            "A:4x4 C:4x4",
            nest("i:4", sblock("O", "vo:4=i", nest("j:4", sblock("I", "vj:4=j", "C[vo, vj] = A[vj, vo] + 1.0")))),
        ),
        lambda s: s.reindex("O", "A"),
        'pass block "I"',
        lambda s: s.reindex("I", "A"),
    ),
    Row(
        "reindex: two positions",
        STENCIL,
        lambda s: s.reindex("C", "b"),
        "cache_read or cache_write copies b",
        lambda s: s.cache_read("C", "b", "local"),
    ),
    Row(
        "reindex: a loop inside, read",
        ROWS_INSIDE,
        lambda s: s.reindex("C", "A"),
        "cache_read",
        lambda s: s.cache_read("C", "A", "local"),
    ),
    Row(
        "reindex: a loop inside, written",
        ROWS_INSIDE,
        lambda s: s.reindex("C", "C"),
        "cache_write",
        lambda s: s.cache_write("C", "C", "local"),
    ),
    Row(
        "reindex: an index from memory",
        GATHER,
        lambda s: s.reindex("C", "b"),
        "cache_read",
        lambda s: s.cache_read("C", "b", "local"),
    ),
    Row(
        "reindex: a view", VIEWS, lambda s: s.reindex("C", "A"), "cache_read", lambda s: s.cache_read("C", "A", "local")
    ),
    Row(
        "reindex: an element with two cells",
        main("A:4x4 C:7", nest("i:4 j:4", sblock("C", "vi:4O=i vj:4O=j", "C[vi + vj] = A[vi, vj]"))),
        lambda s: s.reindex("C", "C"),
        "cache_read or cache_write copies C",
        lambda s: s.cache_write("C", "C", "local"),
    ),
    Row(
        "reindex: no interval in a shared loop, read",
        SHIFTED_ROWS,
        lambda s: s.reindex("C", "A"),
        "reindex_cache_read copies the region",
        lambda s: s.reindex_cache_read("C", "A", "local", lambda vt, vj: (vj,)),
    ),
    Row(
        "reindex: no interval in a shared loop, written",
        SHIFTED_ROWS,
        lambda s: s.reindex("C", "C"),
        "reindex_cache_write copies the region",
        lambda s: s.reindex_cache_write("C", "C", "local", lambda vt, vj: (vj, vt)),
    ),
    Row(
        "reindex: no interval, as the factor does not divide",
        PAIR_2D,
        lambda s: s.reindex("C", "b"),
        "split by a factor that divides the extent",
        lambda s: (share_a_part(s, 6), s.reindex("C", "b")),
        before=lambda s: share_a_part(s, 4),
        again=True,
    ),
    Row(
        "reindex_cache_read: what the block writes itself",
        main("A:8x4", each("C:8x4", "A[vi, vj] = A[vi, vj] * 2.0")),
        lambda s: s.reindex_cache_read("C", "A", "local", lambda i, j: (j, i)),
        "cache_inplace copies A",
        lambda s: s.cache_inplace("C", "A", "local"),
    ),
    Row(
        "reindex_cache_read: elements that share a cell",
        PRODUCT,
        lambda s: s.reindex_cache_read("C", "A", "local", lambda i, j, k: (i // 2, k)),
        "lambda vi, vj, vk: (vi, vk) is a map that fits",
        lambda s: s.reindex_cache_read("C", "A", "local", lambda vi, vj, vk: (vi, vk)),
    ),
    Row(
        "reindex_cache_read: other iters",
        PRODUCT,
        lambda s: s.reindex_cache_read("C", "A", "local", lambda i, j, k: (i, j)),
        "lambda vi, vj, vk: (vi, vk) is a map that fits",
        lambda s: s.reindex_cache_read("C", "A", "local", lambda vi, vj, vk: (vi, vk)),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
