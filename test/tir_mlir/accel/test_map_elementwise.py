"""Elementwise programs that are mapped to machines without a person: one block for each instruction."""

from __future__ import annotations

import numpy as np
import pytest
from programs.vector_machine import vector_machine

from tir_mlir import accel
from tir_mlir.errors import MachineError
from tir_mlir.schedule import Schedule
from tir_mlir.script import tir as T


def sum_of(m: int, n: int):
    """Two tensors, added and clipped in three blocks."""

    @T.prim_func
    def main(A: T.Buffer((m, n), "int8"), B: T.Buffer((m, n), "int8"), C: T.Buffer((m, n), "int8")):
        S = T.alloc_buffer((m, n), "int32")
        R = T.alloc_buffer((m, n), "int32")
        for i, j in T.grid(m, n):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.Cast("int32", A[vi, vj]) + T.Cast("int32", B[vi, vj])
        for i, j in T.grid(m, n):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                R[vi, vj] = T.max(T.min(S[vi, vj], 127), -5)
        for i, j in T.grid(m, n):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("int8", R[vi, vj])

    return main


def run(mapped: accel.Mapping, m: int, n: int) -> None:
    """Compare with NumPy."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (m, n), np.int8) for _ in range(2))
    c = np.zeros((m, n), np.int8)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, np.clip(a.astype(np.int32) + b, -5, 127))


@pytest.mark.parametrize("shape", [(32, 16), (33, 20), (1, 1)])
def test_a_sum_of_tensors_is_mapped(shape: tuple[int, int]) -> None:
    mapped = accel.map(sum_of(*shape), vector_machine())
    run(mapped, *shape)
    assert mapped.schedule.verify()


def test_its_reasons_name_each_instruction() -> None:
    mapped = accel.map(sum_of(16, 16), vector_machine())
    assert str(mapped).splitlines()[1:] == [
        "  vec.load copies A, tiles of 16 x 16, into narrow",
        "  vec.widen computes tiles of 16 x 16 in wide",
        "  vec.load copies B, tiles of 16 x 16, into narrow",
        "  vec.widen computes tiles of 16 x 16 in wide",
        "  vec.add computes tiles of 16 x 16 in wide; vec.add_slowly does the same, and is not cheaper",
        "  vec.clip computes tiles of 16 x 16 in narrow",
        "  vec.store stores tiles of 16 x 16",
        "  loops over parts: none",
    ]


def test_the_cpu_pads_what_copies_of_whole_tiles_cannot() -> None:
    run(accel.map(sum_of(17, 30), vector_machine(masked=False)), 17, 30)


def test_its_steps_are_a_trace() -> None:
    mapped = accel.map(sum_of(33, 20), vector_machine())
    again = Schedule(sum_of(33, 20))
    mapped.schedule.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == mapped.schedule.mod.script()


def test_small_memories_hold_a_part() -> None:
    mapped = accel.map(sum_of(64, 32), vector_machine(rows=80))
    run(mapped, 64, 32)
    with pytest.raises(MachineError, match="block C: the smallest tiles need 80 rows of narrow, which has 40"):
        accel.map(sum_of(64, 32), vector_machine(rows=40))


def test_a_part_that_no_instruction_computes_is_named() -> None:
    @T.prim_func
    def main(A: T.Buffer((16, 16), "int8"), C: T.Buffer((16, 16), "int8")):
        for i, j in T.grid(16, 16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("int8", T.Cast("int32", A[vi, vj]) * 3)

    reason = r"compute block C: none computes muli\(extsi\(A\), 3\); nearest is vec\.\w+: "
    with pytest.raises(MachineError, match=reason):
        accel.map(main, vector_machine())
