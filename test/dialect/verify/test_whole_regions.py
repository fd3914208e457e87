"""Declared regions that are whole buffers: they cover every access inside the buffer, and nothing else is covered."""

import pytest
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.errors import ScriptError
from tir_mlir.script.parser import parse

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
