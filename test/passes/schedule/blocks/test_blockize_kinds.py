"""blockize of several blocks whose outer iters are of different kinds, or of extent 1."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script.parser import parse


def rows(kind: str, first: str = "T1[vj] = A[vi, vj] + 1.0", n: int = 3):
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, 6), "float32"), C: T.Buffer(({n}, 6), "float32")):
    T1 = T.alloc_buffer((6,), "float32")
    for i in range({n}):
        for j in range(6):
            with T.block("T1"):
                vi = T.axis.{kind}({n}, i)
                vj = T.axis.spatial(6, j)
                {first}
        for j in range(6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T1[5 - vj] + T1[vj]
""")


def test_the_new_block_keeps_the_order_that_one_of_them_needs(same_result):
    program = rows("opaque")
    sch = Schedule(program)
    sch.blockize(["T1", "C"])
    assert "vi_o = T.axis.opaque(3, i)" in sch.mod.script()
    same_result(sch, program, ((3, 6), "float32"), ((3, 6), "float32"))
    assert sch.verify()


def test_a_reduce_iter_of_extent_1_is_not_divided(same_result):
    program = rows("reduce", n=1)
    sch = Schedule(program)
    sch.blockize(["T1", "C"], preserve_unit_iters=False)
    same_result(sch, program, ((1, 6), "float32"), ((1, 6), "float32"))
    assert sch.verify()
