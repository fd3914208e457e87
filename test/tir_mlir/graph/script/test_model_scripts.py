"""Imported models as TVMScript: printed and read, they are the same graph."""

import pytest

from tir_mlir import from_torch
from tir_mlir.examples import models
from tir_mlir.script import IRModule, parse
from tir_mlir.script.structural_equal import difference

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
SMALL = ("mlp", "lenet", "bert-layer", "gpt2-decode")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in SMALL else [pytest.mark.nightly]) for n in models.NAMES]
)
def test_a_model_is_printed_and_read_back(name):
    example = models.example(name, tiny=True)
    module = from_torch(example.model, example.inputs, dynamic=example.dynamic).module
    assert difference(parse(module.script(show_meta=True)).mlir, module.mlir) is None
    assert difference(IRModule.from_mlir(module.text()).mlir, module.mlir) is None
