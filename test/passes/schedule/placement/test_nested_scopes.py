"""reverse_compute_at within a block: what is outside of it does not see the block move."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script.parser import parse


def rows(more: str = ""):
    """T1 is read outside the block "O", in which it is computed."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    T1 = T.alloc_buffer((4, 16), "float32")
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            Y = T.alloc_buffer((16,), "float32")
            for j in range(16):
                with T.block("Y"):
                    vj = T.axis.spatial(16, j)
                    Y[vj] = A[vi, vj] + 1.0
            {more}
            for j in range(16):
                with T.block("T1"):
                    vj = T.axis.spatial(16, j)
                    T1[vi, vj] = Y[vj] * 2.0
    for i, j in T.grid(4, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T1[vi, vj] + 3.0
""")


def test_a_reader_outside_the_scope(same_result):
    program = rows()
    sch = Schedule(program)
    sch.reverse_compute_at("T1", sch.get_loops("Y")[0])
    same_result(sch, program, ((4, 16), "float32"), ((4, 16), "float32"))
    assert sch.verify()


def test_another_writer_in_the_scope_is_refused(refused):
    more = """for j in range(16):
                with T.block("Z"):
                    vj = T.axis.spatial(16, j)
                    T1[vi, vj] = 0.0"""
    sch = Schedule(rows(more))
    message = r'T1 is written by several blocks \("Z", "T1"\)'
    refused(sch, message, lambda: sch.reverse_compute_at("T1", sch.get_loops("Y")[0]))
