"""Calls of a model: from several threads, with shapes that change, with torch tensors."""

from __future__ import annotations

import pickle
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.model_parts import memory_of


@pytest.mark.nightly
def test_free_gives_the_arenas_of_all_threads_back():
    graph = mlp("n", (65, 64, 64, 10))
    model = build(graph, threads=1)
    with ThreadPoolExecutor(2) as threads:
        x = random(1000, 65)
        arenas = [weakref.ref(model._frames.arena) for _ in [model(x)]]
        arenas += [threads.submit(lambda: (model(x), weakref.ref(model._frames.arena))[1]).result()]
        assert all(arena().nbytes >= 64 * 4 * 1000 for arena in arenas)
        model.free()
        assert [arena() for arena in arenas] == [None, None]
        few = random(3, 65)
        for found in (model(few), threads.submit(model, few).result()):
            np.testing.assert_allclose(found, run_mlp(graph, few), rtol=1e-3, atol=1e-4)
        assert model._frames.arena.nbytes < 64 * 4 * 1000


@pytest.mark.nightly
@pytest.mark.few(1)
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


@pytest.mark.nightly
def test_threads_share_a_model_of_two_threads():
    graph = mlp(64, (784, 128, 10))
    model = build(graph, threads=2)
    assert any("T.parallel" in f.script() for f in model.graph.module.prim_funcs.values())
    given = [random(64, 784, seed=n) for n in range(4)]
    expected = [run_mlp(graph, x) for x in given]

    def work(n: int) -> bool:
        return all(np.allclose(model(given[n]), expected[n], rtol=1e-3, atol=1e-4) for _ in range(10))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_calls_leave_nothing_allocated_but_their_results():
    model = build(mlp("n"), threads=1)
    x = random(900, 33)
    kept = [model(x) for _ in range(3)]
    tracemalloc.start()
    try:
        kept = [model(x) for _ in range(3)]
        for _ in range(50):
            model(x)
        now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    results = sum(y.nbytes for y in kept)
    assert now < results + 20_000 and most < results + kept[0].nbytes + 20_000


def padded_convolution():
    """An image that is padded at once: it fits in a quarter of any L2."""
    b = GraphBuilder()
    x = b.input("x", (1, 24, 24, 16))
    kernel = b.weight("w", random(3, 3, 16, 1))
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWOI"}
    b.output(b.op("nn.conv2d", x, kernel, strides=1, padding=1, groups=16, **layouts))
    return b.finish()


def test_buffers_of_functions_are_in_the_arena():
    graph = padded_convolution()
    model = build(graph, threads=1)
    assert 26 * 26 * 16 * 4 <= model.memory.arena < 26 * 26 * 16 * 4 + 8192
    assert model.memory.scratch == 0
    assert "@malloc" not in model.library.lowered
    x, w = random(1, 24, 24, 16), graph.weights["w"]
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = sum(wide[:, i : i + 24, j : j + 24] * w[i, j, :, 0] for i in range(3) for j in range(3))
    np.testing.assert_allclose(model(x), expected, rtol=1e-4, atol=1e-4)
    assert len(model.profile(x, rounds=1)) == 1


def test_scratch_on_the_heap_is_told():
    memory = memory_of(build(mlp(), threads=1).plan, 5000)
    assert "scratch: 5,000 bytes in a call" in repr(memory)


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
