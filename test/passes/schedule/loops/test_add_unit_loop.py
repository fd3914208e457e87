"""add_unit_loop: a loop that runs once, around a block or a loop."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.parser import parse
from tir_mlir.script.structural_equal import difference


@I.ir_module
class Rows:
    @T.prim_func
    def main(A: T.Buffer((5, 3), "float32"), B: T.Buffer((5, 3), "float32")):
        for i in range(8):
            for j in range(3):
                with T.block("B"):
                    T.where(i < 5)
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + T.float32(1)


SHAPES = ((5, 3), "float32"), ((5, 3), "float32")


def test_around_a_block(same_result):
    @I.ir_module
    class Expected:
        @T.prim_func
        def main(A: T.Buffer((5, 3), "float32"), B: T.Buffer((5, 3), "float32")):
            for i, j, u in T.grid(8, 3, 1):
                with T.block("B"):
                    T.where(i < 5)
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj] + T.float32(1)

    sch = Schedule(Rows)
    loop = sch.add_unit_loop("B")
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert (sch.get(loop).name, sch.get(loop).extent) == ("u", 1)
    same_result(sch, Rows, *SHAPES)


def test_around_loops(same_result):
    sch = Schedule(Rows)
    i, j = sch.get_loops("B")
    u = sch.add_unit_loop(j)
    v = sch.add_unit_loop(i)
    assert sch.get_loops("B") == [v, i, u, j]
    sch.fuse(v, i)
    same_result(sch, Rows, *SHAPES)


def test_around_a_block_without_loops(same_result):
    @I.ir_module
    class Scalar:
        @T.prim_func
        def main(A: T.Buffer((), "float32"), B: T.Buffer((), "float32")):
            with T.block("B"):
                B[()] = A[()] + T.float32(1)

    sch = Schedule(Scalar)
    sch.bind(sch.add_unit_loop("B"), "threadIdx.x")
    same_result(sch, Scalar, ((), "float32"), ((), "float32"))


def test_refuses_the_root(refused):
    sch = Schedule(Rows)
    refused(sch, "the root block is the whole function", lambda: sch.add_unit_loop("root"), ValueError)


def test_around_a_block_and_its_condition_on_data():
    program = parse("""
@T.prim_func
def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
    for i in range(9):
        with T.block("B"):
            vi = T.axis.spatial(9, i)
            T.where(A[i] > T.float32(0.5))
            B[vi] = A[vi] + 1.0
""")
    sch = Schedule(program)
    sch.add_unit_loop("B")
    assert [sch.get(lp).name for lp in sch.get_loops("B")] == ["i", "u"]
    assert "T.where(A[i] > T.float32(0.5))" in sch.mod.script()
    assert sch.verify()
