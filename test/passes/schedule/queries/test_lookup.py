"""get_block, get_loops, get_child_blocks, get_producers, get_consumers, get_output_blocks: the primitives that look."""

from __future__ import annotations

import pytest
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

Diamond = program(
    "A:8x6 C:8x6 E:8; B:8x6 D:8x6",
    each("B:8x6", "B[vi, vj] = A[vi, vj] + 1.0"),
    nest(
        "i:8",
        nest("j:6", sblock("C", "SS i j", "C[vi, vj] = B[vi, vj] * 2.0")),
        nest("j:6", sblock("D", "SS i j", "D[vi, vj] = B[vi, vj] - 1.0")),
    ),
    each("E i:8 k:6R", "E[vi] += C[vi, vk] * D[vi, vk]", init="E[vi] = 0.0"),
)
"""B feeds C and D, which feed E; C is an output too."""


@I.ir_module
class Two:
    @T.prim_func
    def first(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]

    @T.prim_func
    def second(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for j in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, j)
                B[vi] = A[vi] + 1.0


def names(sch: Schedule, handles) -> list[str]:
    return [sch.get(h).name for h in handles]


def test_blocks_and_loops():
    sch = Schedule(Diamond)
    assert names(sch, sch.get_loops("E")) == ["i", "k"]
    assert sch.get_block("E") == sch.get_block("E")
    assert sch.get_loops(sch.get_block("root")) == []
    assert [(lp.name, lp.extent, lp.kind) for lp in map(sch.get, sch.get_loops("B"))] == [
        ("i", 8, "serial"), ("j", 6, "serial"),
    ]  # fmt: skip


def test_what_a_block_is():
    sch = Schedule(Diamond)
    info = sch.get(sch.get_block("E"))
    assert (info.iters, info.reads, info.writes) == ([("vi", "S"), ("vk", "R")], ["C", "D"], ["E"])


def test_children():
    sch = Schedule(Diamond)
    assert names(sch, sch.get_child_blocks("root")) == list("BCDE")
    i = sch.get_loops("C")[0]
    assert names(sch, sch.get_child_blocks(i)) == ["C", "D"]
    assert sch.get_child_blocks("E") == []
    outer = sch.blockize(sch.get_loops("E")[1])
    assert names(sch, sch.get_child_blocks(outer)) == ["E"]
    assert names(sch, sch.get_child_blocks("root")) == ["B", "C", "D", "E_o"]


def test_loops_stop_at_the_block_around():
    sch = Schedule(Diamond)
    _i, j = sch.get_loops("B")
    outer = sch.blockize(j)
    assert names(sch, sch.get_loops(outer)) == ["i"]
    assert names(sch, sch.get_loops("B")) == ["j"]


def test_loops_of_a_guarded_block():
    sch = Schedule(Diamond)
    sch.split(sch.get_loops("B")[0], [None, 5])
    assert names(sch, sch.get_loops("B")) == ["i_0", "i_1", "j"]


def test_producers_and_consumers():
    sch = Schedule(Diamond)
    producers = {b: names(sch, sch.get_producers(b)) for b in "BCDE"}
    consumers = {b: names(sch, sch.get_consumers(b)) for b in "BCDE"}
    assert producers == {"B": [], "C": ["B"], "D": ["B"], "E": ["C", "D"]}
    assert consumers == {"B": ["C", "D"], "C": ["E"], "D": ["E"], "E": []}


def test_a_decomposed_reduction_is_producer_and_consumer():
    sch = Schedule(Diamond)
    init = sch.decompose_reduction("E", sch.get_loops("E")[1])
    assert names(sch, sch.get_consumers(init)) == ["E_update"]
    assert names(sch, sch.get_producers("E_update")) == ["C", "D", "E_init"]


def test_output_blocks():
    sch = Schedule(Diamond)
    assert names(sch, sch.get_output_blocks("root")) == ["C", "E"]
    sch.blockize(sch.get_loops("B")[1])
    assert "E" in names(sch, sch.get_output_blocks("root"))


def test_looking_changes_nothing():
    sch = Schedule(Diamond)
    before = sch.mod.text()
    sch.get_producers("E")
    sch.get_output_blocks("root")
    assert sch.mod.text() == before


def test_what_is_not_there(refused):
    sch = Schedule(Diamond)
    refused(
        sch,
        r'Cannot find a block with the name "Z" in main \(its blocks: "B", "C", "D", "E"\)',
        lambda: sch.get_block("Z"),
    )
    sch.blockize(sch.get_loops("E")[1])
    refused(sch, 'name "E_O" in main; did you mean "E_o"', lambda: sch.get_block("E_O"))
    refused(sch, "is not in a scope, so it has no producers", lambda: sch.get_producers("root"))
    refused(sch, "is not in a scope, so it has no consumers", lambda: sch.get_consumers("root"))


def test_blocks_of_an_init_are_not_found(refused):
    sch = Schedule(Diamond)
    i, _k = sch.get_loops("E")
    _i_0, i_1 = sch.split(i, [4, 2])
    sch.blockize(i_1)
    assert "E_init" in sch.mod.script()
    refused(sch, '"E_init" is in an init region', lambda: sch.get_block("E_init"))


def test_a_name_that_two_blocks_have(refused):
    Twins = program("A:4 B:4 C:4", each("X:4", "B[vi] = A[vi]"), each("X:4", "C[vi] = A[vi]"))
    sch = Schedule(Twins)
    refused(sch, '2 blocks of main are called "X"', lambda: sch.get_block("X"))
    assert names(sch, sch.get_child_blocks("root")) == ["X", "X"]


def test_modules_of_several_functions(refused):
    sch = Schedule(Two)
    refused(sch, "several functions", lambda: sch.get_block("B"), ValueError)
    assert names(sch, sch.get_loops(sch.get_block("B", "second"))) == ["j"]
    sch.work_on("first")
    assert sch.func_working_on == "first" and names(sch, sch.get_loops("B")) == ["i"]
    refused(sch, "no function third; it has first, second", lambda: sch.get_block("B", "third"), ValueError)
    with pytest.raises(ValueError, match="no function third"):
        sch.work_on("third")


def test_both_spellings():
    sch = Schedule(Diamond)
    assert sch.get_sblock("E") == sch.get_block("E")


def test_wrong_arguments(refused):
    sch = Schedule(Diamond)
    i = sch.get_loops("E")[0]
    refused(sch, "wrong type", lambda: sch.get_loops(i), TypeError)
    refused(sch, "wrong type", lambda: sch.get_child_blocks(7), TypeError)
    refused(sch, "wrong type", lambda: sch.get_loops(None), TypeError)
    refused(sch, '"name" has wrong type. Expected "str"', lambda: sch.get_block(3), TypeError)
    refused(sch, "another schedule", lambda: Schedule(Diamond).get_loops(sch.get_block("E")), IndexError)
    sch.remove_rv(i)
    refused(sch, "removed with remove_rv", lambda: sch.parallel(i), IndexError)
