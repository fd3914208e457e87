"""Costs of kernels on a GPU, with the machine's driver and a clock of its own instead of the GPU's."""

import json

import pytest

import on_gpu
from tir_mlir.ptx.program import MachineDriver
from tir_mlir.runtime.drivers.device_driver import using
from tir_mlir.target import CUDA


class Timed(MachineDriver):
    """A GPU on which everything takes a millisecond."""

    is_machine = False

    def seconds(self, device, stream, runs):
        return [5e-3 for run in runs if run() is None]


class WithoutCopies(Timed):
    """A GPU whose results do not arrive."""

    def copy_out(self, device, array, address, stream):
        pass


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(on_gpu, "REPEAT", 1)
    monkeypatch.setattr(on_gpu, "NUMBER", 1)
    monkeypatch.setattr(on_gpu, "N", 32)


def test_figures_are_written_with_their_goals(tmp_path, capsys):
    with using(Timed()):
        assert on_gpu.run(tmp_path / "gpu.json", CUDA("sm_80")) == 1  # it is not a GPU
    found = json.loads((tmp_path / "gpu.json").read_text())
    start, product = found["rows"]
    assert product["stats"]["median"] == pytest.approx(2 * 32**3 / 5e-3 * 1e-12)
    assert (product["goal"], product["met"]) == (">= 40", False)
    assert start["stats"]["median"] > 0 and found["machine"]["chip"] == "sm_90"


def test_a_wrong_product_is_no_figure(tmp_path):
    with using(WithoutCopies()):
        assert on_gpu.run(tmp_path / "gpu.json", CUDA("sm_80")) == 1
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert found["machine"]["wrong"] == "the product of 32 x 32 numbers is wrong on the GPU" and len(found["rows"]) == 1
