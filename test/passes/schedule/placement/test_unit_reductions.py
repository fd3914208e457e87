"""compute_at and compute_inline of blocks with a reduce iter of extent 1 and no init."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script.parser import parse


def stages(extent: int = 1):
    """B is left over from a reduction of extent 1: it has no init, and stores each element once."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({extent}, 8), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    D = T.alloc_buffer((8,), "float32")
    for i in range({extent}):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("RS", [i, j])
                B[vj] = A[vi, vj] + 1.0
        for j in range(8):
            with T.block("D"):
                vj = T.axis.spatial(8, j)
                D[vj] = B[7 - vj] + B[vj]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = D[vi] * 2.0
""")


SHAPES = [((1, 8), "float32"), ((8,), "float32")]


def test_the_consumer_of_a_unit_reduction_moves(same_result):
    program = stages()
    sch = Schedule(program)
    sch.compute_at("D", sch.get_loops("C")[0])
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_a_unit_reduction_moves(same_result):
    program = stages()
    sch = Schedule(program)
    sch.compute_at("D", sch.get_loops("C")[0])
    sch.compute_at("B", sch.get_loops("C")[0])
    same_result(sch, program, *SHAPES)
    assert sch.verify()


def test_a_unit_reduction_is_inlined(same_result):
    program = stages()
    sch = Schedule(program)
    sch.compute_inline("B")
    same_result(sch, program, *SHAPES)


@pytest.mark.parametrize("step", ["compute_at", "compute_inline"])
def test_longer_reductions_without_init_are_refused(step, refused):
    sch = Schedule(stages(3))
    message = 'block "B" has the reduce iter vi; all must be spatial'
    args = [sch.get_loops("C")[0]] if step == "compute_at" else []
    block = "D" if step == "compute_at" else "B"
    refused(sch, message, lambda: getattr(sch, step)(block, *args))
