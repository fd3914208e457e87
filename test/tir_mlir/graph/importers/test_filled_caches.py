"""Attention to a cache reads the keys up to the last one that a query sees."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.importers import layers
from tir_mlir.graph.importers.emitter import OperatorEmitter

KEYS = 256


def graph(queries=2, keys=KEYS, times=1, dtype="bool", inside=False):
    """Queries that attend to a cache: the result is the query of the next layer."""
    b = GraphBuilder()
    cache = [b.input(name, (1, 2, keys, 8)) for name in "kv"]
    y, seen = b.input("q", (1, 4, queries, 8)), b.input("seen", (queries, keys), dtype)

    def layer(builder, y):
        e = OperatorEmitter(builder)
        for _ in range(times):
            y = layers.attention(e, y, *cache, e.reshape(seen, (1, 1, queries, keys)))
        return y

    p = b.input("p", (), "bool") if inside else None
    b.output(b.branch(p, lambda r: layer(r, r.read(y)), lambda r: r.read(y)) if inside else layer(b, y))
    return b.finish()


def arrays(filled, queries=2, keys=KEYS):
    """The operands: the first query sees `filled` keys, each other one more; what nobody sees is not a number."""
    draw = np.random.default_rng(0).standard_normal
    k, v, q = (draw(shape, "float32") for shape in [(1, 2, keys, 8)] * 2 + [(1, 4, queries, 8)])
    k[:, :, filled + queries - 1 :] = v[:, :, filled + queries - 1 :] = np.nan
    return k, v, q, np.arange(keys) < filled + np.arange(queries)[:, None]


def attended(k, v, q, seen):
    shown = int(seen.any(0).nonzero()[0].max()) + 1
    k, v = (np.repeat(x[:, :, :shown], 2, 1) for x in (k, v))
    scores = np.where(seen[:, :shown], q @ k.swapaxes(2, 3) / np.sqrt(8), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


@pytest.fixture(scope="module")
def model():
    return tir_mlir.build(graph(), threads=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("filled", [1, 63, 255])
def test_keys_that_no_query_sees_have_no_weight(model, filled):
    """Those of the block of the last one that is seen have the weight 0."""
    k, v, q, seen = arrays(filled)
    behind = -(-(filled + 1) // 64) * 64
    k[:, :, filled + 1 : behind] = v[:, :, filled + 1 : behind] = 7
    np.testing.assert_allclose(model(k, v, q, seen), attended(k, v, q, seen), rtol=1e-4, atol=1e-5)


def test_a_query_that_sees_nothing_has_the_mean_of_all_values(model):
    k, v, q, seen = arrays(255)
    seen[0] = False
    np.testing.assert_allclose(model(k, v, q, seen)[0, 0, 0], v[0, 0].mean(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({}, 1),
        ({"times": 3}, 1),  # one mask is counted once
        ({"dtype": "float32"}, 0),
        ({"keys": 128}, 0),
        ({"queries": KEYS}, 0),
    ],
)
def test_what_is_counted(options, counts):
    assert graph(**options).script().count("R.first_rows(") == counts


@pytest.mark.nightly
def test_each_stage_is_verified():
    compile_graph(graph(), verify=True)


@pytest.mark.nightly
def test_numbers_of_keys_that_are_no_whole_blocks():
    operands = arrays(100, 1, 301)
    run = tir_mlir.build(graph(1, 301), threads=1)
    np.testing.assert_allclose(run(*operands), attended(*operands), rtol=1e-4, atol=1e-5)


@pytest.mark.nightly
def test_in_a_branch():
    run, operands = tir_mlir.build(graph(inside=True), threads=1), arrays(127)
    np.testing.assert_allclose(run(*operands, np.array(True)), attended(*operands), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(run(*operands, np.array(False)), operands[2])
