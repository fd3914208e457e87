"""reverse_compute_at within a block: what is outside of it does not see the block move."""

from __future__ import annotations

from programs.short import each, program

from tir_mlir import Schedule


def rows(more: str = ""):
    """T1 is read outside the block "O", in which it is computed."""
    return program(
        "A:4x16 C:4x16 ; T1:4x16",
        each(
            "O:4",
            "Y = T.alloc_buffer((16,), 'float32')",
            each("Y j:16", "Y[vj] = A[vi, vj] + 1.0"),
            f"{more}",
            each("T1 j:16", "T1[vi, vj] = Y[vj] * 2.0"),
        ),
        each("C:4x16", "C[vi, vj] = T1[vi, vj] + 3.0"),
    )


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
