"""Bars, graphs and arenas: what the pictures say of the runs, nodes and buffers."""

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.graph import GraphBuilder
from tir_mlir.visual import bars


def test_bars_are_to_scale():
    picture = bars([("as written", 3.0), ("tiled", 1.5)], "ms", "Product", "a machine")
    assert picture.description == "as written: 3 ms; tiled: 1.5 ms"
    widths = [float(part.split('width="')[1].split('"')[0]) for part in picture.body.split("<rect")[1:]]
    assert widths[0] == 2 * widths[1]


@pytest.mark.parametrize("rows", [[], [("x", 0)], [("x", float("nan"))]])
def test_bars_without_positive_numbers_are_refused(rows):
    with pytest.raises(ValueError, match="bars: "):
        bars(rows, "ms", "nothing")


def test_a_graph_and_its_arena():
    b = GraphBuilder("main")
    x, w = b.input("x", (8, 64)), b.weight("w", np.ones((64, 64), np.float32))
    first = b.op("nn.softmax", b.op("nn.dense", x, w))
    b.output(b.op("sum", b.op("nn.dense", b.op("add", first, x), w), axis=1))
    graph = b.finish()
    assert graph.plot().description == "nn.dense -> nn.softmax -> add -> nn.dense -> sum"
    memory = build(graph, threads=1).memory
    assert f"{memory.buffers} buffers in {memory.arena:,} bytes" in memory.plot().svg
    assert max(b.offset + b.size for b in memory.drawn) <= memory.arena


@pytest.mark.nightly
def test_an_arena_of_named_sizes_is_not_drawn():
    b = GraphBuilder("main")
    x, w = b.input("x", ("n", 64)), b.weight("w", np.ones((8, 64), np.float32))
    b.output(b.op("nn.dense", b.op("nn.softmax", x), w))
    with pytest.raises(ValueError, match="sizes that are numbers"):
        build(b.finish(), threads=1).memory.plot()
