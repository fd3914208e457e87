"""Costs of kernels on a GPU, with the machine's driver and a clock of its own instead of the GPU's."""

import json

import pytest

import on_gpu
import predictions
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


@pytest.mark.parametrize(("device", "card"), [
    ("NVIDIA H200", "H200"), ("NVIDIA A100-SXM4-80GB", "A100-80GB"), ("NVIDIA A100-SXM4-40GB", "A100"),
    ("Tesla T4", "T4"), ("PTX machine", None),
])  # fmt: skip
def test_cards_by_the_names_of_devices(device, card):
    assert predictions.card_of(device) == card


def test_predicted_times_are_compared_with_the_order_of_measured_ones():
    with using(Timed(chip="sm_80")):
        ranks, mean, _ = predictions.predictions(CUDA("sm_80"), "A100", 32, 2)
    assert ranks.stats.median == 0 and ranks.met is False  # all take the same time there
    assert mean.stats.median > 0 and "2 kernels" in ranks.name


def test_a_product_by_wgmma_is_a_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(on_gpu, "N", 128)
    with using(Timed(chip="sm_90a")):
        on_gpu.run(tmp_path / "gpu.json", CUDA("sm_90a"))
    last = json.loads((tmp_path / "gpu.json").read_text())["rows"][-1]
    assert last["name"] == "product, float16 by wgmma, 128^3" and last["goal"] == ">= 450"
