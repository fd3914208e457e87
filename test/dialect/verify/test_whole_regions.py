"""Declared regions of whole buffers cover every access inside; T.reads may leave out what the block wrote before."""

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.errors import ScriptError

PROGRAM = main(
    "A:nx16 C:nx16", each("C i:n j:16", "T.reads({reads})", "T.writes({writes})", "C[vi, vj] = A[{index}] * 2.0")
)
SMALLER = "T.reads of A is smaller than the region that the block accesses"
WHOLE = {"reads": "A[0:n, 0:16]", "writes": "C[0:n, 0:16]", "index": "vi, vj"}


def program(**given):
    return PROGRAM.format(**WHOLE | given)


def test_whole_buffers_cover_any_access():
    sch = Schedule(parse(program(index="n - 1 - vi, 15 - vj")))
    sch.split(sch.get_loops("C")[0], [None, 4])
    assert sch.verify() and "T.reads(A[0:n, 0:16])" in sch.mod.script()


@pytest.mark.parametrize(("given", "message"), [
    ({"reads": "A[0:n, 0:15]"}, SMALLER + r": it leaves out A\[.*, 15\]"),
    ({"reads": "A[1:n, 0:16]"}, SMALLER + r": it leaves out A\[0, "),
    ({"writes": "C[0:n - 1, 0:16]"}, "T.writes of C is smaller than the region that the block accesses"),
    ({"reads": "C[0:n, 0:16]"}, "T.reads leaves out A, which the block accesses"),
    ({"writes": "A[0:n, 0:16]"}, "T.writes leaves out C, which the block accesses"),
])  # fmt: skip
def test_less_than_the_whole_is_refused(given, message):
    with pytest.raises(ScriptError, match=message):
        parse(program(**given))


def test_an_access_outside_the_buffer_is_refused():
    with pytest.raises(
        ScriptError, match="A is read at index 1 in dimension 0, which has a symbolic size, at n = 1, i = 0, j = 0"
    ):
        parse(program(index="vi + 1, vj"))


ROWS = main("A:16x16 C:16x16", each("O:16", "T.reads(A[vi, 0:16])", "T.writes(C[vi, 0:16])", "{body}"))
INIT_INSIDE = """
            for j, k in T.grid(16, 16):
                with T.block("C"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    {guard}
                    with T.init():
                        C[vi, vj] = 0.0
                    C[vi, vj] += A[vi, vk]
"""
FILLED_BEFORE = """
            for j in range({filled}):
                C[vi, j] = 0.0
            for j, k in T.grid(16, 16):
                with T.block("C"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    C[vi, vj] = C[vi, vj] + A[vi, vk]
"""


@pytest.mark.parametrize("body", [INIT_INSIDE.format(guard=""), FILLED_BEFORE.format(filled=16)])
def test_an_accumulator_that_the_block_starts_is_no_read(body):
    sch = Schedule(parse(ROWS.format(body=body)))
    assert "T.reads(A[vi, 0:16])\n                T.writes(C[vi, 0:16])" in sch.mod.script()
    assert Schedule(parse(sch.mod.script())).mod.script() == sch.mod.script()
    sch.split(sch.get_loops("O")[0], [None, 3])
    assert sch.verify()


@pytest.mark.parametrize("body", [FILLED_BEFORE.format(filled=15), INIT_INSIDE.format(guard="T.where(k > 0)")])
def test_an_element_that_the_block_has_not_written_is_a_read(body):
    with pytest.raises(ScriptError, match=r"T.reads leaves out C"):
        parse(ROWS.format(body=body))


def test_a_step_that_moves_the_start_out_needs_the_read():
    sch = Schedule(parse(ROWS.format(body=INIT_INSIDE.format(guard=""))))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    assert sch.verify()
