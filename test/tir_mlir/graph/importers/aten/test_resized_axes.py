"""The order in which the axes of an image are resized."""

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from tir_mlir import build, from_torch


class Resize(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return interpolate(x, self.size, mode="bicubic")


@pytest.mark.parametrize(("size", "axes"), [((30, 34), [3, 2]), ((7, 34), [2, 3]), ((7, 9), [2, 3])])
def test_rows_are_gathered_where_they_are_fewest(size, axes):
    graph = from_torch(Resize(size).eval(), (torch.zeros(1, 2, 15, 17),))
    resampled = [call for call in graph.script().splitlines() if "image.resample" in call]
    assert [int(call.split("axis=")[1][0]) for call in resampled] == axes


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_resized_images_are_those_of_torch(n):
    x = torch.randn(1, 2, n, n, generator=torch.Generator().manual_seed(0))
    model = Resize((2 * n, 2 * n)).eval()
    got = build(from_torch(model, (x,)), threads=1)(x.numpy())
    np.testing.assert_allclose(got, model(x).numpy(), rtol=1e-4, atol=1e-5)
