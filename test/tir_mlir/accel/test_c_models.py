"""The C models of the machines that ship: descriptions agree with them, and the C of programs runs on them."""

from __future__ import annotations

import pytest

from tir_mlir.accel import machines
from tir_mlir.errors import MachineError

SHIPPED = {
    "tmm16": machines.tmm16,
    "gemmini": machines.gemmini,
    "npu": machines.npu,
    "vta": machines.vta,
    "amx": machines.amx,
    "sme": machines.sme,
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["tmm16", "gemmini", "npu", "amx", "sme"])
def test_descriptions_agree_with_the_c_models(name: str) -> None:
    result = SHIPPED[name]().check(machines.c_model(name))
    assert result, str(result)


@pytest.mark.nightly  # tiles of up to 2,048 rows
def test_the_description_of_vta_agrees_with_its_c_model() -> None:
    result = machines.vta().check(machines.c_model("vta"))
    assert result, str(result)


def test_loads_and_products_of_vta_agree_with_its_c_model() -> None:
    result = machines.vta().check(machines.c_model("vta"), only=["load_wgt", "gemm"])
    assert result, str(result)


# what is changed in a model, and the instruction by which it is seen
CHANGES = [
    ("tmm16", "reg[b + j][k]", "reg[b + k][j]", "tmm_add"),
    ("gemmini", "address >> 30 & 1 ? (uint32_t)*to : 0", "(uint32_t)*to", "zero"),
    ("gemmini", "rest == 0.5f && down & 1", "rest == 0.5f", "mvout"),
    ("gemmini", "j / DIM * ld[id].block_stride", "j % DIM", "mvin"),
    ("npu", "i < rows && j < cols", "i < rows", "load_w"),
    ("vta", "outer * f[8] + inner * f[9]", "outer * f[9] + inner * f[8]", "gemm"),
    ("vta", "y * x_stride + x", "y * x_size + x", "load_inp"),
    ("amx", "4 * n + t", "4 * t + n", "tdpbssd"),
    ("sme", "mask >> (tile + 4 * (i % 2))", "mask >> tile + 1", "zero"),  # a tile of words is two of doublewords
]


@pytest.mark.parametrize(("name", "old", "new", "seen"), CHANGES)
@pytest.mark.few(4)
def test_another_model_is_told(name: str, old: str, new: str, seen: str) -> None:
    text = machines.c_model(name).read_text()
    assert old in text
    result = SHIPPED[name]().check(text.replace(old, new), only=[seen])
    assert not result and f"  {seen}: " in str(result)


def test_a_machine_that_does_not_ship_has_no_model() -> None:
    with pytest.raises(MachineError, match="no machine that ships is called tpu: amx, gemmini, npu, sme, tmm16, vta"):
        machines.c_model("tpu")
