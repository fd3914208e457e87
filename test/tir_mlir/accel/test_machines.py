"""The machines that ship: products on each against NumPy, their instructions, their C."""

from __future__ import annotations

import numpy as np
import pytest
from programs.machine_products import GEMMINI, NPU, TMM16, product, schedule_product, schedule_vta

from tir_mlir import build
from tir_mlir.accel import machines

MACHINES = {
    "tmm16": (machines.tmm16, TMM16, "float32", "float32"),
    "gemmini": (machines.gemmini, GEMMINI, "int8", "int32"),
    "npu": (machines.npu, NPU, "int8", "int32"),
}


def run_product(name: str, m: int, n: int, k: int, cores: int = 1):
    make, parts, dtype, sums = MACHINES[name]
    machine = make()
    sch = schedule_product(parts, product(m, n, k, dtype, sums, parts.transposed), (2, 2, 1), cores)
    lib = build(sch, target=machine)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-100, 100, s).astype(dtype) for s in ((m, k), (n, k) if parts.transposed else (k, n)))
    c = np.zeros((m, n), sums)
    lib(a, b, c)
    np.testing.assert_array_equal(c, a.astype(sums) @ (b.T if parts.transposed else b).astype(sums))
    return sch, lib


@pytest.mark.parametrize("shape", [(64, 32, 64), (15, 17, 1), (127, 16, 33)])
@pytest.mark.parametrize("name", ["gemmini", "npu"])
def test_products_of_any_size(name: str, shape: tuple[int, int, int]) -> None:
    _, lib = run_product(name, *shape)
    assert lib.main.cycles > 0


@pytest.mark.parametrize("name", MACHINES)
def test_schedules_are_proved(name: str) -> None:
    sch, _ = run_product(name, 32, 32, 64)
    assert sch.verify()


def test_two_cores_share_the_rows_of_a_product() -> None:
    _, one = run_product("npu", 128, 32, 64)
    _, two = run_product("npu", 128, 32, 64, cores=2)
    assert two.main.cycles < 0.6 * one.main.cycles
    assert "void main(int32_t core, const int8_t *A" in two.source


def test_gemmini_adds_by_a_bit_of_the_address() -> None:
    _, lib = run_product("gemmini", 32, 32, 16)
    assert "(3u << 30) | (C_GLOBAL_ACC + i_0 * 64 + i_1 * 32 + j_0 * 32 + j_1 * 16));" in lib.source
    assert lib.main.timeline.issued["config_ex"] == 1
    assert lib.main.timeline.issued["config_ld"] == 2  # strides of A and of B


@pytest.mark.parametrize(("m", "n", "k", "rows", "blocks"), [(8, 32, 48, 8, 2), (17, 16, 16, 17, 1), (6, 64, 32, 3, 2)])
def test_vta_loops_over_rows_and_blocks(m: int, n: int, k: int, rows: int, blocks: int) -> None:
    machine = machines.vta()
    sch = schedule_vta(m, n, k, rows, blocks)
    lib = build(sch, target=machine)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (n, k), np.int8)
    c = np.zeros((m, n // 16, 16), np.int8)
    packed = np.ascontiguousarray(b.reshape(n // 16, 16, k // 16, 16).swapaxes(1, 2))
    lib(a.reshape(m, k // 16, 16), packed, c)
    sums = a.astype(np.int32) @ b.T.astype(np.int32)
    np.testing.assert_array_equal(c.reshape(m, n), np.clip(sums >> 8, 0, 127))
    assert sch.verify()
