"""Products whose sums take several instructions to the memory of the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from programs.vector_machine import product_machine

from tir_mlir import accel
from tir_mlir.errors import MachineError
from tir_mlir.script import tir as T


def product(m: int, n: int, k: int):
    @T.prim_func
    def main(A: T.Buffer((m, k), "int8"), B: T.Buffer((k, n), "int8"), C: T.Buffer((m, n), "int32")):
        for i, j, r in T.grid(m, n, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])

    return main


def residual(m: int, n: int, k: int):
    """A product to which a tensor is added, clipped."""

    @T.prim_func
    def main(
        A: T.Buffer((m, k), "int8"),
        B: T.Buffer((k, n), "int8"),
        R: T.Buffer((m, n), "int8"),
        C: T.Buffer((m, n), "int8"),
    ):
        S = T.alloc_buffer((m, n), "int32")
        for i, j, r in T.grid(m, n, k):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    S[vi, vj] = 0
                S[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
        for i, j in T.grid(m, n):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("int8", T.max(T.min(S[vi, vj] + T.Cast("int32", R[vi, vj]), 127), -100))

    return main


def data(m: int, n: int, k: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(-4, 4, shape, np.int8) for shape in ((m, k), (k, n), (m, n))]


@pytest.mark.parametrize("shape", [(32, 16, 32), (33, 20, 17), (1, 1, 1)])
def test_sums_are_moved_and_stored(shape: tuple[int, int, int]) -> None:
    mapped = accel.map(product(*shape), product_machine())
    a, b, _ = data(*shape)
    c = np.zeros(shape[:2], np.int32)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b)
    assert "vec.take copies C, tiles of 16 x 16, into wide" in str(mapped)


@pytest.mark.parametrize("shape", [(32, 16, 32), (33, 20, 17)])
def test_a_tensor_is_added_to_a_product(shape: tuple[int, int, int]) -> None:
    mapped = accel.map(residual(*shape), product_machine())
    a, b, r = data(*shape)
    c = np.zeros(shape[:2], np.int8)
    mapped.build().main(a, b, r, c)
    np.testing.assert_array_equal(c, np.clip(a.astype(np.int32) @ b + r, -100, 127))
    assert mapped.schedule.verify()


def test_what_is_behind_a_sum_has_to_be_computed() -> None:
    machine = product_machine()
    del machine.instructions["clip"]
    with pytest.raises(MachineError, match=r"no instruction of .* computes block S"):
        accel.map(residual(16, 16, 16), machine)
