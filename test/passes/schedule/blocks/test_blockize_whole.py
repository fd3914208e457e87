"""blockize where no outer loop moves an iter: one tile, with holes or of several blocks with unlike iters."""

import pytest
from programs.matmul import matmul
from programs.parsed import parse
from programs.sizes import matmul_sizes

from tir_mlir import Schedule

EVEN = """
@T.prim_func
def main(A: T.Buffer((8, 5), "float32"), B: T.Buffer((8, 5), "float32")):
    for i, j in T.grid(4, 5):
        with T.block("B"):
            vi = T.axis.spatial(8, i * 2)
            vj = T.axis.spatial(5, j)
            B[vi, vj] = A[vi, vj] * 2.0 + B[vi, vj]
"""
EVEN_SHAPES = [((8, 5), "float32")] * 2


@pytest.mark.parametrize("keep", [True, False])
def test_a_tile_with_holes(keep, same_result):
    module = parse(EVEN)
    sch = Schedule(module)
    outer = sch.blockize(sch.get_loops("B")[0], keep)
    assert sch.get(outer).iters == [("vi_o", "S"), ("vj_o", "S")]
    assert "vi_i = T.axis.spatial(8, i * 2)" in sch.mod.script()
    same_result(sch, module, *EVEN_SHAPES)
    assert sch.verify()


def test_refuses_a_hole_in_a_tile_that_moves(refused):
    sch = Schedule(parse(EVEN))
    _i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 2])
    refused(sch, r"do not cover \[0, 3\) of iter vi: the tile has a hole at 1", lambda: sch.blockize(i_1))


def test_refuses_a_sum_whose_terms_leave_holes(refused):
    """Its init runs where vk is 0, which its loops may not reach; in the new block it would always run."""
    text = EVEN.replace("vj = T.axis.spatial(5, j)", "vj = T.axis.reduce(9, j * 2)").replace("vi, vj", "vi, vj // 2")
    text = text.replace(
        "B[vi, vj // 2] = A", "\n            with T.init():\n                B[vi, 0] = 0.0\n            B[vi, 0] = A"
    )
    text = text.replace("+ B[vi, vj // 2]", "+ B[vi, 0]")
    sch = Schedule(parse(text))
    refused(sch, r"do not cover \[0, 9\) of iter vj", lambda: sch.blockize(sch.get_loops("B")[0]))


STAGES = """
@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((10,), "float32")):
    P = T.alloc_buffer((4, 6), "float32")
    for i, j in T.grid(4, 6):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj] * 2.0
    for i in range(4):
        with T.block("C_0"):
            vi = T.axis.spatial(4, i)
            C[vi] = 0.0
    for i, k in T.grid(4, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + P[vi, vk]
    for i in range(10):
        with T.block("D"):
            v = T.axis.spatial(10, i)
            D[v] = A[v // 6, v % 6]
"""
SHAPES = [((4, 6), "float32"), ((4,), "float32"), ((10,), "float32")]


@pytest.mark.parametrize("names", ["P C_0", "C_0 C D", "C D", "P C_0 C D"])
@pytest.mark.parametrize("keep", [True, False])
def test_whole_nests_with_unlike_iters(names, keep, same_result):
    module = parse(STAGES)
    sch = Schedule(module)
    blocks = [sch.get_block(name) for name in names.split()]
    outer = sch.blockize(blocks, keep)
    assert sch.get_loops(outer) == [] and sch.get_child_blocks(outer) == blocks
    same_result(sch, module, *SHAPES)
    assert sch.verify()


def test_rows_of_blocks_with_unlike_iters(same_result):
    """One block a row: the iter of the row is common, the others are within it."""
    module = parse(STAGES)
    sch = Schedule(module)
    row = sch.merge(*[sch.get_loops(name)[0] for name in ("P", "C_0", "C")])
    outer = sch.blockize([sch.get_block(name) for name in ("P", "C_0", "C")])
    assert sch.get_loops(outer) == [row]
    assert "vi_o = T.axis.spatial(4, i_m)" in sch.mod.script()
    same_result(sch, module, *SHAPES)
    assert sch.verify()


def test_a_guard_on_a_point_of_the_tile_stays_outside(same_result):
    """The tile has one row: its guard is a condition on the outer iter, also for the init."""
    module = matmul(7, 5, 6)
    sch = Schedule(module)
    i, _, _ = sch.get_loops("C")
    _, i_1 = sch.split(i, [4, 2])
    unit = sch.add_unit_loop(sch.get_loops("C")[2])
    assert i_1 is not unit
    sch.blockize(unit, preserve_unit_iters=False)
    same_result(sch, module, *matmul_sizes(7, 5, 6))
    assert sch.verify()


def test_a_guard_that_always_holds_is_no_difference(same_result):
    """The guard of D holds for its only iteration; the new block has none."""
    text = STAGES.replace("for i in range(10):", "for i in range(1):").replace(
        "v = T.axis.spatial(10, i)\n", "v = T.axis.spatial(1, i)\n            T.where(i < 1)\n"
    )
    module = parse(text.replace("(10,)", "(1,)"))
    sch = Schedule(module)
    sch.blockize([sch.get_block("C"), sch.get_block("D")])
    same_result(sch, module, *SHAPES[:2], ((1,), "float32"))


@pytest.mark.parametrize("keep", [True, False])
def test_a_guard_on_loops_of_an_iter_of_one_value(keep, same_result):
    """The guard excludes the second iteration, which no inner iter shows: it stays inside."""
    module = parse("""
@T.prim_func
def main(A: T.Buffer((1, 3), "float32"), B: T.Buffer((1,), "float32")):
    for i_0, i_1, k in T.grid(1, 2, 3):
        with T.block("B"):
            vi = T.axis.spatial(1, i_0 * 2 + i_1)
            vk = T.axis.reduce(3, k)
            T.where(i_0 * 2 + i_1 < 1)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] += A[vi, vk]
""")
    sch = Schedule(module)
    sch.blockize(sch.get_loops("B")[0], preserve_unit_iters=keep)
    assert "T.where(i_0 * 2 + i_1 < 1)" in sch.mod.script()
    same_result(sch, module, ((1, 3), "float32"), ((1,), "float32"))


ON_DATA = """
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), P: T.Buffer((8, 4), "int32"), B: T.Buffer((8, 4), "float32")):
    C = T.alloc_buffer((8, 4))
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(P[i, j] > 0)
            B[vi, vj] = A[vi, vj]
"""
COPY = """\
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
"""


def row(sch):
    return sch.blockize(sch.get_loops("B")[1])


def tile(sch):
    i, j = sch.get_loops("B")
    i_0, i_1 = sch.split(i, [None, 2])
    j_0, j_1 = sch.split(j, [None, 2])
    sch.reorder(i_0, j_0, i_1, j_1)
    return sch.blockize(i_1)


def row_of_a_tile(sch):
    """The outer part i_0 * 3 + i_1 is one iter of the new block; the split adds a guard."""
    sch.split(sch.get_loops("B")[0], [None, 3])
    return sch.blockize(sch.get_loops("B")[2])


CONDITIONS = ["P[i, j] > 0", "P[i, j] > i", "P[i, j] > 0 and i < 7", "P[i, j] > 0 and A[7 - i, 3 - j] > 0.0"]


@pytest.mark.parametrize("nest", [row, tile, row_of_a_tile])
@pytest.mark.parametrize("condition", [*CONDITIONS, "P[P[i, j] % 8, j] > 0", "B[i, j] > 0.0"])
def test_a_condition_on_data_moves_into_the_new_block(nest, condition, same_result):
    text = ON_DATA.replace("P[i, j] > 0", condition)
    sch = Schedule(parse(text))
    nest(sch)
    assert sch.verify()
    same_result(sch, parse(text), ((8, 4), "float32"), ((8, 4), "int32"), ((8, 4), "float32"))


def test_refuses_a_condition_on_data_with_other_terms_of_outer_loops(refused):
    sch = Schedule(parse(ON_DATA.replace("P[i, j]", "P[(i * 4 + j) // 4, j]")))
    sch.split(sch.get_loops("B")[0], [None, 2])
    message = "a condition on data holds, which uses loop i_0; no iter of the new block has its value"
    refused(sch, message, lambda: sch.blockize(sch.get_loops("B")[2]))


def test_refuses_a_condition_on_what_other_iterations_write(refused):
    """The iterations of the new block would not be independent."""
    sch = Schedule(parse(ON_DATA.replace("P[i, j] > 0", "B[7 - i, j] > 0.0")))
    refused(sch, "vi_o of block .B_o. is declared spatial, but it is not provable", lambda: row(sch))


def test_refuses_an_init_under_a_condition_on_data(refused):
    text = ON_DATA.replace('"SS"', '"SR"').replace("            B[vi, vj] = A[vi, vj]\n", SUM)
    sch = Schedule(parse(text))
    message = 'block "B" runs only where a condition on data holds, and its init would run without it'
    refused(sch, message, lambda: row(sch))


SUM = """\
            with T.init():
                B[vi, 0] = 0.0
            B[vi, 0] = B[vi, 0] + A[vi, vj]
"""


def test_refuses_a_condition_on_data_among_several_blocks(refused):
    """P[i, j] is loaded outside of the block, with loops that the new block would hide."""
    message = 'block "B" runs only where a condition on data holds'
    sch = Schedule(parse(ON_DATA + COPY))
    refused(sch, message, lambda: sch.blockize([sch.get_block("B"), sch.get_block("C")]))
