"""pad_einsum of a block that shares its output, or its loops, with other blocks."""

from __future__ import annotations

import pytest
from harness.schedules import block_order
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import main, nest, sblock
from programs.sizes import matmul_sizes

from tir_mlir import Schedule

HALVES = main(
    "A:{n} C:{n} D:{n}",
    nest("i:{n}", sblock("C", "vi:{n}=i", "C[vi] = A[vi] * 2.0")),
    nest("i:{n}", sblock("D", "vi:{n}=i", "D[vi] = C[vi] + 1.0")),
    nest("i:{n}", sblock("C2", "vi:{n}=i", "C[vi] = A[vi] * 3.0")),
)


@pytest.mark.parametrize("n", [1, 7, 17])
@pytest.mark.parametrize("block", ["C", "C2"])
def test_an_output_with_several_writers(n, block, same_result):
    module = parse(HALVES.format(n=n))
    sch = Schedule(module)
    sch.pad_einsum(block, [4])
    assert (
        block_order(sch) == ["A_pad", "C", "C_pad", "D", "C2"] if block == "C" else ["C", "D", "A_pad", "C2", "C_pad"]
    )
    same_result(sch, module, *[((n,), "float32")] * 3)
    assert sch.verify()


def test_a_padding_that_changes_nothing_asks_nothing():
    sch = Schedule(parse(HALVES.format(n=8).replace("C[vi] = A[vi] * 2.0", "C[vi] = C[vi] + A[vi // 2]")))
    before = sch.mod.script()
    sch.pad_einsum("C", [4])
    assert sch.mod.script() == before


SUMS = main(
    "A:5x{m} B:5x{m} C:5; P:5x{m}",
    nest(
        "i:5",
        nest("j:{m}", sblock("P", "SS i j", "P[vi, vj] = A[vi, vj] * 2.0")),
        nest("k:{m}", sblock("C", "SR i k", "C[vi] = C[vi] + P[vi, vk] * A[vi, vk]", init="C[vi] = 0.0")),
        nest("j:{m}", sblock("B", "SS i j", "B[vi, vj] = C[vi] + P[vi, vj]")),
    ),
)


def sums(m: int):
    return parse(SUMS.format(m=m)), [((5, m), "float32"), ((5, m), "float32"), ((5,), "float32")]


@pytest.mark.parametrize("m", [1, 7, 16, 17])
def test_a_sum_in_a_loop_that_others_share(m, same_result):
    module, shapes = sums(m)
    sch = Schedule(module)
    sch.pad_einsum("C", [1, 4])
    same_result(sch, module, *shapes)
    assert sch.verify()
    if m % 4:
        assert block_order(sch) == ["P", "P_pad", "A_pad", "C", "B"]
        assert sch.get_loops("P_pad")[0] == sch.get_loops("C")[0]
        assert sch.get(sch.get_loops("C")[1]).extent == (m + 3) // 4 * 4


@pytest.mark.parametrize("block", ["P", "B"])
def test_a_row_in_a_loop_that_others_share(block, same_result):
    module, shapes = sums(7)
    sch = Schedule(module)
    sch.pad_einsum(block, [1, 4])
    order = block_order(sch)
    assert order[order.index(block) + 1] == f"{block}_pad"
    same_result(sch, module, *shapes)
    assert sch.verify()


@pytest.mark.parametrize("padding", [[4, 1], [4, 4]])
def test_grows_a_loop_that_others_share(padding, same_result):
    """The others, and the copy of the result, are guarded."""
    module, shapes = sums(7)
    sch = Schedule(module)
    sch.pad_einsum("C", padding)
    assert sch.get(sch.get_loops("C")[0]).extent == 8
    assert sch.mod.script().count("T.where(i < 5)") == 3
    same_result(sch, module, *shapes)
    assert sch.verify()


def test_grows_a_shared_loop_of_tiles(same_result):
    """Loop i_0 has 2 tiles of 4 rows; the third holds the padding."""
    text = main(
        "A:8x3 C:8x3 D:8x3",
        nest(
            "i_0:2",
            nest("i_1:4 j:3", sblock("C", "vi:8=i_0*4+i_1 vj:3=j", "C[vi, vj] = A[vi, vj] * 2.0")),
            nest("i_1:4 j:3", sblock("D", "vi:8=i_0*4+i_1 vj:3=j", "D[vi, vj] = C[vi, vj] + 1.0")),
        ),
    )
    sch = Schedule(parse(text))
    sch.pad_einsum("C", [12, 1])
    assert sch.get(sch.get_loops("C")[0]).extent == 3
    same_result(sch, parse(text), *[((8, 3), "float32")] * 3)
    assert sch.verify()


def test_a_padded_sum_over_a_shared_loop(same_result):
    """D sees the same partial sums, and runs no more often."""
    module = parse(PARTIAL.format(value="C[vi] * 2.0", more="").replace("(4,", "(5,").replace("range(4)", "range(5)"))
    sch = Schedule(module)
    sch.pad_einsum("C", [1, 4])
    assert sch.get(sch.get_loops("C")[0]).extent == 8
    same_result(sch, module, ((5, 7), "float32"), ((7,), "float32"), ((5, 7), "float32"))
    assert sch.verify()


@pytest.mark.parametrize("other", ["D[i] = 1.0", "with T.block('D'):\n    T.where(A[i] > 0.0)\n    D[i] = 1.0"])
def test_refuses_to_grow_a_loop_with_what_a_guard_cannot_protect(other, refused):
    """A store, and the load of a condition, would run in the new iterations."""
    sch = Schedule(parse(main("A:7 C:7 D:7", nest("i:7", other, sblock("C", "vi:7=i", "C[vi] = A[vi]")))))
    message = 'adds iterations to loop i, which block "C" shares with a statement outside any block'
    refused(sch, message, lambda: sch.pad_einsum("C", [4]))


PARTIAL = """
@T.prim_func
def main(A: T.Buffer((4, 7), "float32"), C: T.Buffer((7,), "float32"), D: T.Buffer((4, 7), "float32")):
    for k in range(4):
        for i in range(7):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                C[vi] = C[vi] + A[vk, vi]
        for i in range(7):
            with T.block("D"):
                vk, vi = T.axis.remap("SS", [k, i])
                D[vk, vi] = {value}
{more}"""


def test_a_sum_over_the_shared_loop(same_result):
    """D sees the same partial sums."""
    module = parse(PARTIAL.format(value="C[vi] * 2.0", more=""))
    sch = Schedule(module)
    sch.pad_einsum("C", [4, 1])
    assert block_order(sch) == ["A_pad", "C", "C_pad", "D"]
    same_result(sch, module, ((4, 7), "float32"), ((7,), "float32"), ((4, 7), "float32"))


def test_refuses_a_sum_that_another_block_changes_between_its_terms(refused):
    more = """
        for i in range(7):
            with T.block("E"):
                vi = T.axis.opaque(7, i)
                C[vi] = C[vi] * 0.5
"""
    sch = Schedule(parse(PARTIAL.format(value="1.0", more=more)))
    message = "C is also written here, in a loop shared with block .C., which reads what it has written"
    refused(sch, message, lambda: sch.pad_einsum("C", [4, 1]))


def test_refuses_a_sum_that_goes_on_with_what_another_block_wrote(refused):
    """Without its init, the update reads C, which the copy would not hold."""
    sch = Schedule(sums(7)[0])
    sch.decompose_reduction("C", sch.get_loops("C")[1])
    refused(sch, "reads C, which it also writes|has the reduce iter", lambda: sch.pad_einsum("C_update", [1, 4]))


def test_the_init_of_a_decomposed_sum(same_result):
    """It has its output in common with the update, and the loop i."""
    module = matmul(5, 7, 6)
    sch = Schedule(module)
    sch.decompose_reduction("C", sch.get_loops("C")[1])
    sch.pad_einsum("C_init", [1, 4])
    assert block_order(sch) == ["C_init", "C_pad", "C_update"]
    same_result(sch, module, *matmul_sizes(5, 7, 6))
    assert sch.verify()


def test_refuses_terms_at_a_computed_index(refused):
    """A[vi // 2] is not 0 beyond the old end of k."""
    text = main("A:4 B:8 C:8", nest("i:8 k:7", sblock("C", "SR i k", "C[vi] = C[vi] + A[vi // 2]", init="C[vi] = 0.0")))
    sch = Schedule(parse(text))
    refused(sch, "the added terms are not known to be 0", lambda: sch.pad_einsum("C", [1, 2]))
