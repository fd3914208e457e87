"""add_unit_loop: a loop that runs once, around a block or a loop."""

from __future__ import annotations

from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference

Rows = program(
    "A:5x3 B:5x3",
    nest(
        "i:8 j:3",
        sblock("B", "", "vi, vj = T.axis.remap('SS', [i, j])", "B[vi, vj] = A[vi, vj] + T.float32(1)", where="i < 5"),
    ),
)
SHAPES = ((5, 3), "float32"), ((5, 3), "float32")


def test_around_a_block(same_result):
    Expected = program(
        "A:5x3 B:5x3",
        nest(
            "i:8 j:3 u:1",
            sblock(
                "B",
                "",
                "vi, vj = T.axis.remap('SS', [i, j])",
                "T.reads(A[vi, vj])",
                "T.writes(B[vi, vj])",
                "B[vi, vj] = A[vi, vj] + T.float32(1)",
                where="i < 5",
            ),
        ),
    )
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
    program = parse(main("A:9 B:9", each("B:9", "B[vi] = A[vi] + 1.0", where="A[i] > T.float32(0.5)")))
    sch = Schedule(program)
    sch.add_unit_loop("B")
    assert [sch.get(lp).name for lp in sch.get_loops("B")] == ["i", "u"]
    assert "T.where(A[i] > T.float32(0.5))" in sch.mod.script()
    assert sch.verify()
