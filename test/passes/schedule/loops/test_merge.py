"""merge: sibling nests are merged, or refused with two conflicting iterations."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.script.structural_equal import difference


def chain(n: int, m: int = 3, read: str = "vi, vj"):
    return program(
        f"A:{n}x{m} B:{n}x{m} C:{n}x{m}",
        each(f"B i:{n} j:{m}", "B[vi, vj] = A[vi, vj] + T.float32(1)"),
        each(f"C i:{n} j:{m}", f"C[vi, vj] = B[{read}] * T.float32(2)"),
    )


def shapes(n: int, m: int = 3):
    return [((n, m), "float32")] * 3


def inner(sch: Schedule, *blocks: str):
    return [sch.get_loops(b)[-1] for b in blocks]


def outer(sch: Schedule, *blocks: str):
    return [sch.get_loops(b)[0] for b in blocks]


def test_whole_nests():
    Expected = program(
        "A:5x3 B:5x3 C:5x3",
        nest(
            "i:5 j:3",
            sblock("B", "SS i j", "T.reads(A[vi, vj])", "T.writes(B[vi, vj])", "B[vi, vj] = A[vi, vj] + T.float32(1)"),
            sblock("C", "SS i j", "T.reads(B[vi, vj])", "T.writes(C[vi, vj])", "C[vi, vj] = B[vi, vj] * T.float32(2)"),
        ),
    )
    sch = Schedule(chain(5))
    loop = sch.merge(*inner(sch, "B", "C"))
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert sch.get(loop).name == "j_m"


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("which", [outer, inner])
def test_any_size(n, which, same_result):
    sch = Schedule(chain(n))
    sch.merge(*which(sch, "B", "C"))
    same_result(sch, chain(n), *shapes(n))


def test_beneath_a_shared_loop(same_result):
    sch = Schedule(chain(8))
    sch.merge(*outer(sch, "B", "C"))
    sch.merge(*inner(sch, "B", "C"))
    assert len(sch.get_loops("B")) == 2
    same_result(sch, chain(8), *shapes(8))


def test_a_symbolic_size(same_result):
    program = parse(main("A:n B:n C:n", each("B i:n", "B[vi] = A[vi]"), each("C i:n", "C[vi] = B[vi]")))
    sch = Schedule(program)
    sch.merge(*outer(sch, "B", "C"))
    for n in (0, 1, 17):
        same_result(sch, program, *[((n,), "float32")] * 3)


def test_the_order_of_the_arguments_is_that_of_the_bodies(same_result):
    program = parse(main("A:8 B:8 C:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = A[vi]")))
    sch = Schedule(program)
    sch.merge(*outer(sch, "C", "B"))
    assert [sch.get(b).name for b in sch.get_child_blocks(outer(sch, "B")[0])] == ["C", "B"]
    same_result(sch, program, *[((8,), "float32")] * 3)


def test_refuses_to_turn_dependences(refused):
    sch = Schedule(chain(8, 3, "7 - vi, vj"))
    refused(sch, r"would run backwards: B\(i=4, j=0\) and C\(i=3, j=0\) touch B\[4, 0\]",
            lambda: sch.merge(*inner(sch, "B", "C")))  # fmt: skip
    sch = Schedule(chain(8))
    refused(sch, "merged, a dependence would run backwards", lambda: sch.merge(*inner(sch, "C", "B")))


def test_refuses_loops(refused):
    sch = Schedule(chain(8))
    i, j = sch.get_loops("B")
    (k,) = outer(sch, "C")
    refused(sch, "needs at least two loops, not 1", lambda: sch.merge(i), ValueError)
    refused(sch, "a loop is passed twice", lambda: sch.merge(i, k, i))
    refused(sch, "loop j is 2 deep below its common ancestor with loop i", lambda: sch.merge(i, j))
    refused(sch, "loop j is 2 deep .* loop i, which is 1 deep", lambda: sch.merge(k, j))
    sch.annotate(k, "my.key", 1)
    refused(sch, "has annotations", lambda: sch.merge(i, k))
