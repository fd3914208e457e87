"""Elements replaced at positions that are data, and elements in order, beside torch."""

import numpy as np
import pytest
from harness.operators import placeholders, random, run

from tir_mlir import build, te, topi

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def updated(function, *arrays, shapes=None):
    """The result of an operator that is left as it is, serially."""
    inputs = placeholders(arrays, shapes)
    made, out = function(*inputs), np.empty_like(arrays[0])
    build(te.create_prim_func([*inputs, made]))(*arrays, out)
    return out


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("reduction", "name"), [("update", None), ("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")]
)
def test_scatter_elements(axis, reduction, name):
    x, new = random(5, 4), random(3, 4, seed=1)
    at = np.array([[0, 1, 2, 3], [2, 2, 0, 1], [3, 0, 1, 0]], "int64")
    given = torch.tensor(x)
    arguments = (axis, torch.tensor(at), torch.tensor(new))
    wanted = given.scatter(*arguments) if name is None else given.scatter_reduce(*arguments, name)
    got = updated(lambda *t: topi.scatter_elements(*t, axis=axis, reduction=reduction), x, at, new)
    np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-6)


def test_the_last_of_equal_positions_stays_and_those_beyond_write_nothing():
    x, new, at = random(4, 3), random(5, 3, seed=1), np.array([[1], [9], [1], [-1], [-9]], "int32")
    wanted = x.copy()
    wanted[1], wanted[3] = new[2], new[3]
    np.testing.assert_array_equal(updated(topi.scatter_nd, x, at, new), wanted)


@pytest.mark.parametrize("shapes", [None, [("b", "most", 2, 3), (1, "new"), ("b", "new", 2, 3)]])
def test_a_cache_is_updated_at_a_position(shapes):
    cache, new, at = random(2, 9, 2, 3), random(2, 4, 2, 3, seed=1), np.array([[5, 6, 7, 8]], "int64")
    rows = np.array([[0], [1]], "int64")
    wanted = cache.copy()
    wanted[:, 5:9] = new
    shapes = shapes and [shapes[0], ("b", 1), *shapes[1:]]
    got = updated(lambda c, r, p, n: topi.index_put(c, [r, p], n), cache, rows, at, new, shapes=shapes)
    np.testing.assert_array_equal(got, wanted)


def test_values_are_added():
    x, at, new = random(4, 3), np.array([0, 2, 0], "int32"), random(3, 3, seed=1)
    wanted = x.copy()
    np.add.at(wanted, at, new)
    got = updated(lambda x, at, new: topi.index_put(x, [at], new, accumulate=True), x, at, new)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize(("start", "end", "step"), [(1, 4, 1), (0, None, 2), (-3, -1, 1)])
def test_a_slice_is_replaced(start, end, step):
    x = random(3, 6)
    new = random(*x[:, start:end:step].shape, seed=1)
    wanted = x.copy()
    wanted[:, start:end:step] = new
    got = run(lambda x, new: topi.slice_scatter(x, new, start, end, step, 1), x, new)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("shape", "axis", "k"), [((3, 9), -1, 4), ((5, 2), 0, 5), ((1, 1), 1, 1)])
def test_topk(shape, axis, k, largest):
    x = random(*shape)
    values, where = run(lambda x: topi.topk(x, k, axis, largest=largest), x)
    wanted = torch.topk(torch.tensor(x), k, axis, largest)
    np.testing.assert_array_equal(values, wanted.values.numpy())
    np.testing.assert_array_equal(where, wanted.indices.numpy())


@pytest.mark.parametrize("descending", [False, True])
def test_sort(descending):
    x = random(4, 17, dtype="int8")
    order, values = run(lambda x: [topi.argsort(x, 1, descending), topi.sort(x, 1, descending)], x)
    wanted = torch.sort(torch.tensor(x), dim=1, descending=descending, stable=True)
    np.testing.assert_array_equal(order, wanted.indices.numpy())
    np.testing.assert_array_equal(values, wanted.values.numpy())
