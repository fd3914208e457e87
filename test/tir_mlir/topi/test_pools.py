"""Pools beside torch."""

import numpy as np
import pytest
from harness.operators import random, run

from tir_mlir.topi import nn

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
functional = torch.nn.functional

CASES = {
    "plain": ((1, 3, 8, 8), {"pool_size": 2, "strides": 2}),
    "padded": ((2, 3, 9, 7), {"pool_size": 3, "strides": 2, "padding": 1}),
    "uneven": ((1, 2, 8, 9), {"pool_size": (2, 3), "strides": (1, 2), "padding": (0, 1)}),
    "ceil": ((1, 2, 8, 9), {"pool_size": 3, "strides": 2, "ceil_mode": True}),
    "ceil, padded": ((1, 2, 6, 7), {"pool_size": 3, "strides": 3, "padding": 1, "ceil_mode": True}),
    "one": ((1, 1, 1, 1), {"pool_size": 1}),
}


def torch_args(attrs):
    names = {"strides": "stride", "pool_size": "kernel_size"}
    return {names.get(k, k): v for k, v in {"strides": 1, **attrs}.items()}


@pytest.mark.parametrize("case", CASES)
def test_max_pool2d(case):
    shape, attrs = CASES[case]
    x = random(*shape) - 3
    wanted = functional.max_pool2d(torch.tensor(x), **torch_args(attrs)).numpy()
    np.testing.assert_array_equal(run(nn.max_pool2d, x, **attrs), wanted)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("inside", [False, True])
def test_avg_pool2d(case, inside):
    shape, attrs = CASES[case]
    x = random(*shape)
    wanted = functional.avg_pool2d(torch.tensor(x), count_include_pad=inside, **torch_args(attrs)).numpy()
    np.testing.assert_allclose(run(nn.avg_pool2d, x, count_include_pad=inside, **attrs), wanted, rtol=1e-5, atol=1e-6)


def test_dilated_windows():
    x = random(1, 2, 9, 9)
    wanted = functional.max_pool2d(torch.tensor(x), 2, 1, dilation=3).numpy()
    np.testing.assert_array_equal(run(nn.max_pool2d, x, pool_size=2, dilation=3), wanted)


def test_channels_last():
    x = random(1, 3, 8, 6)
    wanted = functional.max_pool2d(torch.tensor(x), 3, 2, 1).numpy().transpose(0, 2, 3, 1)
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    got = run(nn.max_pool2d, turned, pool_size=3, strides=2, padding=1, layout="NHWC")
    np.testing.assert_array_equal(got, wanted)


def test_pools_of_symbolic_sizes():
    x = random(5, 3, 8, 9)
    wanted = [f(torch.tensor(x), 3, 2, 1).numpy() for f in (functional.max_pool2d, functional.avg_pool2d)]
    window = {"pool_size": 3, "strides": 2, "padding": 1}
    got = run(lambda x: [nn.max_pool2d(x, **window), nn.avg_pool2d(x, **window, count_include_pad=True)],
              x, shapes=[("n", 3, "h", 9)], like=wanted)  # fmt: skip
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_pools_of_sequences():
    x = random(2, 3, 15)
    most, mean = run(lambda x: [nn.max_pool1d(x, 3, 2, 1), nn.avg_pool1d(x, 3, 2)], x)
    np.testing.assert_array_equal(most, functional.max_pool1d(torch.tensor(x), 3, 2, 1).numpy())
    np.testing.assert_allclose(mean, functional.avg_pool1d(torch.tensor(x), 3, 2).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [1, (2, 3), (4, 9), (3, 5), (None, 1)])
def test_adaptive_pools(size):
    x = random(1, 2, 8, 9)
    mean, most = run(lambda x: [nn.adaptive_avg_pool2d(x, size), nn.adaptive_max_pool2d(x, size)], x)
    np.testing.assert_allclose(
        mean, functional.adaptive_avg_pool2d(torch.tensor(x), size).numpy(), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_array_equal(most, functional.adaptive_max_pool2d(torch.tensor(x), size).numpy())


@pytest.mark.nightly
def test_global_pools_of_a_symbolic_size():
    x = random(2, 3, 5, 7)
    wanted = [x.mean((2, 3), keepdims=True), x.max((2, 3), keepdims=True)]
    got = run(lambda x: [nn.global_pool(x, "avg"), nn.global_pool(x, "max")], x, shapes=[(2, 3, "h", "w")], like=wanted)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_pool2d_by_type():
    x = random(1, 2, 6, 6)
    most, mean = run(lambda x: [nn.pool2d(x, 2, 2, 1, 0, kind) for kind in ("max", "avg")], x)
    np.testing.assert_array_equal(most, functional.max_pool2d(torch.tensor(x), 2).numpy())
    np.testing.assert_allclose(mean, functional.avg_pool2d(torch.tensor(x), 2).numpy(), rtol=1e-6, atol=1e-6)
