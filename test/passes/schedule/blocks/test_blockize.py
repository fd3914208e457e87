"""blockize: a tile becomes a block around a block, or the step is refused."""

from __future__ import annotations

import pytest
from programs.elementwise import scale
from programs.matmul import matmul_nt
from programs.parsed import parse
from programs.reduction import RepeatedRowSums, SymbolicRowSums
from programs.short import each, main, nest, program, sblock
from programs.sizes import matmul_nt_sizes, square

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script.structural_equal import difference


def tiled(module, sizes: list[int]) -> tuple[Schedule, list]:
    """A schedule of a matmul with all outer loops outside all inner ones, and its inner loops."""
    sch = Schedule(module)
    pairs = [sch.split(loop, [None, size]) for loop, size in zip(sch.get_loops("C"), sizes, strict=True)]
    sch.reorder(*[p[0] for p in pairs], *[p[1] for p in pairs])
    return sch, [p[1] for p in pairs]


# --- what it does -----------------------------------------------------------------------------------------------------


def test_a_tile():
    sch = Schedule(scale(64, 32))
    i, _ = sch.get_loops("B")
    i_0, i_1 = sch.split(i, [4, 16])
    inner = sch.get_block("B")
    outer = sch.blockize(i_1)
    assert sch.get(outer).name == "B_o" and sch.get(inner).name == "B"
    assert sch.get_loops(outer) == [i_0] and sch.get_loops(inner)[0] == i_1
    text = sch.mod.script()
    assert "vi_o = T.axis.spatial(4, i_0)" in text and "vj_o = T.axis.spatial(1, 0)" in text
    assert 'vi_i, vj_i = T.axis.remap("SS", [i_1, j])' in text
    assert "T.writes(B[vi_o * 16:vi_o * 16 + 16, 0:32])" in text


def test_the_loop_by_keyword():
    one, other = Schedule(scale(8, 4)), Schedule(scale(8, 4))
    one.blockize(loop=one.get_loops("B")[1])
    other.blockize(target=other.get_loops("B")[1])
    assert one.mod.script() == other.mod.script()
    assert "blockize(target=" in str(one.trace)


def test_refuses_a_target_and_a_loop():
    sch = Schedule(scale(8, 4))
    i, j = sch.get_loops("B")
    with pytest.raises(TypeError, match='"target" and "loop" are two names of one argument'):
        sch.blockize(i, loop=j)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match='"target" has wrong type'):
        sch.blockize()  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (17, 1), (16, 127)])
def test_every_loop(n, m, number, keep, same_result):
    sch = Schedule(scale(n, m))
    sch.blockize(sch.get_loops("B")[number], preserve_unit_iters=keep)
    same_result(sch, scale(n, m), *square(n, m))


@pytest.mark.parametrize("keep", [True, False])
def test_units(keep):
    sch = Schedule(scale(8, 1))
    sch.blockize(sch.get_loops("B")[1], preserve_unit_iters=keep)
    assert ("B[vi_o, vj_o]" if keep else "B[vi_o, 0]") in sch.mod.script()


def test_again_and_again(same_result):
    sch = Schedule(scale(12, 8))
    for _ in range(3):
        sch.blockize(sch.get_loops("B")[-1])
    sch.blockize(sch.get_loops(sch.get_child_blocks("root")[0])[0])
    same_result(sch, scale(12, 8), *square(12, 8))


@pytest.mark.parametrize(("n", "m", "k"), [(16, 16, 16), (15, 17, 9), (1, 5, 1), (17, 4, 16)])
def test_a_reduction_with_guards(n, m, k, same_result):
    sch, inner = tiled(matmul_nt(n, m, k), [4, 8, 4])
    sch.blockize(inner[0])
    text = sch.mod.script()
    assert "T.axis.reduce(" in text or 'T.axis.remap("SSR", [i_0, j_0, kk_0])' in text
    assert 'with T.block("C_init"):' in text
    same_result(sch, matmul_nt(n, m, k), *matmul_nt_sizes(n, m, k))


def test_the_init_in_the_outer_block():
    sch, inner = tiled(matmul_nt(16, 16, 16), [4, 4, 4])
    sch.blockize(inner[0])
    lines = [line.strip() for line in sch.mod.script().splitlines()]
    start = lines.index("with T.init():")
    assert lines[start + 1 : start + 4] == [
        "for i_1, j_1 in T.grid(4, 4):",
        'with T.block("C_init"):',
        'vi_i_init, vj_i_init = T.axis.remap("SS", [i_1, j_1])',
    ]
    assert "T.reads(C[vi_o * 4 + vi_i, vj_o * 4 + vj_i], A[vi_o * 4 + vi_i" in sch.mod.script()


def test_the_reduction_stays_outside(same_result):
    sch = Schedule(matmul_nt(8, 8, 6))
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i, j)
    sch.blockize(i)
    same_result(sch, matmul_nt(8, 8, 6), *matmul_nt_sizes(8, 8, 6))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 33])
def test_a_symbolic_size(n, same_result):
    sch = Schedule(SymbolicRowSums)
    _, i_1 = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.blockize(i_1)
    assert "T.where(" in sch.mod.script() and "vi_o = T.axis.spatial((n + 15) // 16, i_0)" in sch.mod.script()
    same_result(sch, SymbolicRowSums, ((n, 8), "float32"), ((n,), "float32"))


def test_kinds_and_annotations(same_result):
    sch = Schedule(scale(8, 16))
    i, j = sch.get_loops("B")
    sch.vectorize(j)
    sch.annotate("B", "key", 1)
    outer = sch.blockize(j)
    sch.parallel(i)
    assert sch.get(j).kind == "vectorized"
    assert sch.get("B" if False else sch.get_block("B")).annotations == {"key": 1}
    assert sch.get(outer).annotations == {}
    same_result(sch, scale(8, 16), *square(8, 16))


Part = program(
    "A:4x4 D:4; C:4",
    each("other:4", "C[vi] = 5.0"),
    each("C i:4 k:4R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0", where="i < 2"),
    each("D:4", "D[vi] = C[vi]"),
)
"""The sums start anew only where the guard holds: the rest of C is of another block."""
Triangle = program(
    "A:4x4 D:4; C:4",
    each("other:4", "C[vi] = 5.0"),
    each("C i:4 k:4R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0", where="k < i"),
    each("D:4", "D[vi] = C[vi]"),
)


@pytest.mark.parametrize("number", [0, 1])
def test_the_init_keeps_the_guard(number, same_result):
    sch = Schedule(Part)
    sch.blockize(sch.get_loops("C")[number])
    same_result(sch, Part, ((4, 4), "float32"), ((4,), "float32"))


def test_refuses_a_guard_between_loops_that_an_init_would_need(refused):
    sch = Schedule(Triangle)
    for loop in sch.get_loops("C"):
        refused(sch, "is not a condition", lambda loop=loop: sch.blockize(loop))


# --- what it refuses --------------------------------------------------------------------------------------------------


def test_refuses_a_repeated_reduction(refused, same_result):

    sch = Schedule(RepeatedRowSums)
    i, t, k = sch.get_loops("C")
    refused(sch, 'loop t repeats block "C"', lambda: sch.blockize(i))
    refused(sch, 'loop t repeats block "C"', lambda: sch.blockize(t))
    sch.blockize(k)
    same_result(sch, RepeatedRowSums, ((8, 4), "float32"), ((8,), "float32"))


def test_refuses_several_blocks(refused):
    Two = program(
        "A:8 B:8 C:8", nest("i:8", sblock("B", "vi:8=i", "B[vi] = A[vi]"), sblock("C", "vi:8=i", "C[vi] = A[vi]"))
    )
    sch = Schedule(Two)
    message = r'exactly one block under it; loop i has 2 \("B", "C"\)'
    refused(sch, message, lambda: sch.blockize(sch.get_loops("B")[0]))


def test_refuses_loops_out_of_order(refused, same_result):
    sch = Schedule(scale(12, 4))
    i, _j = sch.get_loops("B")
    i_0, i_1 = sch.split(i, [None, 4])
    sch.reorder(i_1, i_0)
    refused(sch, "outer part of iter vi is not a multiple|do not cover .* of iter vi", lambda: sch.blockize(i_0))


def test_refuses_wrong_handles(refused):
    sch = Schedule(scale(8, 8))
    refused(sch, "wrong type", lambda: sch.blockize(sch.get_block("B")), TypeError)
    refused(sch, "wrong type", lambda: sch.blockize(3), TypeError)


Started = program(
    "A:5x9 B:5", nest("i:5 k:i+1", sblock("B", "vi:5=i vk:9R=k", "B[vi] += A[vi, vk]", init="B[vi] = 0.0"))
)
"""Rows of which only the start is summed."""


def test_a_domain_that_no_loop_reaches_the_end_of():
    """There is one tile, however far the domain goes."""
    sch = Schedule(Started)
    sch.blockize(sch.get_loops("B")[0])
    assert "vk_o = T.axis.reduce(1, 0)" in sch.mod.script()
    assert difference(parse(sch.mod.script()).mlir, sch.mod.mlir) is None
    assert sch.verify()


NEVER = main(
    "A:1x1:int8 B:1x1:int8; Y:1x1:int8",
    each("low:1x1", "Y[vi, vj] = A[vi, vj]"),
    nest("i:1 j:1-1-i", sblock("high", "vi:1=i vj:1=i + 1 + j", "Y[vi, vj] = T.int8(2)")),
    each("B:1x1", "B[vi, vj] = Y[vi, vj]"),
)


@pytest.mark.parametrize("what", ["blocks", "loop"])
def test_a_loop_that_never_runs_has_no_tile(what):
    sch = Schedule(parse(NEVER))
    low, high = sch.get_block("low"), sch.get_block("high")
    with pytest.raises(ScheduleError, match=r"a loop around block high never runs: iter v[ij] has no values to tile"):
        sch.blockize([low, high] if what == "blocks" else sch.get_loops(high)[0])


NESTED = main(
    "A:4x7:int32 B:4x7:int32",
    nest(
        "i:4",
        sblock(
            "B_o", "vo:4=i", nest("j:7", sblock("B", "vi:1=0 vj:7=j", "B[vo + vi, vj] = A[vo + vi, vj] + T.int32(1)"))
        ),
    ),
)


@pytest.mark.parametrize("which", ["inner", "outer", "iters"])
def test_an_outer_block_keeps_the_declarations_of_inner_ones(which):
    """Declared regions are maps of the iters around: a new block among these, or other iters, must not shift them."""
    sch = Schedule(parse(NESTED))
    piece, _ = sch.loop_partition(sch.get_loops("B")[0], [2, None])  # their blocks declare regions
    if which == "outer":
        sch.blockize(sch.split(sch.get_loops("B_o")[0], [None, 2])[1])
        assert sch.mod.script().count("T.reads(A[vo_o * 2 + vo_i + vi, vj])") == 2
    elif which == "inner":
        sch.blockize(piece)
        assert "T.reads(A[vo + vi_o, vj_i])" in sch.mod.script()
    else:
        sch.transform_block_layout("B_o", lambda i: (i // 2, i % 2))
        assert sch.mod.script().count("T.reads(A[v0 * 2 + v1 + vi, vj])") == 2
    assert sch.verify()


WINDOW = main(
    "A:7x4 W:2x1 C:3x2",
    nest(
        "i:3 j:2 s:1 r:2",
        sblock(
            "C",
            "SSRR i j r s",
            "C[vi, vj] = C[vi, vj] + A[vi * 2 + vr, vj * 2 + vs] * W[vr, vs]",
            init="C[vi, vj] = T.float32(0)",
        ),
    ),
)


def test_a_declared_region_may_speak_of_other_iters_than_the_accesses():
    sch = Schedule(parse(WINDOW))
    sch.annotate_buffer_access("C", 1, "read", lambda vi, vj, vr, vs: [(vi, vi + 2), (vi - 1, vi + 2)])
    with pytest.raises(ScheduleError, match=r"T.reads of W is smaller than the region that the block accesses"):
        sch.blockize(sch.get_loops("C")[3], preserve_unit_iters=False)


def rows(kind: str, first: str = "T1[vj] = A[vi, vj] + 1.0", n: int = 3):
    return program(
        f"A:{n}x6 C:{n}x6 ; T1:6",
        nest(
            f"i:{n}",
            nest("j:6", sblock("T1", "", f"vi = T.axis.{kind}({n}, i)", "vj = T.axis.spatial(6, j)", f"{first}")),
            nest("j:6", sblock("C", "SS i j", "C[vi, vj] = T1[5 - vj] + T1[vj]")),
        ),
    )


def test_the_new_block_keeps_the_order_that_one_of_them_needs(same_result):
    program = rows("opaque")
    sch = Schedule(program)
    sch.blockize(["T1", "C"])
    assert "vi_o = T.axis.opaque(3, i)" in sch.mod.script()
    same_result(sch, program, ((3, 6), "float32"), ((3, 6), "float32"))
    assert sch.verify()


def test_a_reduce_iter_of_extent_1_is_not_divided(same_result):
    program = rows("reduce", n=1)
    sch = Schedule(program)
    sch.blockize(["T1", "C"], preserve_unit_iters=False)
    same_result(sch, program, ((1, 6), "float32"), ((1, 6), "float32"))
    assert sch.verify()


def tiles_of(extent: int, outer: str, index: str):
    """A block over `extent` elements in tiles of 16, whose last ones have iterations beyond."""
    body = sblock("B", f"vi:{extent}={index}", "B[vi] = A[vi] + 1.0", where=f"{index} < {extent}")
    return program(f"A:{extent} B:{extent}", nest(f"{outer} k:16", body))


def test_a_guard_of_whole_tiles_is_outside_of_the_block(same_result):
    text = tiles_of(160, "i:3 j:4", "i * 64 + j * 16 + k")
    sch = Schedule(text)
    sch.blockize(sch.get_loops("B")[2])
    lines = [line.strip() for line in sch.mod.script().splitlines()]
    assert [line for line in lines if line.startswith("T.where")] == ["T.where(i * 64 + j * 16 < 145)"]
    same_result(sch, text, ((160,), "float32"), ((160,), "float32"))
    assert sch.verify()


def test_tiles_with_no_iteration_are_guarded_as_a_whole(same_result):
    text = tiles_of(150, "i:3 j:4", "i * 64 + j * 16 + k")
    sch = Schedule(text)
    sch.blockize(sch.get_loops("B")[2])
    lines = [line.strip() for line in sch.mod.script().splitlines()]
    assert [line for line in lines if line.startswith("T.where")] == [
        "T.where(i * 64 + j * 16 < 150)",
        "T.where(vi_o * 16 + k < 150)",
    ]
    same_result(sch, text, ((150,), "float32"), ((150,), "float32"))
    assert sch.verify()
