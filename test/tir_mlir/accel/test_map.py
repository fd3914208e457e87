"""Programs that are mapped to machines without a person."""

from __future__ import annotations

import numpy as np
import pytest
from programs.systolic import product, systolic

from tir_mlir import accel
from tir_mlir.errors import MachineError
from tir_mlir.schedule import Schedule
from tir_mlir.script import tir as T

SHAPES = [(16, 16, 16), (1, 1, 1), (15, 17, 127), (127, 1, 16), (100, 50, 70), (64, 128, 96)]


def data(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)


def scaled(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    sums = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32) * np.float32(2.0**-9)
    return np.clip(np.round(sums), 0, 127).astype(np.int8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.few(3)
def test_a_product_of_any_size_is_mapped(shape: tuple[int, int, int]) -> None:
    mapped = accel.map(product(*shape), systolic())
    a, b = data(*shape)
    c = np.zeros(shape[:2], np.int8)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, scaled(a, b))
    if 1 not in shape[1:]:
        assert mapped.schedule.verify()


def test_most_cycles_compute() -> None:
    mapped = accel.map(product(128, 128, 128), systolic())
    assert mapped.timeline.utilization("execute") > 0.95
    assert mapped.timeline.issued["config_ld"] == 1


def test_its_steps_are_a_trace() -> None:
    mapped = accel.map(product(48, 32, 16), systolic())
    again = Schedule(product(48, 32, 16))
    mapped.schedule.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == mapped.schedule.mod.script()


def test_a_block_that_no_instruction_computes_is_named() -> None:
    @T.prim_func
    def main(A: T.Buffer((32, 32), "int8"), B: T.Buffer((32, 32), "int8"), C: T.Buffer((32, 32), "int32")):
        for i, j, k in T.grid(32, 32, 32):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = T.max(C[vi, vj], T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj]))

    with pytest.raises(MachineError, match=r"computes block C; nearest is array\.compute: payload: .*maxsi"):
        accel.map(main, systolic())
