"""Softmax and normalizations beside torch."""

import numpy as np
import pytest
from harness.operators import picked, random, run

from tir_mlir.topi import nn

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
functional = torch.nn.functional
TOLERANCE = {"float32": 2e-5, "float16": 2e-3}


def close(got, wanted, dtype="float32"):
    np.testing.assert_allclose(got, wanted.numpy(), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("shape", "axis"), [((3, 17), -1), ((2, 5, 7), 1), ((15, 1), 1)])
def test_softmax(shape, axis, dtype):
    x = random(*shape, dtype=dtype)
    one, log = run(lambda x: [nn.softmax(x, axis), nn.log_softmax(x, axis)], x)
    close(one, torch.softmax(torch.tensor(x).float(), axis), dtype)
    close(log, torch.log_softmax(torch.tensor(x).float(), axis), dtype)


def test_softmax_of_large_numbers():
    x = np.array([[1e4, 1e4, 0], [-1e4, -1e4, -1e4]], "float32")
    close(run(nn.softmax, x), torch.softmax(torch.tensor(x), -1))


@pytest.mark.parametrize("shapes", [[("n", 17)], [("n", "m")]])
def test_softmax_of_symbolic_sizes(shapes):
    x = random(5, 17)
    close(run(nn.softmax, x, shapes=shapes, like=x), torch.softmax(torch.tensor(x), -1))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("axis", [(-1,), (1, 2)])
def test_layer_norm(axis, dtype):
    x = random(5, 3, 17, dtype=dtype)
    shape = x.shape[-len(axis) :]
    gamma, beta = random(*shape, dtype=dtype, seed=1), random(*shape, dtype=dtype, seed=2)
    wanted = functional.layer_norm(
        *(torch.tensor(v).float() if not isinstance(v, tuple) else v for v in (x, shape, gamma, beta))
    )
    shapes = [("n", 3, 17), gamma.shape, gamma.shape]
    close(run(nn.layer_norm, x, gamma, beta, axis=axis, shapes=shapes, like=x), wanted, dtype)


def test_layer_norm_without_beta():
    x, gamma = random(4, 9), random(9, seed=1)
    close(run(nn.layer_norm, x, gamma), functional.layer_norm(torch.tensor(x), (9,), torch.tensor(gamma)))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rms_norm(dtype):
    x, w = random(5, 3, 16, dtype=dtype), random(16, dtype=dtype, seed=1)
    wanted = functional.rms_norm(torch.tensor(x).float(), (16,), torch.tensor(w).float(), 1e-5)
    close(run(nn.rms_norm, x, w, shapes=[("n", 3, 16), (16,)], like=x), wanted, dtype)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(groups):
    x, gamma, beta = random(2, 6, 5, 3), random(6, seed=1), random(6, seed=2)
    wanted = functional.group_norm(torch.tensor(x), groups, torch.tensor(gamma), torch.tensor(beta))
    shapes = [("n", 6, 5, 3), (6,), (6,)]
    close(run(nn.group_norm, x, gamma, beta, num_groups=groups, shapes=shapes, like=x), wanted)


def test_instance_norm():
    x, gamma, beta = random(2, 3, 5, 7), random(3, seed=1), random(3, seed=2)
    wanted = functional.instance_norm(torch.tensor(x), weight=torch.tensor(gamma), bias=torch.tensor(beta))
    close(run(nn.instance_norm, x, gamma, beta), wanted)


@pytest.mark.parametrize("axis", [1, -1])
def test_batch_norm(axis):
    x = random(2, 5, 3, 5)
    gamma, beta, mean, var = (random(5, seed=s) for s in range(4))
    var = np.abs(var)
    given = torch.tensor(x if axis == 1 else x.swapaxes(1, 3))
    wanted = functional.batch_norm(given, *(torch.tensor(v) for v in (mean, var, gamma, beta)))
    got = run(lambda *t: nn.batch_norm(*t, axis=axis)[0], x, gamma, beta, mean, var,
              shapes=[("n", 5, 3, 5), *[(5,)] * 4], like=x)  # fmt: skip
    close(got, wanted if axis == 1 else wanted.swapaxes(1, 3))


@pytest.mark.parametrize(("function", "count"), [(nn.softmax, 1), (nn.layer_norm, 3), (nn.rms_norm, 2)])
@pytest.mark.parametrize("rows", [32, "n"])
def test_schedules(function, count, rows):
    assert set(picked(function, (rows, 64), *[(64,)] * (count - 1))) == {"rowwise"}
