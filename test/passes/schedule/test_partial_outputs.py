"""Programs that leave out part of an output: a user may write them, and no step makes them leave out more."""

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError, VerifyError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.verify import verify
from tir_mlir.script import tir as T

SHAPE = ((16, 16), "float32")


some = program(
    "A:16x16 C:16x16; B:16x16",
    each("B:16x16", "B[vi, vj] = A[vi, vj] * 2.0"),
    each("C:16x16", "C[vi, vj] = B[vi, vj] + 1.0", where="i * 16 + j < 100"),
)
STEPS = {
    "split": lambda sch: sch.split(sch.get_loops("C")[0], [None, 3]),
    "fuse": lambda sch: sch.fuse(*sch.get_loops("C")),
    "reorder": lambda sch: sch.reorder(*sch.get_loops("C")[::-1]),
    "parallel": lambda sch: sch.parallel(sch.get_loops("C")[0]),
    "blockize": lambda sch: sch.blockize(sch.get_loops("C")[0]),
    "compute_at": lambda sch: sch.compute_at("B", sch.get_loops("C")[0]),
    "compute_inline": lambda sch: sch.compute_inline("B"),
    "cache_read": lambda sch: sch.cache_read("C", 0, "local"),
    "transform_layout": lambda sch: sch.transform_layout("B", ("write", 0), lambda i, j: (j, i)),
}


@pytest.mark.parametrize("step", STEPS)
def test_steps_keep_the_written_elements(step, same_result):
    sch = Schedule(some)
    before = sch.mod
    STEPS[step](sch)
    assert "T.where(" in sch.mod.script()
    same_result(sch, before, SHAPE, SHAPE)


def test_the_rest_is_not_overwritten(refused):
    sch = Schedule(some)
    also = r"does not fill a box: the copy would also take C_local\[6, 4\], which it does not write"
    refused(sch, also, lambda: sch.cache_write("C", 0, "local"))


STEPPED = """
from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer((64, 16), "float32"), C: T.Buffer((64,), "float32")):
    for i, k in T.grid(LOOPS):
        with T.block("C"):
            vi = T.axis.spatial(64, ROW)
            vk = T.axis.reduce(16, COLUMN)
            with T.init():
                C[vi] = 0.0
            C[vi] = C[vi] + A[vi, vk]
"""


def stepped(loops: str, row: str, column: str):
    return parse(STEPPED.replace("LOOPS", loops).replace("ROW", row).replace("COLUMN", column))


@pytest.mark.parametrize(("row", "column"), [("i * 8", "k * 2"), ("i * 8 + 3", "k * 2"), ("i * 8 + 7", "k * 2")])
def test_bindings_in_steps(row, column, same_result, refused):
    sch = Schedule(stepped("8, 8", row, column))
    before = sch.mod
    i, k = sch.get_loops("C")
    sch.split(i, [None, 3])
    sch.split(k, [None, 3])
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    same_result(sch, before, ((64, 16), "float32"), ((64,), "float32"))


def test_steps_of_fused_loops(same_result):
    sch = Schedule(stepped("8, 16", "i * 8 + 1", "k"))
    before = sch.mod
    sch.fuse(*sch.get_loops("C"))
    assert "// 16 * 8 + 1)" in sch.mod.script()
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, ((64, 16), "float32"), ((64,), "float32"))


@pytest.mark.parametrize(
    ("row", "shown"), [("i * 8", "spatial((8, 57), i1 * 8)"), ("59 - i * 8", "spatial((3, 52), 59 - i1 * 8)")]
)
@pytest.mark.parametrize("preserve_unit_iters", [True, False])
def test_segments_of_a_loop_in_steps(row, shown, preserve_unit_iters, same_result):
    """A loop of one iteration tells no step: the domain of each segment is what it reaches."""
    sch = Schedule(stepped("8, 16", row, "k"))
    before = sch.mod
    sch.loop_partition(sch.get_loops("C")[0], [1, None], preserve_unit_iters)
    assert shown in sch.mod.script()
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, ((64, 16), "float32"), ((64,), "float32"))


@pytest.mark.parametrize(
    ("loops", "row", "column", "missing"),
    [
        ("63, 16", "i", "k", "vi = 63"),
        ("7, 16", "i * 8", "k", "vi = 56"),
        ("7, 16", "i * 8 + 5", "k", "vi = 61"),
        ("64, 8", "i", "k * 2 + 1", "vk = 0"),  # the reduction would not start
        ("64, 7", "i", "k * 2", "vk = 14"),
        ("64, 8", "i", "k", "vk = 8"),
        ("32, 16", "i // 2 * 2", "k", "vi = 32"),
    ],
)
def test_loops_that_are_too_short_are_errors_still(loops, row, column, missing):
    with pytest.raises(ScriptError, match=f"do not cover its domain.*no iteration runs .*{missing}"):
        stepped(loops, row, column)


def test_a_step_may_not_leave_out_more():
    whole, part = Schedule(some).mod.mlir, parse(Schedule(some).mod.script().replace("< 100", "< 99")).mlir
    with enter_context():
        verify(whole, old_module=lambda: part)
        verify(part, old_module=lambda: part)
        for before in (lambda: whole, None):
            with pytest.raises(VerifyError, match="do not cover its domain"):
                verify(part, old_module=before)


@T.prim_func
def triangle(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i in range(16):
        for j in range(i):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vj, vi] + 1.0


def test_a_loop_over_another(same_result, refused):
    sch = Schedule(triangle)
    before = sch.mod
    i, j = sch.get_loops("C")
    refused(sch, "bounds of loop j depend on i", lambda: sch.reorder(j, i))
    refused(sch, "extent of loop j depends on", lambda: sch.fuse(i, j))
    sch.parallel(i)
    sch.split(j, [None, 4])
    assert "T.axis.spatial(15, j_0 * 4 + j_1)" in sch.mod.script()
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, SHAPE, SHAPE)


def test_a_loop_over_another_has_the_range_of_all():
    text = Schedule(triangle).mod.script()
    whole = text.replace("T.axis.spatial(15, j)", "T.axis.spatial(16, j)")
    assert "T.axis.spatial(16, j)" in parse(whole).script()
    with pytest.raises(ScriptError, match="no iteration runs vi = 15"):
        parse(whole.replace("for i in range(16)", "for i in range(15)"))
    size = whole.replace("C: T.Buffer((16, 16)", "n: T.int32, C: T.Buffer((16, 16)").replace("range(i)", "range(i + n)")
    with pytest.raises(ScriptError, match=r"the range of loop j uses other loops: write the domain"):
        parse(size.replace("T.axis.spatial(16, j)", 'T.axis.remap("S", [j])'))


lower_rows = program(
    "A:7x127 C:7x127", nest("i:7 j:i+1", sblock("C", "vi:7=i vj:127=j", "C[vi, vj] = A[vi, vj] + 1.0"))
)


def test_a_guard_that_restricts_the_loops(same_result):
    """After the split the loops take 16 of the 127 columns; that no more are meant is what the guard says."""
    sch = Schedule(lower_rows)
    before = sch.mod
    sch.split(sch.get_loops("C")[1], [None, 16])
    assert "T.where(j_0 * 16 + j_1 <= i)" in sch.mod.script()
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, ((7, 127), "float32"), ((7, 127), "float32"))


TWICE = """
from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(GUARD)
            C[vi] = A[vi] * 2.0
"""


@pytest.mark.parametrize(("guard", "left"), [("i < 8", 8), ("i < 5 and i < 5", 5), ("i < 5 and i <= 4 and i < 8", 5)])
def test_of_equal_conditions_one_stays(guard, left, same_result):
    sch = Schedule(parse(TWICE.replace("GUARD", guard)))
    before = sch.mod
    sch.split(sch.get_loops("C")[0], [None, 3])
    assert f"T.where(i_0 * 3 + i_1 < {left})" in sch.mod.script()
    same_result(sch, before, ((8,), "float32"), ((8,), "float32"))


cache = program(
    "K:4x8 X:4x8 S:4",
    nest("i:4 j:i+1", sblock("write", "vi:4=i vj:8=j", "K[vi, vj] = X[vi, vj] + 1.0")),
    each("sum i:4 k:8R", "S[vi] = S[vi] + K[vi, vk]", init="S[vi] = 0.0"),
)


def test_values_of_the_caller_are_read(same_result, refused):
    """Of what a block leaves out of a parameter the caller's numbers count, also for blocks after it."""
    sch = Schedule(cache)
    before = sch.mod
    i, j = sch.get_loops("write")
    refused(sch, r"would not run at all, as sum\(vi=0, vk=1\)", lambda: sch.reverse_compute_at("sum", i))
    refused(sch, r"would not run at all, as sum\(vi=0, vk=1\)", lambda: sch.reverse_compute_at("sum", j))
    also = r'reads K\[.*\], which block "write" has not written'
    refused(sch, also, lambda: sch.cache_read("sum", 0, "local"))
    sch.split(j, [None, 3])
    sch.rfactor(sch.split(sch.get_loops("sum")[1], [2, None])[0], 0)
    same_result(sch, before, ((4, 8), "float32"), ((4, 8), "float32"), ((4,), "float32"))


TWO_TRIANGLES = main(
    "A:1x5 B:1x5 C:1x5",
    nest("i:1 j:i+1", sblock("B", "vi:1=i vj:5=j", "B[vi, vj] = A[vi, vj] + 1.0")),
    nest("i:1 j:i+1", sblock("C", "vi:1=i vj:5=j", "C[vi, vj] = B[vi, vj] + 1.0")),
)


@pytest.mark.parametrize("preserve_unit_loops", [True, False])
def test_the_domain_of_a_moved_block_excludes_skipped_iterations(preserve_unit_loops, same_result):
    sch = Schedule(parse(TWO_TRIANGLES))
    before = sch.mod
    sch.reverse_compute_at("C", sch.get_loops("B")[0], preserve_unit_loops)
    assert sch.mod.script().count("T.axis.spatial(5, ") == (1 if preserve_unit_loops else 2)
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, *[((1, 5), "float32")] * 3)


ONE_ROW = """
from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((4, 8), "float32")):
    for j in range(8):
        with T.block("C"):
            vi = T.axis.spatial(4, ROW)
            vj = T.axis.spatial(8, j)
            C[vi, vj] = A[vj] + 1.0
"""


def test_one_row(same_result):
    """A constant says which one; of a reduction it would be no whole sum."""
    sch = Schedule(parse(ONE_ROW.replace("ROW", "2")))
    before = sch.mod
    sch.split(sch.get_loops("C")[0], [None, 3])
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, ((8,), "float32"), ((4, 8), "float32"))
    with pytest.raises(ScriptError, match="is bound to 4"):
        parse(ONE_ROW.replace("ROW", "4"))
    with pytest.raises(ScriptError, match=r"do not cover its domain.*no iteration runs vi = 0, vk = 0"):
        stepped("64, 16", "i", "3")


def test_segments_of_a_triangle(same_result):
    """Beneath the segments loops of a tile stay, whose guard cuts both segments."""
    sch = Schedule(lower_rows)
    before = sch.mod
    outer, _ = sch.split(sch.get_loops("C")[0], [None, 2])
    sch.loop_partition(outer, [1])
    assert parse(sch.mod.script()).equal(sch.mod)
    same_result(sch, before, ((7, 127), "float32"), ((7, 127), "float32"))
