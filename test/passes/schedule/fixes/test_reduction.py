"""Fixes for refusals of decompose_reduction and rfactor: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, in_init, loop
from programs.short import (
    BIASED,
    PRODUCED,
    SUMS,
    SUMS_OF_A_TRIANGLE,
    SUMS_OF_WHOLE_ROWS,
    each,
    main,
    nest,
    sblock,
    total,
    under,
)

WITHOUT_INIT = main("A:8x4 C:8", nest("i:8 k:4", sblock("C", "vi:8=i vk:4R=k", "C[vi] = C[vi] + A[vi, vk]")))
NEVER_BEGUN = main("A:8x4 C:8", total(where="k >= 2"))
BEGUN = main("A:8x4 C:8", total("T.if_then_else(vk >= 2, A[vi, vk], 0.0)"))
ROWS_OF_ANY_LENGTH = nest("i:8 k:m", sblock("C", "vi:8=i vk:mR=k", "C[vi] = C[vi] + A[vi, vk]", init="C[vi] = 0.0"))


def summed(*body: str) -> str:
    return main("A:8x4 C:8", nest("i:8 k:4", sblock("C", "vi:8=i vk:4R=k", *body, init="C[vi] = 0.0")))


def cube(inner: str, added: str) -> str:
    """A sum over two loops, `inner` where the inner one ends."""
    update = f"C[vi] = C[vi] + {added}"
    body = sblock("C", "vi:8=i vk:4R=k vl:4R=l", update, init="C[vi] = 0.0")
    return main("A:8x4x4 C:8", nest(f"i:8 k:4 l:{inner}", body))


ROWS = [
    Row(
        "decompose_reduction: a loop elsewhere",
        BIASED,
        lambda s: s.decompose_reduction("C", loop(s, "D")),
        "pass one of its own loops",
        lambda s: s.decompose_reduction("C", loop(s, "C")),
    ),
    Row(
        "decompose_reduction: no init",
        WITHOUT_INIT,
        lambda s: s.decompose_reduction("C", loop(s, "C")),
        "in the program, initialize the reduction with T.init",
        instead=main("A:8x4 C:8", total()),
    ),
    Row(
        "decompose_reduction: an init that never runs",
        NEVER_BEGUN,
        lambda s: s.decompose_reduction("C", loop(s, "C")),
        "run the loops in full",
        instead=BEGUN,
    ),
    Row(
        "decompose_reduction: a sum that is repeated",
        main("A:8x4 C:8", nest("t:2", total())),
        lambda s: s.decompose_reduction("C", loop(s, "C")),
        "pass a loop inside t",
        lambda s: s.decompose_reduction("C", loop(s, "C", 1)),
    ),
    Row(
        "rfactor: two blocks",
        SUMS,
        lambda s: s.rfactor(loop(s, "C"), 0),
        "a loop over one block only",
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        before=lambda s: s.reverse_compute_at("D", loop(s, "C")),
    ),
    Row(
        "rfactor: two blocks under the sum's loop",
        PRODUCED,
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "before the step that moved the others there",
        before=lambda s: s.compute_at("A", loop(s, "C", 1)),
        again=True,
    ),
    Row(
        "rfactor: not the first block",
        PRODUCED,
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "before the step that put both under one loop",
        lambda s: (s.rfactor(loop(s, "C", 1), 0), s.compute_at("A", loop(s, "C_rf"))),
        before=lambda s: s.compute_at("A", loop(s, "C")),
        again=True,
    ),
    Row(
        "rfactor: a spatial loop",
        SUMS,
        lambda s: s.rfactor(loop(s, "C"), 0),
        "pass one that does: k",
        lambda s: s.rfactor(loop(s, "C", 1), 0),
    ),
    Row(
        "rfactor: fused loops",
        SUMS,
        lambda s: s.rfactor(loop(s, "C"), 0),
        "split the fused loop by the extents",
        lambda s: (s.split(loop(s, "C"), [8, 4]), s.rfactor(loop(s, "C", 1), 0)),
        before=lambda s: s.fuse(*s.get_loops("C")),
    ),
    Row(
        "rfactor: under an if",
        main(
            "A:8x4 C:8",
            nest(
                "i:8",
                under(
                    "if i < 4:",
                    nest("k:4", sblock("C", "vi:8=i vk:4R=k", "C[vi] = C[vi] + A[vi, vk]", init="C[vi] = 0.0")),
                ),
            ),
        ),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "guard the block by T.where",
        instead=main("A:8x4 C:8", total(where="i < 4")),
    ),
    Row(
        "rfactor: bounds that change",
        SUMS_OF_A_TRIANGLE,
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "run the loops in full",
        instead=SUMS_OF_WHOLE_ROWS,
    ),
    Row(
        "rfactor: bounds that use the sum's loop",
        cube("k+1", "A[vi, vk, vl]"),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "run the loops in full",
        instead=cube("4", "T.if_then_else(vl <= vk, A[vi, vk, vl], 0.0)"),
    ),
    Row(
        "rfactor: a guard over the start",
        NEVER_BEGUN,
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "run the loops in full",
        instead=BEGUN,
    ),
    Row(
        "rfactor: a loop that may not run",
        main("A:8xm C:8", ROWS_OF_ANY_LENGTH),
        lambda s: s.rfactor(loop(s, "C", 2), 0),
        "T.assume at the top",
        lambda s: (s.split(loop(s, "C", 1), [None, 4]), s.rfactor(loop(s, "C", 2), 0)),
        before=lambda s: s.split(loop(s, "C", 1), [None, 4]),
        instead=main("A:8xm C:8", "T.assume(m >= 4)", ROWS_OF_ANY_LENGTH),
    ),
    Row(
        "rfactor: no init",
        SUMS,
        lambda s: s.rfactor(loop(s, "C_update", 1), 0),
        "before decompose_reduction removes the init",
        lambda s: (s.rfactor(loop(s, "C", 1), 0), s.decompose_reduction("C", loop(s, "C"))),
        before=lambda s: s.decompose_reduction("C", loop(s, "C")),
        again=True,
    ),
    Row(
        "rfactor: an init of one",
        main("A:8x4 C:8", total(init="1.0")),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "start from the identity, and combine the old start in a block after",
        instead=BIASED,
    ),
    Row(
        "rfactor: an init from memory",
        main("A:8x4 B:8 C:8", total(init="B[vi]")),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "start from a constant, and combine the old start in a block after",
        instead=BIASED,
    ),
    Row(
        "rfactor: results at two positions",
        main(
            "A:8x4 C:8 D:8x2",
            nest(
                "i:8 k:4",
                sblock(
                    "C",
                    "vi:8=i vk:4R=k",
                    "C[vi] = C[vi] + A[vi, vk]",
                    "D[vi, 0] = D[vi, 0] + A[vi, vk]",
                    init="C[vi] = 0.0; D[vi, 0] = 0.0",
                ),
            ),
        ),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "compute each result in a block of its own",
        instead=main("A:8x4 C:8 D:8", total(), total(name="D", to="D")),
    ),
    Row(
        "rfactor: two updates",
        summed("C[vi] = C[vi] + A[vi, vk]", "C[vi] = C[vi] + 1.0"),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "in one update",
        instead=summed("C[vi] = C[vi] + (A[vi, vk] + 1.0)"),
    ),
    Row(
        "rfactor: an update under an if",
        summed(under("if vk < 3:", "C[vi] = C[vi] + A[vi, vk]")),
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        "select the value by T.if_then_else",
        instead=summed("C[vi] = C[vi] + T.if_then_else(vk < 3, A[vi, vk], 0.0)"),
    ),
    Row(
        "rfactor: a block in an init",
        main("A:8x4 C:8", each("C i:8 k:4R", "C[vi] = C[vi] + A[vi, vk]", init=each("Y u:1", "C[vi] = 0.0"))),
        lambda s: s.rfactor(s.get_loops(in_init(s, "Y", "C"))[0], 0),
        "and pass a reduce loop of it",
        lambda s: s.rfactor(loop(s, "C", 1), 0),
        instead=main("A:8x4 C:8", total()),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
