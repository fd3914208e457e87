"""merge: sibling nests are merged, or refused with two conflicting iterations."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import parse
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference


def chain(n: int, m: int = 3, read: str = "vi, vj"):
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "float32"), B: T.Buffer(({n}, {m}), "float32"), C: T.Buffer(({n}, {m}), "float32")):
    for i, j in T.grid({n}, {m}):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid({n}, {m}):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[{read}] * T.float32(2)
""")


def shapes(n: int, m: int = 3):
    return [((n, m), "float32")] * 3


def inner(sch: Schedule, *blocks: str):
    return [sch.get_loops(b)[-1] for b in blocks]


def outer(sch: Schedule, *blocks: str):
    return [sch.get_loops(b)[0] for b in blocks]


def test_whole_nests():
    @I.ir_module
    class Expected:
        @T.prim_func
        def main(A: T.Buffer((5, 3), "float32"), B: T.Buffer((5, 3), "float32"), C: T.Buffer((5, 3), "float32")):
            for i, j in T.grid(5, 3):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj] + T.float32(1)
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(B[vi, vj])
                    T.writes(C[vi, vj])
                    C[vi, vj] = B[vi, vj] * T.float32(2)

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
    program = parse("""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi]
""")
    sch = Schedule(program)
    sch.merge(*outer(sch, "B", "C"))
    for n in (0, 1, 17):
        same_result(sch, program, *[((n,), "float32")] * 3)


def test_the_order_of_the_arguments_is_that_of_the_bodies(same_result):
    program = parse("""
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
""")
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
