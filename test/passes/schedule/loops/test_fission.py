"""fission: a loop is distributed over its body, or refused with two conflicting iterations."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.schedule.trace import Trace
from tir_mlir.script.structural_equal import difference


def pair(n: int, m: int = 3, read: str = "vi, vj", write: str = "vi, vj", size: int = 0):
    """Two blocks in one nest, the second of which reads what the first writes."""
    return program(
        f"A:{n}x{m} C:{n}x{m}; B:{size or n + 1}x{m + 1}",
        each(f"Z i:{n + 1} j:{m + 1}", "B[vi, vj] = 0.0"),
        nest(
            f"i:{n} j:{m}",
            sblock("B", f"vi:{n}O=i vj:{m}O=j", f"B[{write}] = A[vi, vj] + 1.0"),
            sblock("C", f"vi:{n}O=i vj:{m}O=j", f"C[vi, vj] = B[{read}] * 2.0"),
        ),
    )


def both_loops(sch: Schedule):
    i, j = sch.get_loops("B")
    sch.fission(j, after="B")
    return sch.fission(i, after="B")


@pytest.mark.parametrize("n", [1, 15, 16, 17])
def test_any_size(n, same_result):
    sch = Schedule(pair(n))
    both_loops(sch)
    assert len(sch.get_child_blocks(sch.get_loops("B")[0])) == 1
    same_result(sch, pair(n), *[((n, 3), "float32")] * 2)
    assert sch.verify()


@pytest.mark.parametrize("read", ["vi, vj", "vi - vi % 2, vj", "vi, 0"])
def test_elements_written_before(read, same_result):
    sch = Schedule(pair(7, read=read))
    both_loops(sch)
    same_result(sch, pair(7, read=read), *[((7, 3), "float32")] * 2)


@pytest.mark.parametrize(
    ("read", "write", "clash"),
    [
        ("vi + 1, vj", "vi, vj", "C.i=0, j=0. and B.i=1, j=0. touch B.1, 0."),  # an old value would be lost
        ("vi, vj", "0, vj", "C.i=0, j=0. and B.i=1, j=0. touch B.0, 0."),  # one row for all iterations
        ("vi, vj", "vi // 2, vj", "C.i=0, j=0. and B.i=1, j=0. touch B.0, 0."),
    ],
)
def test_a_value_that_would_flow_backwards(read, write, clash, refused):
    sch = Schedule(pair(8, read=read, write=write))
    i, j = sch.get_loops("B")
    sch.fission(j, after="B")  # the inner loop keeps every dependence
    refused(sch, f"backwards: {clash}", lambda: sch.fission(i, after="B"))
    assert sch.verify()


def test_an_element_that_every_iteration_uses_is_expanded_by_the_user(refused):
    text = """
@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((9,), "float32")):
    S = T.alloc_buffer((1,))
    for i in range(9):
        with T.block("S"):
            vi = T.axis.opaque(9, i)
            S[0] = A[vi] * 2.0
        with T.block("C"):
            vi = T.axis.opaque(9, i)
            C[vi] = S[0] + 1.0
"""
    sch = Schedule(parse(text))
    refused(sch, "give S a dimension for loop i", lambda: sch.fission(sch.get_loops("S")[0], after="S"))
    wide = Schedule(parse(text.replace("S[0]", "S[vi]").replace("((1,))", "((9,))")))
    wide.fission(wide.get_loops("S")[0], after="S")
    assert wide.verify()


def test_a_later_iteration_of_the_first_part_may_not_overwrite(refused):
    """The second part writes what the first part of the next iteration reads."""
    sch = Schedule(
        program(
            "A:10 C:9",
            nest("i:9", sblock("C", "vi:9O=i", "C[vi] = A[vi]"), sblock("A", "vi:9O=i", "A[vi + 1] = C[vi] * 2.0")),
        )
    )
    refused(sch, "A.i=0. and C.i=1. touch A.1.", lambda: sch.fission(sch.get_loops("C")[0], after="C"))
    refused(sch, "remains around both", lambda: sch.fission(sch.get_loops("C")[0], after="C"))


def test_merge_is_the_inverse():
    sch = Schedule(pair(5))
    before = Schedule(pair(5)).mod.mlir
    both_loops(sch)
    sch.merge(sch.get_loops("B")[1], sch.get_loops("C")[1])
    assert difference(sch.mod.mlir, before, names=False) is None


def test_handles_of_both_sides_stay_valid():
    sch = Schedule(pair(5))
    i, j = sch.get_loops("B")
    b, c = sch.get_block("B"), sch.get_block("C")
    first, second = sch.fission(j, after="B")
    assert first == j and sch.get_loops(b) == [i, j] and sch.get_loops(c) == [i, second]
    sch.vectorize(second)
    assert sch.get(first).kind == "serial" and sch.get(second).kind == "vectorized"


def test_the_trace_replays():
    sch = Schedule(pair(5))
    sch.parallel(both_loops(sch)[1])
    again = Schedule(pair(5))
    Trace.apply_json_to_schedule(sch.trace.as_json(), again)
    assert difference(again.mod.mlir, sch.mod.mlir) is None
    assert "sch.fission(loop=" in str(sch.trace)


def test_can_fission_leaves_the_program():
    sch = Schedule(pair(5, write="0, vj"))
    i, j = sch.get_loops("B")
    before = sch.mod.script()
    assert sch.can_fission(j, "B")
    sch.fission(j, "B")
    answer = sch.can_fission(i, "B")
    assert answer.verdict == "illegal" and answer.counterexample is not None
    sch.undo()
    assert sch.mod.script() == before


def test_a_symbolic_size():
    sch = Schedule(
        program(
            "A:n C:n; B:n",
            nest("i:n", sblock("B", "vi:n=i", "B[vi] = A[vi] * 2.0"), sblock("C", "vi:n=i", "C[vi] = B[vi] + 1.0")),
        )
    )
    sch.fission(sch.get_loops("B")[0], after="B")
    assert sch.verify()


def test_a_private_buffer_of_a_parallel_loop_is_no_longer_private(refused):
    sch = Schedule(
        program(
            "A:9 C:9; S:1",
            nest(
                "i:9:parallel",
                sblock("S", "vi:9O=i", "S[0] = A[vi] * 2.0"),
                sblock("C", "vi:9O=i", "C[vi] = S[0] + 1.0"),
            ),
        )
    )
    refused(sch, "backwards", lambda: sch.fission(sch.get_loops("S")[0], after="S"))


def scatter(at: str, kind: str = "opaque"):
    """Two blocks in one loop: a scatter, and a reader of the element `at`."""
    return program(
        "X:9:int32 A:9 H:9x4 C:9",
        nest("i:9", sblock("H", "vi:9O=i", "H[vi, X[vi]] = A[vi]"), sblock("C", "vi:9O=i", f"C[vi] = H[{at}, 0]")),
    )


def test_a_scatter_in_a_row_of_its_own():
    sch = Schedule(scatter("vi"))
    sch.fission(sch.get_loops("H")[0], after="H")
    assert sch.verify()


def test_a_scatter_in_a_later_row_is_not_provable(refused):
    sch = Schedule(scatter("8 - vi"))
    refused(sch, "computed from data", lambda: sch.fission(sch.get_loops("H")[0], after="H"))
    assert sch.can_fission(sch.get_loops("H")[0], "H").verdict == "not provable"
