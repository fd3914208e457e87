"""Fixes for refusals of the loop, block or order that a step is given: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, loop
from programs.short import PAIR, each, main, nest, sblock

IN_A_BLOCK = main(
    "A:8x4 C:8x4",
    nest(
        "i:8", sblock("O", "vi:8=i", nest("j:4", sblock("C", "vj:4=j", "C[vi, vj] = A[vi, vj]"))),
        sblock("D", "vi:8=i", "C[vi, 0] = 1.0"),
    ),
)  # fmt: skip
TWO_READERS = main(
    "A:8 C:8 D:8 b:8", each("B", "b[vi] = A[vi]"), each("C", "C[vi] = b[vi]"), each("D", "D[vi] = b[vi]")
)
TWO_READERS_IN_ONE = main(
    "A:8 C:8 D:8 b:8",
    each("B", "b[vi] = A[vi]"),
    nest("i:8", sblock("C", "vi:8=i", "C[vi] = b[vi]"), sblock("D", "vi:8=i", "D[vi] = b[vi]")),
)
TWO_WRITERS = main(
    "A:8 C:8 b:8 d:8", each("B", "b[vi] = A[vi]"), each("D", "d[vi] = A[vi]"), each("C", "C[vi] = b[vi] + d[vi]")
)
TWO_WRITERS_IN_ONE = main(
    "A:8 C:8 b:8 d:8",
    nest("i:8", sblock("B", "vi:8=i", "b[vi] = A[vi]"), sblock("D", "vi:8=i", "d[vi] = A[vi]")),
    each("C", "C[vi] = b[vi] + d[vi]"),
)
OPEN = main(
    "A:8x4 C:8",
    each("start", "C[vi] = 0.0"),
    nest("k:4 i:8", sblock("C", "vi:8=i vk:4R=k", "C[vi] = C[vi] + A[vi, vk]")),
)
BY_ROWS = main(
    "A:8x4 C:8 r:4x8",
    each("r k:4 i:8", "r[vk, vi] = A[vi, vk]"),
    each("start", "C[vi] = 0.0"),
    nest("k:4 i:8", sblock("C", "vi:8=i vk:4R=k", "C[vi] = C[vi] + r[vk, vi]")),
)
OVERLAPPING = main(
    "A:8 B:8 C:8",
    'T.func_attr({"tir.noalias": False})',
    each("B", "B[vi] = A[vi]"),
    each("C", "C[vi] = A[vi]"),
)
BYTES = main(
    "A:4x8:int8 B:8:int8 C:4:int32",
    nest(
        "i:4 k:8",
        sblock(
            "C",
            "vi:4=i vk:8R=k",
            'C[vi] = C[vi] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk])',
            init="C[vi] = 0",
        ),
    ),
)

ROWS = [
    Row(
        "fission: a block elsewhere",
        PAIR,
        lambda s: s.fission(loop(s, "C"), "B"),
        "pass a loop around the block",
        lambda s: s.fission(loop(s, "C"), "C"),
        instead=main(
            "A:8 C:8 b:8", nest("i:8", sblock("C", "vi:8=i", "b[vi] = A[vi]"), sblock("D", "vi:8=i", "C[vi] = b[vi]"))
        ),
    ),
    Row(
        "fission: a block in a block",
        IN_A_BLOCK,
        lambda s: s.fission(loop(s, "O"), "C"),
        'pass "O", or a loop inside it',
        lambda s: s.fission(loop(s, "O"), "O"),
    ),
    Row(
        "compute_at: a consumer elsewhere",
        TWO_READERS,
        lambda s: s.compute_at("B", loop(s, "C")),
        "choose a loop around all consumers",
        lambda s: s.compute_at("B", loop(s, "C")),
        instead=TWO_READERS_IN_ONE,
    ),
    Row(
        "reverse_compute_at: a producer elsewhere",
        TWO_WRITERS,
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        "choose a loop around all producers",
        lambda s: s.reverse_compute_at("C", loop(s, "B")),
        instead=TWO_WRITERS_IN_ONE,
    ),
    Row(
        "get_block: another name",
        PAIR,
        lambda s: s.get_block("Cc"),
        'pass one of them, for instance "C"',
        lambda s: s.get_block("C"),
    ),
    Row(
        "parallel: a sum without init",
        OPEN,
        lambda s: s.parallel(loop(s, "C")),
        "let each iteration of an outer loop add to a row of its own, and add up the rows after",
        lambda s: s.parallel(loop(s, "r")),
        instead=BY_ROWS,
    ),
    Row(
        "merge: parameters that may overlap",
        OVERLAPPING,
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
        "remove tir.noalias = False if calls never pass overlapping arrays",
        instead=OVERLAPPING.replace('    T.func_attr({"tir.noalias": False})\n', ""),
    ),
    Row(
        "version_loop: iterations that depend on a loop",
        main("A:nxn", nest("i:n j:i+1", sblock("C", "vi:n=i vj:n=j", "A[vi, vj] = 1.0"))),
        lambda s: s.version_loop(loop(s, "C", 1), [4]),
        "pass a loop around it whose number of iterations is a size",
        lambda s: s.version_loop(loop(s, "C"), [4]),
    ),
    Row(
        "shift_operand: after a split",
        BYTES,
        lambda s: s.shift_operand("C", "A"),
        "shift the operand before its loops are split or fused",
        lambda s: (s.shift_operand("C", "A"), s.split(loop(s, "C", 1), [None, 4])),
        before=lambda s: s.split(loop(s, "C", 1), [None, 4]),
        again=True,
    ),
    Row(
        "rfactor: after a split by a size",
        main(
            "A:n C:1",
            "T.assume(n >= 8)",
            nest("k:n", sblock("C", "vo:1=0 vk:nR=k", "C[vo] = C[vo] + A[vk]", init="C[vo] = 0.0")),
        ),
        lambda s: s.rfactor(loop(s, "C"), 0),
        "split by a constant inner factor, as in split(k, [None, 8])",
        lambda s: s.rfactor(s.split(loop(s, "C"), [None, 8])[1], 0),
        before=lambda s: s.split(loop(s, "C"), [8, None]),
        again=True,
    ),
    Row(
        "shift_operand: a cast in two steps",
        BYTES.replace('T.Cast("int32", A[vi, vk])', 'T.Cast("int32", T.Cast("int16", A[vi, vk]))'),
        lambda s: s.shift_operand("C", "A"),
        "in the program, cast each factor to the type of the sum",
        instead=BYTES,
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
