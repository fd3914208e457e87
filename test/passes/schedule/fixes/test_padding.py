"""Fixes for refusals of decompose_padding and pad_einsum: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, in_init, loop
from programs.short import each, main, nest, sblock, shorter, total, under

PADDED = "T.if_then_else(vi < 8, A[vi], T.float32(0))"
PADDED_RESULT = main("A:8 C:10", each("C:10", f"C[vi] = {PADDED}"))
PADDED_COPY = each("B:10", f"b[vi] = {PADDED}")
CUT_BY_SIZE = each("C:n", "C[vi] = T.if_then_else(vi < m, A[vi], T.float32(0))")


def sum_of_ten(added: str) -> str:
    return nest("k:10", sblock("C", "vo:1=0 vk:10R=k", f"C[vo] = C[vo] + {added}", init="C[vo] = 0.0"))


ADD_ELEMENT = "C[vi] = C[vi] + A[vi, vk]"
UNDER_IF = main(
    "A:7x7 C:7",
    nest("i:7 k:7", under("if i + k < 9:", sblock("C", "vi:7=i vk:7R=k", ADD_ELEMENT, init="C[vi] = 0.0"))),
)

ROWS = [
    Row(
        "decompose_padding: a loop elsewhere",
        main("A:8 C:8 b:10", PADDED_COPY, each("C", "C[vi] = b[vi]")),
        lambda s: s.decompose_padding("B", loop(s, "C")),
        "pass one of its own loops",
        lambda s: s.decompose_padding("B", loop(s, "B")),
    ),
    Row(
        "decompose_padding: a block that reads the padding early",
        main(
            "A:8 C:10 D:10",
            nest(
                "i:10",
                nest("j:1", sblock("B", "vi:10=i", f"C[vi] = {PADDED}")),
                sblock("D", "vi:10=i", "D[vi] = C[9 - vi]"),
            ),
        ),
        lambda s: s.decompose_padding("B", loop(s, "B")),
        "pass an inner loop",
        lambda s: s.decompose_padding("B", loop(s, "B", 1)),
    ),
    Row(
        "decompose_padding: bounds that use a loop",
        main(
            "A:8x8 b:8x8 C:8x8",
            nest(
                "i:8 j:i+1", sblock("B", "vi:8=i vj:8=j", "b[vi, vj] = T.if_then_else(vj < 3, A[vi, vj], T.float32(0))")
            ),
            nest("i:8 j:i+1", sblock("C", "vi:8=i vj:8=j", "C[vi, vj] = b[vi, vj]")),
        ),
        lambda s: s.decompose_padding("B", loop(s, "B")),
        "pass loop j",
        lambda s: s.decompose_padding("B", loop(s, "B", 1)),
    ),
    Row(
        "decompose_padding: a body of two stores",
        main("A:8 C:10", each("C:10", under("if vi < 8:", "C[vi] = A[vi]"), under("else:", "C[vi] = 0.0"))),
        lambda s: s.decompose_padding("C", loop(s, "C")),
        "make it one store",
        instead=PADDED_RESULT,
    ),
    Row(
        "decompose_padding: two parts that take the value",
        main("A:12 C:12", each("C:12", "C[vi] = T.if_then_else(vi % 6 < 4, A[vi], T.float32(0))")),
        lambda s: s.decompose_padding("C", loop(s, "C")),
        "loop_partition first",
        lambda s: (
            s.loop_partition(loop(s, "C"), [6, None]),
            s.decompose_padding("C_i0", loop(s, "C_i0")),
            s.decompose_padding("C_i1", loop(s, "C_i1")),
        ),
    ),
    Row(
        "decompose_padding: a call",
        main("A:8 C:10", each("C:10", "T.evaluate(T.call_extern('int32', 'f', vi))", f"C[vi] = {PADDED}")),
        lambda s: s.decompose_padding("C", loop(s, "C")),
        "make it one store",
        instead=PADDED_RESULT,
    ),
    Row(
        "decompose_padding: a choice within a value",
        main("A:8 C:10", each("C:10", f"C[vi] = {PADDED} + 1.0")),
        lambda s: s.decompose_padding("C", loop(s, "C")),
        "store the padded value in a block of its own",
        lambda s: s.decompose_padding("B", loop(s, "B")),
        instead=main("A:8 C:10 b:10", PADDED_COPY, each("C:10", "C[vi] = b[vi] + 1.0")),
    ),
    Row(
        "decompose_padding: a choice within a sum",
        main("A:8 C:1", sum_of_ten("T.if_then_else(vk < 8, A[vk], T.float32(0))")),
        lambda s: s.decompose_padding("C", loop(s, "C")),
        "store the padded value in a block of its own",
        lambda s: s.decompose_padding("B", loop(s, "B")),
        instead=main("A:8 C:1 b:10", PADDED_COPY, sum_of_ten("b[vk]")),
    ),
    Row(
        "decompose_padding: an end that depends on the sizes",
        main("A:m C:n", CUT_BY_SIZE),
        lambda s: s.decompose_padding("C", loop(s, "C")),
        "T.assume at the top of the function",
        instead=main("A:m C:n", "T.assume(m < n)", CUT_BY_SIZE),
    ),
    Row(
        "pad_einsum: an iter that starts at 3",
        main("A:8 C:8", nest("i:5", sblock("C", "vi:(3,8)=i + 3", "C[vi] = A[vi]"))),
        lambda s: s.pad_einsum("C", [4]),
        "leave vi unpadded (padding 1)",
        lambda s: s.pad_einsum("C", [1]),
    ),
    Row(
        "pad_einsum: one buffer at two indices",
        main("A:7 C:7x7", each("C:7x7", "C[vi, vj] = A[vi] * A[vj]")),
        lambda s: s.pad_einsum("C", [4, 4]),
        "let one of the two read a copy of A",
        instead=main("A:7 C:7x7 a:7", each("a:7", "a[vi] = A[vi]"), each("C:7x7", "C[vi, vj] = A[vi] * a[vj]")),
    ),
    Row(
        "pad_einsum: an index that is not an iter",
        main("A:8 C:7", each("C:7", "C[vi] = A[vi + 1]")),
        lambda s: s.pad_einsum("C", [4]),
        "reindex makes it access A",
        lambda s: (s.reindex("C", ("read", 0)), s.pad_einsum("C", [4])),
    ),
    Row(
        "pad_einsum: another statement in the loop",
        main("A:7 B:7 C:7", nest("i:7", "B[i] = A[i]", sblock("C", "vi:7=i", "C[vi] = A[vi]"))),
        lambda s: s.pad_einsum("C", [4]),
        "put that statement into a block",
        instead=main(
            "A:7 B:7 C:7", nest("i:7", sblock("B", "vi:7=i", "B[vi] = A[vi]"), sblock("C", "vi:7=i", "C[vi] = A[vi]"))
        ),
    ),
    Row(
        "pad_einsum: a loop of two iters",
        main("A:7x7 C:7x7", nest("i:7 j:7", sblock("C", "vi:7=i vj:7=(i + j) % 7", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.pad_einsum("C", [4, 4]),
        "leave vi, vj unpadded (padding 1)",
        lambda s: s.pad_einsum("C", [1, 1]),
    ),
    Row(
        "pad_einsum: a loop shorter than its iter",
        shorter(9),
        lambda s: s.pad_einsum("C", [4]),
        "let the domain of vi end where the loop does",
        instead=shorter(5),
    ),
    Row(
        "pad_einsum: zeros in a division",
        main("A:8:int32 B:8:int32 C:8:int32", each("C", "C[vi] = A[vi] // B[vi]")),
        lambda s: s.pad_einsum("C", [3]),
        "split by a factor that does not divide",
        lambda s: s.split(loop(s, "C"), [None, 3]),
    ),
    Row(
        "pad_einsum: zeros in a maximum",
        main(
            "A:8x4 C:8",
            nest(
                "i:8 k:4",
                sblock("C", "vi:8=i vk:4R=k", "C[vi] = T.max(C[vi], A[vi, vk])", init='C[vi] = T.min_value("float32")'),
            ),
        ),
        lambda s: s.pad_einsum("C", [1, 3]),
        "leave vk unpadded",
        lambda s: s.pad_einsum("C", [3, 1]),
    ),
    Row(
        "pad_einsum: zeros that add something",
        main("A:8x4 C:8", total("(A[vi, vk] + 1.0)")),
        lambda s: s.pad_einsum("C", [1, 3]),
        "leave vk unpadded",
        lambda s: s.pad_einsum("C", [3, 1]),
    ),
    Row(
        "decompose_padding: a block in an init",
        main(
            "A:8x8 B:3 C:8",
            nest(
                "o:2",
                sblock(
                    "o",
                    "vo:2=o",
                    each("S j:4 k:8R", "C[vo * 4 + vj] = C[vo * 4 + vj] + A[vo * 4 + vj, vk]"),
                    init=each("Y:4", "C[vo * 4 + vi] = T.if_then_else(vi < 3, B[vi], T.float32(0))"),
                ),
            ),
        ),
        lambda s: s.decompose_padding(in_init(s, "Y", "o"), s.get_loops(in_init(s, "Y", "o"))[0]),
        "decompose_reduction moves the init into a block of its own",
        lambda s: (s.decompose_reduction("o", loop(s, "o")), s.decompose_padding("Y", loop(s, "Y"))),
    ),
    Row(
        "pad_einsum: a sum under an if",
        UNDER_IF,
        lambda s: s.pad_einsum("C", [4, 1]),
        "in the program, put the condition into the body of the block",
        instead=main("A:7x7 C:7", each("C i:7 k:7R", under("if vi + vk < 9:", ADD_ELEMENT), init="C[vi] = 0.0")),
    ),
    Row(
        "pad_einsum: a sum under an if, guarded instead",
        UNDER_IF,
        lambda s: s.pad_einsum("C", [4, 1]),
        "or guard it by T.where",
        instead=main("A:7x7 C:7", each("C i:7 k:7R", ADD_ELEMENT, init="C[vi] = 0.0", where="i + k < 9")),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
