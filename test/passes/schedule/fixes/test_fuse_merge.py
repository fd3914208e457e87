"""Fixes for refusals of fuse and merge: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, loop
from programs.short import CUT_SQUARE, PAIR, TRIANGLE, each, main, nest, sblock

SHARED = main(
    "A:4x4 C:4x4 b:4x4",
    nest(
        "i:4",
        nest("j:4", sblock("B", "vi:4=i vj:4=j", "b[vi, vj] = A[vi, vj]")),
        nest("k:4", sblock("C", "vi:4=i vj:4=k", "C[vi, vj] = b[vi, vj]")),
    ),
)


def cut(name: str, end: str, where: str = "") -> str:
    """A loop j over rows of 6."""
    return nest(f"j:{end}", sblock(name, "vi:8=i vj:6=j", f"{name}[vi, vj] = A[vi, vj]", where=where))


ROWS = [
    Row(
        "fuse: a loop with two ends",
        main("A:8x8 C:8x8", nest("i:8 j:T.min(6,i+1)", sblock("C", "vi:8=i vj:6=j", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.fuse(*s.get_loops("C")),
        "let it run to one of them",
        instead=main(
            "A:8x8 C:8x8", nest("i:8 j:6", sblock("C", "vi:8=i vj:6=j", "C[vi, vj] = A[vi, vj]", where="j < i + 1"))
        ),
    ),
    Row(
        "fuse: a triangle",
        TRIANGLE,
        lambda s: s.fuse(*s.get_loops("C")),
        "give j its maximal range",
        instead=CUT_SQUARE,
    ),
    Row(
        "fuse: another nest in the loop, put under the inner one",
        SHARED,
        lambda s: s.fuse(loop(s, "B"), loop(s, "B", 1)),
        "move the other statements under loop j first",
        lambda s: (s.reverse_compute_at("C", loop(s, "B", 1)), s.fuse(loop(s, "B"), loop(s, "B", 1))),
    ),
    Row(
        "fuse: another nest in the loop, merged",
        SHARED,
        lambda s: s.fuse(loop(s, "B"), loop(s, "B", 1)),
        "merge",
        lambda s: (s.merge(loop(s, "B", 1), loop(s, "C", 1)), s.fuse(loop(s, "B"), loop(s, "B", 1))),
    ),
    Row(
        "fuse: another nest in the loop, inlined",
        SHARED,
        lambda s: s.fuse(loop(s, "B"), loop(s, "B", 1)),
        "inline them",
        lambda s: (s.compute_inline("B"), s.fuse(loop(s, "C"), loop(s, "C", 1))),
    ),
    Row(
        "merge: a loop from 2",
        main(
            "A:8 B:8 C:8",
            nest("i:2..8", sblock("B", "vi:6=i - 2", "B[vi] = A[vi]")),
            nest("j:2..8", sblock("C", "vi:6=j - 2", "C[vi] = A[vi]")),
        ),
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
        "run i from 0",
        instead=main("A:8 B:8 C:8", each("B:6", "B[vi] = A[vi]"), nest("j:6", sblock("C", "vi:6=j", "C[vi] = A[vi]"))),
    ),
    Row(
        "merge: loops in blocks",
        PAIR,
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
        "merge loops further out",
        lambda s: s.merge(loop(s, "B_o"), s.split(loop(s, "C"), [None, 4])[0]),
        before=lambda s: (s.split(loop(s, "B"), [None, 4]), s.blockize(loop(s, "B", 1))),
    ),
    Row(
        "merge: another nest in the loop",
        main(
            "A:4x4 B:4x4 C:4x4 D:4x4 b:4x4",
            nest(
                "i:4",
                nest("j:4", sblock("B", "vi:4=i vj:4=j", "b[vi, vj] = A[vi, vj]")),
                nest("j:4", sblock("C", "vi:4=i vj:4=j", "C[vi, vj] = b[vi, vj]")),
            ),
            each("D:4x4", "D[vi, vj] = A[vi, vj]"),
        ),
        lambda s: s.merge(loop(s, "C", 1), loop(s, "D", 1)),
        "move the other statements under loop j",
        lambda s: (s.compute_at("B", loop(s, "C", 1)), s.merge(loop(s, "C", 1), loop(s, "D", 1))),
    ),
    Row(
        "merge: unequal depths",
        main(
            "A:4x4 B:4x4 C:4",
            each("B:4x4", "B[vi, vj] = A[vi, vj]"),
            nest("k:4", sblock("C", "vi:4=k", "C[vi] = A[vi, 0]")),
        ),
        lambda s: s.merge(loop(s, "B", 1), loop(s, "C")),
        "pass loop i instead of j",
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
    ),
    Row(
        "merge: loops inside one another",
        main("A:4x4 B:4x4", each("B:4x4", "B[vi, vj] = A[vi, vj]")),
        lambda s: s.merge(*s.get_loops("B")),
        "fuse combines loops that are nested in one another",
        lambda s: s.fuse(*s.get_loops("B")),
    ),
    Row(
        "merge: unequal lengths",
        main("A:30 B:8 C:30", each("B", "B[vi] = A[vi]"), each("C:30", "C[vi] = A[vi]")),
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
        "split loop i by [8, None] and merge its outer part",
        lambda s: s.merge(loop(s, "B"), s.split(loop(s, "C"), [8, None])[0]),
    ),
    Row(
        "merge: a number and a size",
        main(
            "A:n C:n b:n",
            each("B:n", "b[vi] = A[vi]"),
            nest("i:(n+7)//8 j:8", sblock("C", "vi:n=i * 8 + j", "C[vi] = b[vi]", where="i * 8 + j < n")),
        ),
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "merge: a dependence turned round by the order of the names",
        PAIR,
        lambda s: s.merge(loop(s, "C"), loop(s, "B")),
        "in program order",
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
    ),
    Row(
        "merge: a dependence turned round",
        main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), each("C", "C[vi] = b[7 - vi]")),
        lambda s: s.merge(loop(s, "B"), loop(s, "C")),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("B", loop(s, "C")),
    ),
    Row(
        "merge: a reader in between, merged too",
        main("A:8 B:8 C:8 D:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]"), each("D", "D[vi] = B[vi]")),
        lambda s: s.merge(loop(s, "B"), loop(s, "D")),
        "merge the loops of those ops",
        lambda s: s.merge(loop(s, "B"), loop(s, "C"), loop(s, "D")),
    ),
    Row(
        "merge: a reader in between, inlined",
        main("A:8 B:8 D:8 c:8", each("B", "B[vi] = A[vi]"), each("c", "c[vi] = B[vi]"), each("D", "D[vi] = c[vi]")),
        lambda s: s.merge(loop(s, "B"), loop(s, "D")),
        "or inline them",
        lambda s: (s.compute_inline("c"), s.merge(loop(s, "B"), loop(s, "D"))),
    ),
    Row(
        "merge: loops with two ends",
        main("A:8x8 B:8x8 C:8x8", nest("i:8", cut("B", "T.min(6,i+1)"), cut("C", "T.min(6,i+1)"))),
        lambda s: s.merge(loop(s, "B", 1), loop(s, "C", 1)),
        "let it run to one of them",
        instead=main("A:8x8 B:8x8 C:8x8", nest("i:8", cut("B", "6", "j < i + 1"), cut("C", "6", "j < i + 1"))),
    ),
    Row(
        "fuse: a bound that would not be affine",
        main("A:8xnxn", nest("i:8 j:n k:j+1", sblock("A", "vi:8=i vj:n=j vk:nO=k", "A[vi, vj, vk] = 0.0"))),
        lambda s: s.fuse(*s.get_loops("A")[:2]),
        "in the program, put what depends on it into the body of a block",
        instead=main("A:8xnxn", nest("i:8 j:n", sblock("A", "SS i j", nest("k:vj+1", "A[vi, vj, k] = 0.0")))),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
