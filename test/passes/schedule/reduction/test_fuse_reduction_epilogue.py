"""fuse_reduction_epilogue: an epilogue is merged into its reduction if equivalent, else refused."""

from __future__ import annotations

import pytest
from harness.schedules import reads_back
from programs.parsed import parse
from programs.short import each, nest, program, sblock, under

from tir_mlir import Schedule
from tir_mlir.script.structural_equal import difference


def followed(epilogue: str, update: str = "C[vi] + A[vi, vk]", start: str = "0.0", dtype: str = "float32"):
    """A reduction of 6 rows of 5 into C, and D computed from C, B (6) and E (6)."""
    return program(
        f"A:6x5:{dtype} B:6:{dtype} E:6:{dtype} D:6:{dtype}; C:6:{dtype}",
        each("C i:6 k:5R", f"C[vi] = {update}", init=f"C[vi] = {start}"),
        each("D:6", f"D[vi] = {epilogue}"),
    )


def sizes(dtype: str = "float32"):
    return ((6, 5), dtype), ((6,), dtype), ((6,), dtype), ((6,), dtype)


# --- what it makes ----------------------------------------------------------------------------------------------------


Biased = program(
    "A:8x16 B:12x16 bias:12 D:8x12; C:8x12",
    each("C i:8 j:12 k:16R", "C[vi, vj] += A[vi, vk] * B[vj, vk]", init="C[vi, vj] = 0.0"),
    each("D:8x12", "D[vi, vj] = C[vi, vj] + bias[vj]"),
)


def test_a_bias():
    Expected = program(
        "A:8x16 B:12x16 bias:12 D:8x12;",
        each(
            "C i:8 j:12 k:16R",
            "T.reads(bias[vj], A[vi, vk], B[vj, vk])",
            "T.writes(D[vi, vj])",
            "D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vj, vk]",
            init="D[vi, vj] = bias[vj]",
        ),
    )
    sch = Schedule(Biased)
    block = sch.get_block("C")
    assert sch.fuse_reduction_epilogue(block, "D") is None
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert sch.get(block).name == "C"


def test_a_clipped_maximum():
    Expected = program(
        "A:6x5 B:6 E:6 D:6", each("C i:6 k:5R", "D[vi] = T.max(T.max(D[vi], A[vi, vk]), B[vi])", init="D[vi] = B[vi]")
    )
    sch = Schedule(followed("T.max(C[vi], B[vi])", "T.max(C[vi], A[vi, vk])", "T.min_value('float32')"))
    sch.fuse_reduction_epilogue("C", "D")
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None


SUMS = ["C[vi]", "C[vi] + B[vi]", "B[vi] + C[vi]", "C[vi] - B[vi]", "E[vi] + (C[vi] + B[vi])", "C[vi] - E[vi] * B[vi]",
        "C[vi] + B[5 - vi] + E[vi]"]  # fmt: skip
CLIPS = ["C[vi]", "T.max(C[vi], B[vi])", "T.min(B[vi], C[vi])", "T.min(T.max(C[vi], B[vi]), E[vi])",
         "T.max(T.min(T.max(C[vi], B[vi]), E[vi]), B[5 - vi])"]  # fmt: skip


@pytest.mark.few(12)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("epilogue", SUMS)
def test_what_is_added_to_a_sum(epilogue, start, dtype, same_result):
    program = followed(epilogue, start=f'T.Cast("{dtype}", {start})', dtype=dtype)
    sch = Schedule(program)
    sch.fuse_reduction_epilogue("C", "D")
    assert "alloc_buffer" not in sch.mod.script()
    same_result(sch, program, *sizes(dtype))


@pytest.mark.few(12)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("best", ["max", "min"])
@pytest.mark.parametrize("start", [None, 1])
@pytest.mark.parametrize("epilogue", CLIPS)
def test_clips_of_a_maximum(epilogue, best, start, dtype, same_result):
    least = f'T.{"min" if best == "max" else "max"}_value("{dtype}")'
    first = least if start is None else f'T.Cast("{dtype}", {start})'
    program = followed(epilogue, f"T.{best}(C[vi], A[vi, vk])", first, dtype)
    sch = Schedule(program)
    sch.fuse_reduction_epilogue("C", "D")
    same_result(sch, program, *sizes(dtype))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (17, 127)])
def test_scheduled_before_and_after(n, m, same_result):
    Turned = program(
        f"A:{n}x{m} B:{n} D:1x{n}; C:{n}",
        each(f"C i:{n} k:{m}R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"),
        each(f"D i:{n}", f"D[0, {n} - 1 - vi] = C[{n} - 1 - vi] + B[vi]"),
    )
    sch = Schedule(Turned)
    i, k = sch.get_loops("C")
    i_0, _i_1 = sch.split(i, [None, 4])
    sch.split(k, [None, 16])
    sch.fuse_reduction_epilogue("C", "D")
    sch.decompose_reduction("C", sch.get_loops("C")[1])
    sch.parallel(i_0)
    same_result(sch, Turned, ((n, m), "float32"), ((n,), "float32"), ((1, n), "float32"))


@pytest.mark.parametrize("n", [0, 1, 17])
def test_a_symbolic_size_in_a_shared_loop(n, same_result):
    Symbolic = program(
        "A:nx8 B:n D:n; C:n",
        nest(
            "i:n",
            nest("k:8", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0")),
            sblock("D", "vi:n=i", "D[vi] = C[vi] + B[vi]"),
        ),
    )
    sch = Schedule(Symbolic)
    sch.fuse_reduction_epilogue("C", "D")
    same_result(sch, Symbolic, ((n, 8), "float32"), ((n,), "float32"), ((n,), "float32"))


# --- what it refuses --------------------------------------------------------------------------------------------------

LEAST = 'T.min_value("float32")'
WRONG = [
    ("T.max(C[vi], T.float32(0))", "C[vi] + A[vi, vk]", "0.0", r"T\.max\(-3 \+ 5, 0\) is 2, but clipping at each step"),
    ("T.max(C[vi] + B[vi], T.float32(0))", "C[vi] + A[vi, vk]", "0.0", "does maximumf to an unfinished sum"),
    ("C[vi] * B[vi]", "C[vi] + A[vi, vk]", "0.0", r"\(1 \+ 2\) \* 3 is 9, but scaling at each step"),
    ("B[vi] - C[vi]", "C[vi] + A[vi, vk]", "0.0", "does subf to an unfinished sum"),
    ("T.exp(C[vi])", "C[vi] + A[vi, vk]", "0.0", "does exp to an unfinished sum.* does not commute"),
    ("C[vi] + B[vi]", "T.max(C[vi], A[vi, vk])", LEAST, r"max\(1, 2\) \+ 10 is 12, but adding at each step gives 22"),
    ("T.max(C[vi], B[vi])", "C[vi] * A[vi, vk]", "1.0", "a product allows no epilogue"),
    ("C[vi] + C[vi]", "C[vi] + A[vi, vk]", "0.0", 'block "D" reads 2 times C'),
    ("B[vi]", "C[vi] + A[vi, vk]", "0.0", 'block "D" does not read C'),
    (
        "T.if_then_else(vi < 3, C[vi], B[vi])",
        "C[vi] + A[vi, vk]",
        "0.0",
        r"also computes C\[3\], which block .D. does not read",
    ),
    ("C[vi] + B[vi]", "A[vi, vk] - C[vi]", "0.0", "is not a known reduction"),
    ("C[vi // 2 * 2] + B[vi]", "C[vi] + A[vi, vk]", "0.0", 'two iterations of block "D" access the same element'),
]


@pytest.mark.parametrize(("epilogue", "update", "start", "match"), WRONG)
def test_refuses_what_is_not_the_same(epilogue, update, start, match, refused):
    sch = Schedule(followed(epilogue, update, start))
    refused(sch, match, lambda: sch.fuse_reduction_epilogue("C", "D"))


SUM = each("C i:8 k:4R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0")
ADDED = "B[vi] = C[vi] + 1.0"
REFUSED = {
    "a reduction itself": (
        [SUM, each("D i:8 k:4R", "B[vi] += C[vi]", init="B[vi] = 0.0")],
        'block "D" is a reduction itself; an epilogue has no init',
    ),
    "a guard": (
        [SUM, nest("i:9", sblock("D", "vi:8=i", ADDED, where="i < 8"))],
        r'block "D" has a guard \(T.where\), which the merged block would lose',
    ),
    "several buffers": (
        [
            each("C i:8 k:4R", "C[vi] += A[vi, vk]", "E[vi] += A[vi, vk]", init="C[vi] = 0.0; E[vi] = 0.0"),
            each("D:8", ADDED),
        ],
        'block "C" reduces into several buffers; only a single one can have an epilogue',
    ),
    "another reader": (
        [SUM, each("D:8", ADDED), each("X:8", "X[vi] = C[vi]")],
        'C is also used outside block "D", so it must remain',
    ),
    "a condition": (
        [SUM, under("if X[0] > T.float32(0):", each("D:8", ADDED))],
        'block "D" runs only where a condition on data holds',
    ),
    "a gather": (
        [SUM, each("D:8", "B[vi] = C[Y[vi]] + 1.0")],
        'block "D" uses C by memref.load; an epilogue loads it at an affine index',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_other_programs(case, refused):
    body, match = REFUSED[case]
    sch = Schedule(program("A:8x4 B:8 X:8 Y:8:int32; C:8 E:8", *body))
    refused(sch, match, lambda: sch.fuse_reduction_epilogue("C", "D"))


def test_refuses_an_output(refused):
    sch = Schedule(Biased)
    sch.cache_write("D", 0, "global")
    refused(sch, "has no init", lambda: sch.fuse_reduction_epilogue("D", "D_global"))
    program = followed("C[vi] + B[vi]").script().replace("        C = T.alloc_buffer((6,))\n", "")
    program = program.replace('E: T.Buffer((6,), "float32")', 'C: T.Buffer((6,), "float32")')
    sch = Schedule(parse(program))
    refused(sch, "C is not allocated in the scope", lambda: sch.fuse_reduction_epilogue("C", "D"))


def test_refuses_the_wrong_order(refused):
    sch = Schedule(Biased)
    refused(sch, 'block "D" has no init', lambda: sch.fuse_reduction_epilogue("D", "C"))
    refused(sch, "cannot be its own epilogue", lambda: sch.fuse_reduction_epilogue("C", "C"))
    refused(sch, "this is the root block", lambda: sch.fuse_reduction_epilogue("C", "root"))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    refused(sch, 'block "C_update" has no init', lambda: sch.fuse_reduction_epilogue("C_update", "D"))


def test_refuses_a_result_that_is_used_between(refused):
    Used = program(
        "A:6x5 B:6 D:6 F:6; C:6",
        each("C i:6 k:5R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"),
        each("F:6", "F[vi] = D[vi]"),
        each("B:6", "B[vi] = 1.0"),
        each("D:6", "D[vi] = C[vi] + B[vi]"),
    )
    sch = Schedule(Used)
    refused(sch, 'B, which block "D" reads, is written between', lambda: sch.fuse_reduction_epilogue("C", "D"))
    text = Used.script().replace("C[vi] + B[vi]", "C[vi] + T.float32(1)")
    sch = Schedule(parse(text))
    refused(sch, "it would contain unfinished results there", lambda: sch.fuse_reduction_epilogue("C", "D"))


def running(use: str = "C[vi] + B[vi]", update: str = "C[vi] + A[vi, vk]", init: str = "0.0", more: str = ""):
    """The epilogue runs after each term of the sum; its last run has the result."""
    return program(
        "A:6x5 B:6 D:6 E:6 ; C:6",
        nest(
            "i:6 k:5",
            sblock("C", "SR i k", f"C[vi] = {update}", init=f"C[vi] = {init}"),
            sblock("D", "vi:6=i", f"D[vi] = {use}"),
            f"{more}",
        ),
        each("E:6", "E[vi] = D[5 - vi] * 2.0"),
    )


@pytest.mark.parametrize(
    ("use", "update", "init"),
    [
        ("C[vi] + B[vi]", "C[vi] + A[vi, vk]", "0.0"),
        ("C[vi]", "C[vi] + A[vi, vk]", "0.0"),
        ("T.max(C[vi], B[vi])", "T.max(C[vi], A[vi, vk])", "0.0"),
    ],
)
def test_an_epilogue_after_each_term(use, update, init, same_result):
    program = running(use, update, init)
    sch = Schedule(program)
    sch.fuse_reduction_epilogue("C", "D")
    same_result(sch, program, ((6, 5), "float32"), *[((6,), "float32")] * 3)
    assert sch.verify()


READER = """with T.block("R"):
            vi = T.axis.opaque(6, i)
            E[vi] = D[vi]"""
WRITER = """with T.block("W"):
            vi = T.axis.opaque(6, i)
            B[vi] = A[vi, 0]"""


def test_a_reader_of_each_part(same_result):
    program = running(more=READER)
    sch = Schedule(program)
    sch.fuse_reduction_epilogue("C", "D")
    same_result(sch, program, ((6, 5), "float32"), *[((6,), "float32")] * 3)
    assert sch.verify()


def test_refuses_an_epilogue_whose_input_changes_between_its_runs(refused):
    sch = Schedule(running(more=WRITER))
    message = 'block "D" runs in loop k, in the middle of the reduction over vk, and B is written there'
    refused(sch, message, lambda: sch.fuse_reduction_epilogue("C", "D"))


def guarded(more: str = ""):
    """The last iterations of k run the epilogue, but no part of the sum."""
    text = running(more=more).script().replace("T.grid(6, 5)", "T.grid(6, 8)")
    return parse(
        text.replace(
            'vi, vk = T.axis.remap("SR", [i, k])',
            """vi = T.axis.spatial(6, i)
                vk = T.axis.reduce(5, k)
                T.where(k < 5)""",
        )
    )


def test_an_epilogue_in_iterations_that_a_guard_excludes(same_result):
    sch = Schedule(guarded())
    sch.fuse_reduction_epilogue("C", "D")
    same_result(sch, guarded(), ((6, 5), "float32"), *[((6,), "float32")] * 3)
    assert sch.verify()


def test_refuses_a_reader_in_iterations_that_a_guard_excludes(refused):
    sch = Schedule(guarded(READER))
    message = r"and D is used, before C\[0\] is computed, there"
    refused(sch, message, lambda: sch.fuse_reduction_epilogue("C", "D"))


def test_refuses_an_element_for_each_term(refused):
    Running = program(
        "A:6x5 D:6x5; C:6",
        nest(
            "i:6 k:5",
            sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"),
            sblock("D", "SS i k", "D[vi, vk] = C[vi] + A[vi, vk]"),
        ),
    )
    sch = Schedule(Running)
    refused(sch, 'two iterations of block "D" access', lambda: sch.fuse_reduction_epilogue("C", "D"))


def test_constants_that_meet_are_computed():
    sch = Schedule(
        program(
            "A:3x4 D:3; C:3",
            each("C i:3 k:4R", "C[vi] = T.max(C[vi], A[vi, vk])", init="C[vi] = -1.0"),
            each("D:3", "D[vi] = T.max(C[vi], 0.0)"),
        )
    )
    sch.fuse_reduction_epilogue("C", "D")
    assert "D[vi] = T.float32(0.0)\n" in reads_back(sch)
