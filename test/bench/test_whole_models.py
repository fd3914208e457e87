"""Whole models in the benchmark: contestants are checked and timed, what is missing is told."""

import dataclasses
import importlib.util
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from measure import Stats  # noqa: E402
from tir_mlir.examples import models  # noqa: E402
from whole_models import built, measured, onnx_peer, table, told, torch_peers  # noqa: E402
from whole_models.measured import COMPILED, EAGER, ONNX, OURS, Measured, Prepared  # noqa: E402
from whole_models.subject import Missing, error, subject  # noqa: E402

LAYER = table.Line("bert-layer", bar=1.0, aim=1.3)


@pytest.fixture
def layer(tmp_path):
    return subject(LAYER, tmp_path, tiny=True)


def row(**milliseconds):
    took = {name: Stats.of([value]) for name, value in milliseconds.items()}
    return Measured(LAYER, 1, took)


def test_a_contestant_is_checked_timed_and_its_memory_told(layer):
    found = measured.measured(layer, 1, 0.01, only=[EAGER])
    assert found.errors[EAGER] < 1e-6 and found.took[EAGER].median > 0 and found.memory[EAGER] > 0 and not found.missing


@pytest.mark.nightly
def test_our_side_is_built_checked_and_its_memory_told(tmp_path):
    found = measured.measured(subject(table.Line("mlp"), tmp_path, tiny=True), 1, 0.01, only=[OURS])
    assert not found.missing and found.errors[OURS] < 1e-5 and found.memory[OURS] > 0


def test_the_cost_of_rounded_weights_includes_the_rounding(layer, monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr(built, "_run", lambda program, *_: ran.append(program) or (1.0, 2.0))
    for line in (LAYER, table.Line("bert-layer", table.BF16)):
        assert built.seconds_to_build(dataclasses.replace(layer, line=line), 1, tmp_path)["cold"] == (1.0, 2.0)
    plain, rounded = ran[0], ran[2]
    compile(rounded, "cost", "exec")
    assert "graph = quantize" not in plain and "graph = quantize_weights(graph, 'bfloat16', activations=" in rounded


def test_wrong_results_are_not_timed(layer, monkeypatch):
    wrong = Prepared(lambda: None, lambda _: [each + 1 for each in layer.expected], lambda: 0)
    monkeypatch.setitem(measured._MAKERS, OURS, lambda *_: wrong)
    found = measured.measured(layer, 1, 0.01, only=[OURS])
    assert not found.took and found.missing[OURS].startswith("ValueError: relative error 0.")


def test_a_missing_peer_is_told(layer, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = measured.measured(layer, 1, 0.01, only=[EAGER, ONNX])
    (line,) = told.reasons([found])
    assert line == (
        "missing: onnxruntime: ONNX Runtime needs onnx, onnxruntime, onnxscript: pip install onnx onnxruntime "
        "onnxscript [bert-layer]"
    )


def test_without_a_compiler_the_reason_is_told(layer, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(Missing, match=r"torch.compile needs a C\+\+ compiler"):
        torch_peers.compiled(layer, 1)


@pytest.mark.nightly
def test_the_compiled_peer_computes_the_same(layer):
    found = measured.measured(layer, 1, 0.01, only=[COMPILED])
    assert found.missing or found.errors[COMPILED] < 1e-5


@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in onnx_peer.NEEDED), reason="no ONNX Runtime")
def test_the_onnx_peer_computes_the_same(layer):
    found = measured.measured(layer, 1, 0.01, only=[ONNX])
    assert found.errors[ONNX] < 1e-5 and found.memory[ONNX] >= 0


def test_ratios_and_bars():
    faster, slower, alone = row(ours=2.0, eager=5.0, compiled=3.0), row(ours=4.0, eager=3.0), row(eager=1.0)
    assert (faster.best, faster.ratio, faster.met) == (("compiled", 3.0), 1.5, True)
    assert (slower.ratio, slower.met) == (0.75, False)
    assert (alone.ratio, alone.met) == (None, None)


def test_the_page_and_the_file_have_all_figures(tmp_path):
    page = told.write(tmp_path / "models.json", [row(ours=0.0123, eager=5.0)], {"cpu": "one"})
    assert "| bert-layer | 128 tokens | 1 | 0.0123 | 5.00 |  |  | 406.50 |" in page.read_text()
    (plain,) = json.loads((tmp_path / "models.json").read_text())["rows"]
    assert plain["milliseconds"]["eager"]["median"] == 5.0 and plain["bar"] == 1.0 and plain["model"] == "bert-layer"


def test_errors_are_relative_to_the_largest_value():
    wants = [np.array([10.0, 0.001]), np.array([1.0])]
    assert error([np.array([10.0, 0.002]), np.array([1.0])], wants) == pytest.approx(1e-4)
    assert error([np.array([10.0, np.nan]), np.array([1.0])], wants) == float("inf")
    with pytest.raises(ValueError, match="shapes"):
        error([np.zeros(2)], wants)


def test_memory_of_eager_activations_counts_what_lives_at_once():
    x = torch.zeros(1024)
    assert torch_peers.activations(lambda: ((x + 1) * 2) - 1) // 1024 == 8  # and scalars


def test_four_bits_lose_little():
    linear = torch.nn.Linear(64, 32, bias=False).requires_grad_(False)
    packed = torch_peers.with_int4(torch.nn.Sequential(linear))
    x = torch.randn(3, 64)
    assert 1e-4 < error([packed(x).numpy()], [linear(x).numpy()]) < 0.2


def test_models_of_the_table_are_there_and_names_are_checked():
    assert {line.model for line in table.LINES} <= set(models.NAMES)
    assert [line.name for line in table.chosen(["bert-base"])] == [
        "bert-base",
        "bert-base, bfloat16",
        "bert-base, int8",
    ]
    assert [line.name for line in table.chosen(["bert-base, bfloat16"])] == ["bert-base, bfloat16"]
    with pytest.raises(ValueError, match="no model 'bert'; fix: one of mlp, mlp-64"):
        table.chosen(["bert"])
