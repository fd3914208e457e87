"""decompose_padding: a fill and a copy are equivalent to the padded copy, or the step is refused."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, nest, program, sblock, under

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference


def padded(value: str, size: int = 20, source: int = 24, dtype: str = "float32"):
    return program(f"X:{source}:{dtype} Y:{size}:{dtype}", each(f"Y i:{size}", f"Y[vi] = {value}"))


Image = program(
    "X:3x13x9 Y:3x16x12",
    each(
        "Y c:3 h:16 w:12",
        "Y[vc, vh, vw] = T.if_then_else(1 <= vh < 14 and 2 <= vw < 11, X[vc, vh - 1, vw - 2], T.float32(0.5))",
    ),
)
SIZES = ((3, 13, 9), "float32"), ((3, 16, 12), "float32")


# --- what it makes ----------------------------------------------------------------------------------------------------


def test_one_dimension():
    Expected = program(
        "X:128:int32 Y:140:int32",
        each("Y_pad_const:140", "T.reads()", "T.writes(Y[vi])", "Y[vi] = 0"),
        each("Y:128", "T.reads(X[vi])", "T.writes(Y[vi + 6])", "Y[vi + 6] = X[vi]"),
    )
    sch = Schedule(padded("T.if_then_else(vi >= 6 and vi < 134, X[vi - 6], 0)", 140, 128, "int32"))
    block = sch.get_block("Y")
    made = sch.decompose_padding(block, sch.get_loops(block)[0])
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert (sch.get(made).name, sch.get(block).name) == ("Y_pad_const", "Y")


def test_beneath_an_outer_loop(same_result):
    Expected = program(
        "X:3x13x9 Y:3x16x12",
        nest(
            "c:3 h:16",
            nest("w:12", sblock("Y_pad_const", "SSS c h w", "Y[vc, vh, vw] = T.float32(0.5)")),
            nest(
                "w:9",
                sblock(
                    "Y", "vc:3=c vh:13=h - 1 vw:9=w", "Y[vc, vh + 1, vw + 2] = X[vc, vh, vw]", where="1 <= h and h < 14"
                ),
            ),
        ),
    )
    sch = Schedule(Image)
    sch.decompose_padding("Y", sch.get_loops("Y")[2])
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    same_result(sch, Image, *SIZES)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_place(number, same_result):
    sch = Schedule(Image)
    sch.decompose_padding("Y", sch.get_loops("Y")[number])
    assert "if_then_else" not in sch.mod.script()
    same_result(sch, Image, *SIZES)


@pytest.mark.parametrize("number", [0, 1, 2, 3])
@pytest.mark.parametrize("factor", [4, 5])
def test_split_loops_get_a_guard(number, factor, same_result):
    sch = Schedule(Image)
    sch.split(sch.get_loops("Y")[1], [None, factor])
    sch.decompose_padding("Y", sch.get_loops("Y")[number])
    same_result(sch, Image, *SIZES)


def test_kinds_and_annotations(same_result):
    sch = Schedule(Image)
    c, _, w = sch.get_loops("Y")
    sch.parallel(c)
    sch.vectorize(w)
    sch.annotate("Y", "mark", 1)
    made = sch.decompose_padding("Y", c)
    assert [sch.get(lp).kind for lp in sch.get_loops(made)] == ["parallel", "serial", "vectorized"]
    assert sch.get(made).annotations == {"mark": 1}
    same_result(sch, Image, *SIZES)


VALUES = [
    "T.if_then_else(vi >= 6, X[vi - 6], T.float32(1))",
    "T.if_then_else(vi < 15, X[vi], T.float32(1))",
    "T.if_then_else(vi < 15, X[vi] * T.float32(2) + X[vi + 1], T.float32(-1))",
    "T.if_then_else(vi < 5, T.float32(3), X[vi])",
    "T.if_then_else(vi < 15, T.if_then_else(vi < 3, X[vi], X[vi + 1]), T.float32(0))",
    "T.if_then_else(5 <= vi and vi < 15, X[(vi - 5) // 2], T.float32(0))",
    "T.if_then_else(vi == 7, X[vi], T.float32(0))",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("split", [None, 4, 6])
def test_values(value, split, same_result):
    sch = Schedule(padded(value))
    if split is not None:
        sch.split(sch.get_loops("Y")[0], [None, split])
    block, loop = sch.get_block("Y"), sch.get_loops("Y")[0]
    assert sch.can_decompose_padding(block, loop) is True
    sch.decompose_padding(block, loop)
    same_result(sch, padded(value), ((24,), "float32"), ((20,), "float32"))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 127])
def test_a_symbolic_size(n, same_result):
    @I.ir_module
    class Symbolic:
        @T.prim_func
        def main(x: T.handle, y: T.handle):
            n = T.int32()
            X = T.match_buffer(x, (n,), "float32")
            Y = T.match_buffer(y, (n + 12,), "float32")
            for i in range(n + 12):
                with T.block("Y"):
                    vi = T.axis.spatial(n + 12, i)
                    Y[vi] = T.if_then_else(6 <= vi and vi < n + 6, X[vi - 6], T.float32(0))

    sch = Schedule(Symbolic)
    sch.decompose_padding("Y", sch.get_loops("Y")[0])
    assert "for i in range(n):" in sch.mod.script()
    same_result(sch, Symbolic, ((n,), "float32"), ((n + 12,), "float32"))


# --- what it refuses --------------------------------------------------------------------------------------------------

WRONG = [
    ("X[vi]", "does not store T.if_then_else"),
    ("T.if_then_else(X[vi] > T.float32(0), X[vi], T.float32(0))", "does not store T.if_then_else"),
    ("T.if_then_else(vi < 15, X[vi], T.float32(0)) + T.float32(1)", "does not store T.if_then_else"),
    ("T.if_then_else(vi < 15, X[vi], X[0])", "one of them must be a constant, the padding"),
    ("T.if_then_else(vi < 20, X[vi], T.float32(0))", "nothing is padded"),
    ("T.if_then_else(vi > 20, X[vi], T.float32(0))", "all of it is padding"),
    ("T.if_then_else(vi % 2 == 0, X[vi], T.float32(0))", r"are not a box: \(vi = 1\) is between them"),
]


@pytest.mark.parametrize(("value", "match"), WRONG)
def test_refuses_other_bodies(value, match, refused):
    sch = Schedule(padded(value))
    block, loop = sch.get_block("Y"), sch.get_loops("Y")[0]
    assert sch.can_decompose_padding(block, loop) is False
    refused(sch, match, lambda: sch.decompose_padding(block, loop))


def test_refuses_a_triangle(refused):
    Triangle = program("X:8x8 Y:8x8", each("Y:8x8", "Y[vi, vj] = T.if_then_else(vj <= vi, X[vi, vj], T.float32(0))"))
    sch = Schedule(Triangle)
    refused(sch, r"are not a box: \(vi = 0, vj = 1\)", lambda: sch.decompose_padding("Y", sch.get_loops("Y")[0]))


def test_refuses_blocks_that_are_not_complete(refused):
    Sum = program("X:8x4 Y:8", each("Y i:8 k:4R", "Y[vi] = Y[vi] + X[vi, vk]", init="Y[vi] = 0.0"))
    sch = Schedule(Sum)
    i, _ = sch.get_loops("Y")
    refused(
        sch,
        'block "Y" has an init, so it is not a complete block; a padding block has none',
        lambda: sch.decompose_padding("Y", i),
    )
    sch.decompose_reduction("Y", i)
    loop = sch.get_loops("Y_update")[0]
    refused(
        sch, "has the reduce iter vk, so it is not a complete block", lambda: sch.decompose_padding("Y_update", loop)
    )


def test_refuses_loops(refused):
    Shared = program(
        "X:20 Y:20 Z:20",
        nest(
            "i:20",
            sblock("Y", "vi:20=i", "Y[vi] = T.if_then_else(vi < 15, X[vi], T.float32(0))"),
            sblock("Z", "vi:20=i", "Z[vi] = Y[vi]"),
        ),
        each("W j:20", "X[vj] = Y[vj]"),
    )
    sch = Schedule(Shared)
    assert sch.can_decompose_padding("Y", sch.get_loops("Y")[0])
    j = sch.get_loops("W")[0]
    assert not sch.can_decompose_padding("Y", j)
    refused(sch, r'loop j is not around block "Y" \(its loops: i\)', lambda: sch.decompose_padding("Y", j))


# --- loops that hold more ---------------------------------------------------------------------------------------------


def beside(other: str, where: str = "Y") -> object:
    """A padded row next to another block in the loop over rows."""
    blocks = {
        "Y": """
        for j in range(13):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(1 <= vj and vj < 11, X[vi, vj - 1], 7.0)""",
        "Z": f"""
        for j in range(13):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                {other}""",
    }
    first, second = ("Y", "Z") if where == "Y" else ("Z", "Y")
    return parse(f"""
@T.prim_func
def main(X: T.Buffer((5, 10), "float32"), Y: T.Buffer((5, 13), "float32"), Z: T.Buffer((5, 13), "float32")):
    for i in range(5):{blocks[first]}{blocks[second]}
""")


BESIDE = [((5, 10), "float32"), ((5, 13), "float32"), ((5, 13), "float32")]


@pytest.mark.parametrize("other", ["Z[vi, vj] = 1.0", "Z[vi, vj] = Y[vi, 12 - vj] * 2.0"])
def test_the_loop_may_hold_what_does_not_see_the_padding_early(other, same_result):
    program = beside(other)
    sch = Schedule(program)
    assert sch.can_decompose_padding("Y", sch.get_loops("Y")[0])
    sch.decompose_padding("Y", sch.get_loops("Y")[0])
    assert [sch.get(loop).extent for loop in sch.get_loops("Y")] == [5, 10]
    same_result(sch, program, *BESIDE)
    assert sch.verify()


@pytest.mark.parametrize(
    ("other", "where", "match"),
    [
        (
            "Z[vi, vj] = Y[vi, vj]",
            "Z",
            r"at Z\(i=0, j=0\) an element of Y is read that no iteration of loop i has written",
        ),
        ("Z[vi, vj] = Y[4 - vi, vj]", "Y", r"at Z\(i=0, j=0\) an element of Y is read"),
    ],
)
def test_a_block_that_sees_the_padding_early_is_refused(other, where, match, refused):
    sch = Schedule(beside(other, where))
    loop = sch.get_loops("Y")[0]
    refused(sch, match, lambda: sch.decompose_padding("Y", loop))
    assert not sch.can_decompose_padding("Y", loop)


def test_a_loop_around_an_if_is_refused(refused):
    """Without the condition the fill would write rows that nobody wrote."""
    sch = Schedule(
        program(
            "X:5x10 Y:5x13",
            nest(
                "i:5",
                under(
                    "if i < 3:",
                    nest("j:13", sblock("Y", "SS i j", "Y[vi, vj] = T.if_then_else(vj < 10, X[vi, vj], 0.0)")),
                ),
            ),
        )
    )
    refused(sch, 'block "Y" is under an if in loop i', lambda: sch.decompose_padding("Y", sch.get_loops("Y")[0]))
    sch.decompose_padding("Y", sch.get_loops("Y")[1])
    assert sch.verify()
