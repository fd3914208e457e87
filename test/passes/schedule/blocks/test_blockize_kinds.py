"""blockize of several blocks whose outer iters are of different kinds, or of extent 1."""

from __future__ import annotations

from programs.short import nest, program, sblock

from tir_mlir import Schedule


def rows(kind: str, first: str = "T1[vj] = A[vi, vj] + 1.0", n: int = 3):
    return program(
        f"A:{n}x6 C:{n}x6 ; T1:6",
        nest(
            f"i:{n}",
            nest("j:6", sblock("T1", "", f"vi = T.axis.{kind}({n}, i)", "vj = T.axis.spatial(6, j)", f"{first}")),
            nest("j:6", sblock("C", "SS i j", "C[vi, vj] = T1[5 - vj] + T1[vj]")),
        ),
    )


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
