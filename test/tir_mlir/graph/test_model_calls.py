"""Calls of a model: from several threads, with shapes that change, with torch tensors."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.builder import GraphBuilder


@pytest.mark.parametrize("batch", [5, "n"])
def test_threads_share_a_model(batch):
    graph = mlp(batch, (65, 64, 64, 10))
    model = build(graph, threads=1)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for k in range(30):
            x = random(5 if batch == 5 else 1 + (seed + k) % 7, 65, seed=seed)
            if not np.allclose(model(x), run_mlp(graph, x), rtol=1e-3, atol=1e-4):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_thread_allocates_its_arena_once():
    model = build(mlp("n"), threads=1)
    model(random(9, 33))
    arena = model._frames.arena
    for n in (9, 1, 5, 9):
        model(random(n, 33))
    assert model._frames.arena is arena


def test_torch_tensors_give_torch_tensors():
    torch = pytest.importorskip("torch")
    graph = mlp(3)
    x = random(3, 33)
    found = build(graph, threads=1)(torch.from_numpy(x))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), run_mlp(graph, x), rtol=1e-4, atol=1e-5)


def test_sizes_must_agree():
    b = GraphBuilder()
    b.output(b.op("add", b.input("x", ("n", 4)), b.input("y", ("n", 4))))
    model = build(b.finish(), threads=1)
    np.testing.assert_array_equal(model(np.ones((3, 4), "f"), np.ones((3, 4), "f")), np.full((3, 4), 2, "f"))
    with pytest.raises(ArgumentError, match=r"y.*has extent 2 in dimension 0; n = 3 is needed"):
        model(np.ones((3, 4), "f"), np.ones((2, 4), "f"))


def test_a_model_is_not_pickled():
    with pytest.raises(TypeError):
        pickle.dumps(build(mlp(), threads=1))


def test_the_signature_is_shown():
    assert repr(build(mlp("n"), threads=1)) == "<model main(x: (n, 33) float32) -> (n, 10) float32>"


def test_what_is_no_array_is_refused():
    with pytest.raises(ArgumentError, match=r"main: x is \[1, 2\]; fix: an array or a tensor"):
        build(mlp("n"), threads=1)([1, 2])
