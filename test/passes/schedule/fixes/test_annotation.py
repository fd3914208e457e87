"""Fixes for refusals of annotate_buffer_access, parallel, bind, storage_align, swizzle and tma_pipeline are applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import BIASED, PAIR, each, main, nest, sblock


def argmax(keep: str, better: str) -> str:
    """The greatest element of each row, and its position."""
    body = (
        f"new: T.int32 = T.Select({keep}, P[vi], vk)",
        f"best: T.float32 = T.Select(V[vi] {better} A[vi, vk], V[vi], A[vi, vk])",
        "P[vi] = new",
        "V[vi] = best",
    )
    return main("A:3x16 P:3:int32 V:3", each("C i:3 k:16R", *body, init='P[vi] = -1; V[vi] = T.min_value("float32")'))


TILES = """
@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    S = T.alloc_buffer((16,), "float32", scope="shared")
    for k in range(4):
        for i in range(16):
            with T.block("S"):
                vk, vi = T.axis.remap("OS", [k, i])
                S[vi] = A[vk, vi]
        for j in range(16):
            with T.block("B"):
                vk, vj = T.axis.remap("OS", [k, j])
                B[vk, vj] = S[vj]
"""

ROWS = [
    Row(
        "tma_pipeline: a vectorized copy",
        TILES,
        lambda s: s.tma_pipeline("S", loop(s, "S")),
        "leave the loops of the copy serial",
        lambda s: (s.unroll(loop(s, "S", 1)), s.tma_pipeline("S", loop(s, "S"))),
        before=lambda s: s.vectorize(loop(s, "S", 1)),
    ),
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
    Row(
        "swizzle: a buffer that is not in shared memory",
        PAIR,
        lambda s: s.swizzle("B", 0),
        'set_scope(block, buffer_index, "shared")',
        lambda s: (s.set_scope("B", 0, "shared"), s.swizzle("B", 0)),
    ),
    Row(
        "swizzle: a parameter",
        PAIR,
        lambda s: s.swizzle("C", 0),
        'cache_read(C, "shared"), and swizzle the copy',
        lambda s: s.swizzle(s.cache_read("C", 0, "shared"), 0),
    ),
    Row(
        "swizzle: padded rows",
        PAIR,
        lambda s: s.swizzle(s.get_block("b_shared"), 0),
        'unannotate(block, "buffer_dim_align")',
        lambda s: (s.unannotate("b_shared", "buffer_dim_align"), s.swizzle("b_shared", 0)),
        before=lambda s: s.storage_align(s.cache_read("C", 0, "shared"), 0, 0, 4, 1),
    ),
    Row(
        "storage_align: permuted addresses",
        PAIR,
        lambda s: s.storage_align("b_shared", 0, 0, 4, 1),
        'unannotate(block, "swizzle")',
        lambda s: (s.unannotate("b_shared", "swizzle"), s.storage_align("b_shared", 0, 0, 4, 1)),
        before=lambda s: s.swizzle(s.cache_read("C", 0, "shared"), 0),
    ),
    Row(
        "swizzle: another annotation of another form",
        PAIR,
        lambda s: s.swizzle(s.get_block("b_shared"), 0),
        'unannotate(block, "buffer_dim_align") removes it',
        lambda s: (s.unannotate("b_shared", "buffer_dim_align"), s.swizzle("b_shared", 0)),
        before=lambda s: s.annotate(s.cache_read("C", 0, "shared"), "buffer_dim_align", 3),
    ),
    Row(
        "swizzle: an annotation of another form",
        PAIR,
        lambda s: s.swizzle(s.get_block("b_shared"), 0),
        'unannotate(block, "swizzle") removes it',
        lambda s: (s.unannotate("b_shared", "swizzle"), s.swizzle("b_shared", 0)),
        before=lambda s: s.annotate(s.cache_read("C", 0, "shared"), "swizzle", 3),
    ),
    Row(
        "bind: a reduction that keeps the last of equal elements",
        argmax("V[vi] > A[vi, vk]", ">"),
        lambda s: s.bind(loop(s, "C", 1), "threadIdx.x"),
        "compare positions of equal elements: T.Select(v > x or (v == x and p <= i), p, i)",
        instead=argmax("V[vi] > A[vi, vk] or (V[vi] == A[vi, vk] and P[vi] <= vk)", ">="),
    ),
    Row(
        "bind: a serial loop between those of threads, in a reduction that keeps the first of equal elements",
        argmax("V[vi] >= A[vi, vk]", ">="),
        lambda s: s.bind(loop(s, "C", 3), "threadIdx.x"),
        "or rfactor(k_2, 0)",
        lambda s: (s.rfactor(s.split(loop(s, "C", 1), [None, 4])[1], 0), s.bind(loop(s, "C_rf", 2), "threadIdx.x")),
        before=lambda s: s.bind(s.split(loop(s, "C", 1), [4, 2, 2])[0], "threadIdx.y"),
        again=True,
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
