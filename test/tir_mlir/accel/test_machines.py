"""The machines that ship: products on each against NumPy, their instructions, their C."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir
from programs.products import widened
from programs.vta_product import schedule_vta

from tir_mlir import accel, build
from tir_mlir.accel import machines
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.library import Library

MACHINES = {
    "tmm16": (machines.tmm16, "float32", "float32", True),
    "gemmini": (machines.gemmini, "int8", "int32", False),
    "amx": (machines.amx, "int8", "int32", False),
    "npu": (machines.npu, "int8", "int32", True),
}
"""How each is made, the types of operands and sums, and whether it multiplies by rows of the right operand."""


def map_product(name: str, m: int, n: int, k: int) -> accel.Mapping:
    make, dtype, sums, transposed = MACHINES[name]
    return accel.map(widened(m, n, k, dtype, sums, right_turned=transposed), make())


def run_product(name: str, lib: Library, m: int, n: int, k: int) -> None:
    """Run a product of small integers, so that floats are exact."""
    _, dtype, sums, transposed = MACHINES[name]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-99, 100, s).astype(dtype) for s in ((m, k), (n, k) if transposed else (k, n)))
    c = np.zeros((m, n), sums)
    lib(a, b, c)
    np.testing.assert_array_equal(c, a.astype(sums) @ (b.T if transposed else b).astype(sums))


@pytest.mark.parametrize("shape", [(64, 32, 64), (15, 17, 1), (1, 16, 127)])
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.few(5)
def test_products_of_any_size(name: str, shape: tuple[int, int, int]) -> None:
    mapping = map_product(name, *shape)
    run_product(name, mapping.build(), *shape)
    assert mapping.schedule.verify()
    assert mapping.cycles > 0


def test_what_a_copy_cannot_pad_the_cpu_does() -> None:
    issued = map_product("tmm16", 33, 20, 17).timeline.issued
    assert issued == {"load": issued["load"], "fill_zero": 6, "tmm_add": 12, "store": 6}


def test_two_cores_share_the_rows_of_a_product() -> None:
    mapping = map_product("npu", 128, 128, 512)
    run_product("npu", mapping.build(), 128, 128, 512)
    one = accel.map(widened(128, 128, 512, "int8", "int32", right_turned=True), machines.npu(cores=1))
    assert mapping.cycles < 0.6 * one.cycles
    assert "void main(int32_t core, const int8_t *A" in mapping.source


def test_gemmini_adds_by_a_bit_of_the_address() -> None:
    mapping = map_product("gemmini", 32, 32, 64)
    assert "(3u << 30) | (" in mapping.source
    issued = {name: n for name, n in mapping.timeline.issued.items() if "config" in name}
    assert issued == {"config_ex": 1, "config_ld": 1, "config_ld2": 1, "config_st": 1}


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


def test_a_machine_is_described_once_a_process() -> None:
    first, second = machines.gemmini(), machines.gemmini()
    assert first.instructions == second.instructions
    assert first.instructions != machines.gemmini(latency=7).instructions


def test_what_is_added_to_a_machine_is_not_in_the_next_one() -> None:
    first = machines.npu()
    first.unit("more")
    assert "more" not in machines.npu().units


def test_another_machine_of_the_name_does_not_change_the_intrinsics_of_a_ready_one() -> None:
    machine = machines.gemmini()
    TensorIntrin.register("gemmini.mvin", *_parts(TensorIntrin.get("gemmini.zero")), override=True)
    assert TensorIntrin.get("gemmini.mvin") != machine.instructions["mvin"].intrinsic
    assert machines.gemmini().instructions["mvin"].intrinsic == TensorIntrin.get("gemmini.mvin")


def _parts(intrinsic: TensorIntrin | None) -> tuple[ir.Module, ir.Module]:
    assert intrinsic is not None
    with enter_context():
        return ir.Module.parse(intrinsic.desc), ir.Module.parse(intrinsic.impl)
