"""Fixes for refusals of blockize: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import CUT_SQUARE, ONE, PAIR, TRIANGLE, each, followed, main, nest, sblock, total, under

FROM_B = each("C", "C[vi] = b[vi]")
CHAINED = "C[vi + 1] = C[vi + 1] + C[vi] * A[vi, vk]"


def emptied(s):
    """The loop that was around block B, which is under the loop of its reader now."""
    around = loop(s, "B")
    s.compute_at("B", loop(s, "C"))
    return around


ROWS = [
    Row(
        "blockize: a loop around two blocks",
        main(
            "A:8 C:8 b:8", nest("i:8", sblock("B", "vi:8=i", "b[vi] = A[vi]"), sblock("C", "vi:8=i", "C[vi] = b[vi]"))
        ),
        lambda s: s.blockize(loop(s, "B")),
        "or a list of the blocks",
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
    ),
    Row(
        "blockize: an init and an opaque iter",
        main(
            "A:8x4 c:8 D:8",
            nest("i:8 k:4", sblock("C", "vi:8O=i vk:4R=k", "c[vi] = c[vi] + A[vi, vk]", init="c[vi] = 0.0")),
            each("D", "D[vi] = c[vi]"),
        ),
        lambda s: s.blockize(loop(s, "C", 1)),
        "declare it spatial",
        instead=followed("D[vi] = c[vi]"),
    ),
    Row(
        "blockize: something between the blocks of a list",
        main("A:8 C:8 D:8 b:8 c:8", each("B", "b[vi] = A[vi]"), each("c", "c[vi] = b[vi]"), each("D", "D[vi] = c[vi]")),
        lambda s: s.blockize([s.get_block("B"), s.get_block("D")]),
        "list the blocks in between",
        lambda s: s.blockize([s.get_block("B"), s.get_block("c"), s.get_block("D")]),
    ),
    Row(
        "blockize: moving away what is between",
        main("A:8 C:8 D:8 b:8 c:8", each("B", "b[vi] = A[vi]"), each("c", "c[vi] = b[vi]"), each("D", "D[vi] = c[vi]")),
        lambda s: s.blockize([s.get_block("B"), s.get_block("D")]),
        "compute_inline",
        lambda s: (s.compute_inline("c"), s.blockize([s.get_block("B"), s.get_block("D")])),
    ),
    Row(
        "blockize: a block listed twice",
        PAIR,
        lambda s: s.blockize([s.get_block("B"), s.get_block("B")]),
        "list each block once",
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
    ),
    Row(
        "blockize: a list in a condition",
        main("A:8 C:8 D:8", nest("i:2", under("if i > 0:", each("C", "C[vi] = A[vi]"), each("D", "D[vi] = A[vi]")))),
        lambda s: s.blockize([s.get_block("C"), s.get_block("D")]),
        "by a loop of its own",
        lambda s: (s.blockize(loop(s, "C", 1)), s.blockize(loop(s, "D", 1))),
    ),
    Row(
        "blockize: a list of blocks of two scopes",
        main(
            "A:8 C:8 b:8",
            each("B", "b[vi] = A[vi]"),
            nest("i:4", sblock("o", "vo:4=i", nest("j:2", sblock("C", "vj:2=j", "C[vo * 2 + vj] = b[vo * 2 + vj]")))),
        ),
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        "the blocks of each parent separately",
        lambda s: s.blockize([s.get_block("B"), s.get_block("o")]),
    ),
    Row(
        "blockize: a list with guards that differ",
        main(
            "A:7 C:8 D:8",
            nest(
                "i:8",
                nest("j:1", sblock("C", "vi:7=i", "C[vi] = A[vi]", where="i < 7")),
                nest("j:1", sblock("D", "vi:7=i", "D[vi] = A[vi]", where="i < 6")),
            ),
        ),
        lambda s: s.blockize([s.get_block("C"), s.get_block("D")]),
        "split by factors that divide",
        instead=main(
            "A:7 C:8 D:8",
            nest(
                "i:7",
                nest("j:1", sblock("C", "vi:7=i", "C[vi] = A[vi]")),
                nest("j:1", sblock("D", "vi:7=i", "D[vi] = A[vi]")),
            ),
        ),
    ),
    Row(
        "blockize: a list whose iters are not in one order",
        main(
            "A:4x4 B:4x4 C:4x4",
            nest(
                "i:4 j:4",
                sblock("B", "vi:4=i vj:4=j", "B[vi, vj] = A[vi, vj]"),
                sblock("C", "vj:4=j vi:4=i", "C[vi, vj] = A[vi, vj]"),
            ),
        ),
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        "reorder_block_iter_var",
        lambda s: (s.reorder_block_iter_var("C", [1, 0]), s.blockize([s.get_block("B"), s.get_block("C")])),
    ),
    Row(
        "blockize: statements beside the nest",
        main("A:8 C:8 D:8", nest("i:2", "D[i] = 1.0", nest("j:4", sblock("C", "vi:8=i * 4 + j", "C[vi] = A[vi]")))),
        lambda s: s.blockize(loop(s, "C")),
        "pass an inner loop",
        lambda s: s.blockize(loop(s, "C", 1)),
    ),
    Row(
        "blockize: bounds that use a loop outside",
        TRIANGLE,
        lambda s: s.blockize(loop(s, "C", 1)),
        "give j its maximal range",
        lambda s: s.blockize(loop(s, "C")),
        instead=CUT_SQUARE,
    ),
    Row(
        "blockize: steps that the tile does not divide",
        main("A:34 C:32 b:34", each("B:34", "b[vi] = A[vi]"), each("C:32", "C[vi] = b[vi] + b[vi + 2]")),
        lambda s: s.blockize(loop(s, "B", 1)),
        "split the inner loop by a factor that divides the steps",
        lambda s: s.blockize(s.split(loop(s, "B", 1), [None, 2])[1]),
        before=lambda s: (s.split(loop(s, "C"), [None, 16]), s.compute_at("B", loop(s, "C"))),
    ),
    Row(
        "blockize: a fused loop cut across",
        main("A:12x20 C:12x20", each("C:12x20", "C[vi, vj] = A[vi, vj]")),
        lambda s: s.blockize(loop(s, "C", 1)),
        "split the fused loop by the old extents",
        lambda s: (s.fuse(*s.get_loops("C")), s.blockize(s.split(loop(s, "C"), [None, 10])[1])),
        before=lambda s: s.split(s.fuse(*s.get_loops("C")), [None, 16]),
        again=True,
    ),
    Row(
        "blockize: the small steps outside",
        ONE,
        lambda s: s.blockize(loop(s, "C", 1)),
        "reorder the loops",
        lambda s: (s.reorder(loop(s, "C", 1), loop(s, "C", 0)), s.blockize(loop(s, "C", 1))),
        before=lambda s: (s.split(loop(s, "C"), [None, 4]), s.reorder(loop(s, "C", 1), loop(s, "C", 0))),
    ),
    Row(
        "blockize: an iter that steps over points",
        main("A:8 C:8", nest("i:2 j:2", sblock("C", "vi:8=i * 4 + j * 2", "C[vi] = A[vi]"))),
        lambda s: s.blockize(loop(s, "C", 1)),
        "let the iter count the points",
        instead=main("A:8 C:8", nest("i:2 j:2", sblock("C", "vi:4=i * 2 + j", "C[vi * 2] = A[vi * 2]"))),
    ),
    Row(
        "blockize: a guard over two loops",
        main("A:4x4 C:4x4", nest("i:4 j:4", sblock("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]", where="i + j < 6"))),
        lambda s: s.blockize(loop(s, "C", 1)),
        "pass a loop around all loops that it uses",
        lambda s: s.blockize(loop(s, "C")),
    ),
    Row(
        "blockize: a guard over two loops of a sum",
        main(
            "A:4x4 C:4",
            nest(
                "i:4 j:4",
                sblock("C", "vi:4=i vj:4R=j", "C[vi] = C[vi] + A[vi, vj]", init="C[vi] = 0.0", where="i + j < 6"),
            ),
        ),
        lambda s: s.blockize(loop(s, "C")),
        "decompose_reduction first",
        lambda s: (s.decompose_reduction("C", loop(s, "C")), s.blockize(loop(s, "C_update"))),
    ),
    Row(
        "blockize: a remainder of inner and outer loops",
        main("A:4x4 C:4x4", nest("i:4 j:4", sblock("C", "vi:4=j vj:4=(i + j) % 4", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.blockize(loop(s, "C", 1)),
        "pass a loop around all loops that it uses",
        lambda s: s.blockize(loop(s, "C")),
    ),
    Row(
        "blockize: a loop without blocks",
        main("A:8 C:8 D:8 b:8", nest("i:8", "D[i] = A[i]", sblock("B", "vi:8=i", "b[vi] = A[vi]")), FROM_B),
        lambda s: s.blockize(emptied(s)),
        "pass a loop around a block",
        lambda s: s.blockize(loop(s, "C")),
        again=True,
    ),
    Row(
        "blockize: a list that would divide a sum",
        main(
            "P:8 Q:8",
            nest(
                "k:4",
                nest("i:8", sblock("P", "SO i k", "P[vi] = 1.0")),
                nest("i:8", sblock("Q", "SR i k", "Q[vi] = Q[vi] + 1.0")),
            ),
        ),
        lambda s: s.blockize([s.get_block("P"), s.get_block("Q")]),
        "blockize its nest alone",
        lambda s: s.blockize(loop(s, "Q", 1)),
    ),
    Row(
        "blockize: a sum with a condition on data",
        main("A:8x4 C:8", total(where="A[i, 0] > 0.0")),
        lambda s: s.blockize(loop(s, "C")),
        "in the program, put the condition into the block: if",
        instead=main(
            "A:8x4 C:8",
            each("C i:8 k:4R", under("if A[vi, 0] > 0.0:", "C[vi] = C[vi] + A[vi, vk]"), init="C[vi] = 0.0"),
        ),
    ),
    Row(
        "blockize: a list with a condition on data",
        main("A:8 B:8 C:8", each("B", "B[vi] = 1.0", where="A[i] > 0.0"), each("C", "C[vi] = 1.0")),
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        "in the program, put the condition into the block: if",
        instead=main("A:8 B:8 C:8", each("B", under("if A[vi] > 0.0:", "B[vi] = 1.0")), each("C", "C[vi] = 1.0")),
    ),
    Row(
        "blockize: a condition on data and a loop that is not an iter",
        main("A:4 B:2x8", nest("t:4 j:8", sblock("B", "vt:2O=t//2 vj:8=j", "B[vt, vj] = 1.0", where="A[t] > 0.0"))),
        lambda s: s.blockize(loop(s, "B", 1)),
        "in the program, put the condition into the block: if",
        instead=main(
            "A:4 B:2x8",
            nest("t:4 j:8", sblock("B", "vt:4O=t vj:8=j", under("if A[vt] > 0.0:", "B[vt // 2, vj] = 1.0"))),
        ),
    ),
    Row(
        "blockize: a binding that is data",
        main("X:8:int32 A:8 C:8", nest("i:8", sblock("C", "vi:8O=X[i]", "C[vi] = A[vi]"))),
        lambda s: s.blockize(loop(s, "C")),
        "in the program, compute it inside the block: as an index",
        instead=main("X:8:int32 A:8 C:8", nest("i:8", sblock("C", "vi:8O=i", "C[X[vi]] = A[X[vi]]"))),
    ),
    Row(
        "blockize: an init and an opaque iter whose iterations depend on each other",
        main("A:8x4 C:9", nest("i:8 k:4", sblock("C", "OR i k", CHAINED, init="C[vi + 1] = 0.0"))),
        lambda s: s.blockize(loop(s, "C", 1)),
        "in the program, let a block of its own write the initial value",
        instead=main(
            "A:8x4 C:9",
            nest("i:8", sblock("start", "O i", "C[vi + 1] = 0.0"), nest("k:4", sblock("C", "OR i k", CHAINED))),
        ),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
