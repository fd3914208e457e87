"""What a first start leaves in the cache."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from tir_mlir.graph import GraphBuilder, compile
from tir_mlir.llm.checks.matching import Parameters
from tir_mlir.llm.description import Description, describe_model
from tir_mlir.llm.native.rotary import without_positions
from tir_mlir.llm.repeated_part import Precision, RepeatedPart, UncompiledGraph, compile_side_by_side


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))


def test_a_description_is_that_of_all_files_of_a_configuration(monkeypatch):
    module, asked = importlib.import_module("tir_mlir.llm.description"), []
    answer = Description(Parameters({}, {}, "", "", []), "w", [], [], "", {}, 1, without_positions(1)).text().encode()
    monkeypatch.setattr(module, "_version", lambda: "1")
    monkeypatch.setattr(module, "_describe_in_process", lambda _, config, *__: asked.append(config) or answer)
    for config in ('{"a": 1, "dtype": "float16"}', '{"a": 1, "dtype": "bfloat16"}', '{"a": 2}'):
        describe_model(Path("x"), config, (1,), {}, lambda: None)
    assert [config[:7] for config in asked] == ['{"a": 1', '{"a": 2']


def test_what_was_compiled_side_by_side_is_not_compiled_again(monkeypatch):
    b = GraphBuilder("one")
    b.output(b.op("nn.dense", b.input("x", (1, 8), "float32"), b.weight("w", np.ones((8, 8), "float32"))))
    part = UncompiledGraph(b.finish().text(), "one", {"w": (8, 8)}, Precision(None), 1)
    compile_side_by_side([part])
    monkeypatch.setattr(compile, "compile_graph", None)
    assert RepeatedPart([part.graph], part.precision, 1).programs
