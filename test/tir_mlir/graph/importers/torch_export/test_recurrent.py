"""Recurrent layers of torch: a loop for each direction of each layer, with torch's results."""

import pytest
from harness.torch_models import check

import tir_mlir

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn = torch.nn


class Results(nn.Module):
    """A layer whose results are a tuple of tensors."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, last = self.layer(x)
        return (y, *last) if isinstance(last, tuple) else (y, last)


LAYERS = {
    "LSTM": lambda: nn.LSTM(5, 3, 2, batch_first=True, bidirectional=True),
    "GRU": lambda: nn.GRU(5, 3, 2, bidirectional=True, bias=False),
    "RNN": lambda: nn.RNN(5, 3, nonlinearity="relu"),
    "projected": lambda: nn.LSTM(5, 4, proj_size=2),
}


def test_a_layer_is_a_loop_for_each_direction():
    graph = tir_mlir.from_torch(Results(LAYERS["LSTM"]()).eval(), (torch.ones(2, 40, 5),), cache=False)
    assert str(graph.module.mlir).count("call @loop") == 4
    assert "lstm" not in vars(torch._VF)


@pytest.mark.nightly
@pytest.mark.parametrize("name", LAYERS)
def test_its_results_are_those_of_torch(name):
    check(Results(LAYERS[name]()).eval(), torch.randn(4, 6, 5))


@pytest.mark.nightly
def test_it_is_imported_at_one_length_and_runs_at_others():
    x = {"x": {1: "n"}}
    check(Results(LAYERS["LSTM"]()).eval(), torch.randn(2, 6, 5), others=(torch.randn(2, 9, 5),), dynamic=x)
