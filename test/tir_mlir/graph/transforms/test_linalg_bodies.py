"""Graphs as linalg on tensors: lowered and run by upstream passes only, the numbers are those of NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness.operators import random
from harness.stock_graphs import stock_graph

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import STAGES, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.runtime.tools import toolchain

Case = tuple[str, list[np.ndarray], dict[str, Any], Callable[..., Any]]


def f(*shape: int) -> np.ndarray:
    return random(*shape)


def pos(*shape: int) -> np.ndarray:
    return np.abs(random(*shape)) + np.float32(0.1)


def i64(*values: int) -> np.ndarray:
    return np.array(values, "int64")


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def convolved(x: np.ndarray, w: np.ndarray, stride: int, pad: int, groups: int = 1) -> np.ndarray:
    """NCHW, OIHW."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    (n, _, h, v), (o, i, r, s) = x.shape, w.shape
    out = np.zeros((n, o, (h - r) // stride + 1, (v - s) // stride + 1), "float32")
    for a, b in np.ndindex(r, s):
        part = x[:, :, a : a + h - r + 1 : stride, b : b + v - s + 1 : stride]
        for k in range(o):
            first = k // (o // groups) * i
            out[:, k] += np.einsum("nchw,c->nhw", part[:, first : first + i], w[k, :, a, b])
    return out


def pooled(x: np.ndarray, size: int, reduce: Any) -> np.ndarray:
    _n, _c, h, w = x.shape
    parts = [x[:, :, a : h - size + 1 + a, b : w - size + 1 + b] for a, b in np.ndindex(size, size)]
    return reduce(np.stack(parts), 0)


def normed(x: np.ndarray, axes: Any) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


X = random(3, 5, 7)
IMAGE = random(1, 4, 7, 9)
GROUPS: dict[str, list[Case]] = {
    "elementwise": [
        ("exp", [X], {}, np.exp),
        ("add", [f(3, 7), f(7)], {}, np.add),
        ("divide", [f(3, 1), pos(7)], {}, np.divide),
        ("maximum", [f(3, 7), f(3, 7)], {}, np.maximum),
        ("power", [pos(5), f(5)], {}, np.power),
        ("sigmoid", [f(3, 7)], {}, lambda x: 1 / (1 + np.exp(-x))),
        ("clip", [f(3, 7)], {"min": -0.5, "max": 0.25}, lambda x: np.clip(x, -0.5, 0.25)),
        ("astype", [f(3, 7) * 9], {"dtype": "int32"}, lambda x: x.astype("int32")),
        ("floor_divide", [random(3, 7, dtype="int32"), i64(-3).astype("int32")], {}, np.floor_divide),
        ("divide", [np.arange(247, 256, dtype="uint8"), np.full(9, 2, "uint8")], {}, lambda a, b: a // b),
        ("divide", [np.arange(-9, 0, dtype="int8"), np.full(9, 2, "int8")], {}, lambda a, b: np.trunc(a / b)),
        ("nn.relu", [f(3, 7)], {}, lambda x: np.maximum(x, 0)),
        ("nn.leakyrelu", [f(3, 7)], {"alpha": 0.1}, lambda x: np.where(x > 0, x, 0.1 * x)),
        ("nn.silu", [f(3, 7)], {}, lambda x: x / (1 + np.exp(-x))),
        ("nn.dropout", [f(3, 7)], {}, lambda x: x),
    ],
    "reductions": [
        ("sum", [X], {"axis": [0, 2]}, lambda x: x.sum((0, 2))),
        ("sum", [X], {}, np.sum),
        ("mean", [X], {"axis": 1, "keepdims": True}, lambda x: x.mean(1, keepdims=True)),
        ("max", [X], {"axis": -1}, lambda x: x.max(-1)),
        ("prod", [X], {"axis": 0}, lambda x: x.prod(0)),
        ("variance", [X], {"axis": 2}, lambda x: x.var(2)),
        ("argmax", [X], {"axis": 2}, lambda x: x.argmax(2)),
        ("argmin", [X], {"axis": 0}, lambda x: x.argmin(0)),
        ("cumsum", [X], {"axis": 1}, lambda x: x.cumsum(1)),
        ("nn.softmax", [X], {"axis": 1}, lambda x: softmax(x, 1)),
        ("nn.log_softmax", [X], {}, lambda x: np.log(softmax(x))),
        ("nn.layer_norm", [X, f(7), f(7)], {}, lambda x, g, b: normed(x, -1) * g + b),
        ("nn.rms_norm", [X, f(7)], {}, lambda x, g: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g),
        ("nn.group_norm", [f(2, 6, 5), f(6), f(6)], {"num_groups": 3, "axes": [2]},
         lambda x, g, b: normed(x.reshape(2, 3, 2, 5), (2, 3)).reshape(2, 6, 5) * g[:, None] + b[:, None]),
    ],
    "products": [
        ("matmul", [f(5, 7), f(7, 3)], {}, np.matmul),
        ("matmul", [f(2, 5, 7), f(2, 7, 3)], {}, np.matmul),
        ("matmul", [f(2, 1, 5, 7), f(3, 7, 1)], {}, np.matmul),
        ("nn.dense", [f(5, 7), f(3, 7)], {}, lambda x, w: x @ w.T),
        ("einsum", [f(2, 5), f(5, 3)], {"subscripts": "ik,kj->ji"}, lambda a, b: (a @ b).T),
        ("nn.conv2d", [IMAGE, f(6, 4, 3, 3)], {"padding": 1, "strides": 2}, lambda x, w: convolved(x, w, 2, 1)),
        ("nn.conv2d", [IMAGE, f(6, 2, 3, 3)], {"groups": 2}, lambda x, w: convolved(x, w, 1, 0, 2)),
        ("nn.conv2d", [IMAGE, f(4, 1, 3, 3)], {"groups": 4, "padding": 1}, lambda x, w: convolved(x, w, 1, 1, 4)),
        ("nn.max_pool2d", [IMAGE], {"pool_size": 3}, lambda x: pooled(x, 3, np.max)),
        ("nn.avg_pool2d", [IMAGE], {"pool_size": 2}, lambda x: pooled(x, 2, np.mean)),
        ("nn.adaptive_avg_pool2d", [IMAGE], {"output_size": 1}, lambda x: x.mean((2, 3), keepdims=True)),
        ("nn.attention", [f(1, 3, 2, 5), f(1, 7, 2, 5), f(1, 7, 2, 5)], {}, lambda q, k, v: np.einsum(
            "bhqk,bkhd->bqhd", softmax(np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(np.float32(5))), v)),
    ],
    "shapes": [
        ("reshape", [X], {"shape": (7, 15)}, lambda x: x.reshape(7, 15)),
        ("expand_dims", [X], {"axis": 1}, lambda x: x[:, None]),
        ("permute_dims", [X], {"axes": [2, 0, 1]}, lambda x: x.transpose(2, 0, 1)),
        ("broadcast_to", [f(5, 1)], {"shape": (3, 5, 2)}, lambda x: np.broadcast_to(x, (3, 5, 2))),
        ("concat", [f(2, 3), f(2, 4)], {"axis": 1}, lambda a, b: np.concatenate([a, b], 1)),
        ("stack", [f(2, 3), f(2, 3)], {"axis": 1}, lambda a, b: np.stack([a, b], 1)),
        ("split", [f(7, 3)], {"indices_or_sections": [2, 5]}, lambda x: np.split(x, [2, 5])),
        ("strided_slice", [X], {"axes": [1, 2], "begin": [4, 1], "end": [0, 7], "strides": [-2, 3]},
         lambda x: x[:, 4:0:-2, 1:7:3]),
        ("flip", [X], {"axis": 1}, lambda x: x[:, ::-1]),
        ("tile", [f(2, 3)], {"repeats": [2, 3]}, lambda x: np.tile(x, (2, 3))),
        ("roll", [f(7)], {"shift": 2, "axis": 0}, lambda x: np.roll(x, 2)),
        ("nn.pad", [f(2, 3)], {"pad_width": [0, 1, 2, 0], "pad_value": 1.5},
         lambda x: np.pad(x, ((0, 1), (2, 0)), constant_values=1.5)),
        ("take", [f(7, 3), i64(4, 0, 6)], {"axis": 0}, lambda x, i: x[i]),
        ("gather_elements", [f(4, 3), np.array([[0, 3, 1]])], {"axis": 0}, lambda x, i: np.take_along_axis(x, i, 0)),
        ("one_hot", [i64(2, 0)], {"depth": 3}, lambda i: np.eye(3, dtype="float32")[i]),
        ("arange", [], {"start": 1, "end": 8, "step": 2}, lambda: np.arange(1, 8, 2, dtype="float32")),
        ("tril", [f(5, 4)], {}, np.tril),
        ("full", [], {"shape": (3,), "fill_value": 2.5}, lambda: np.full(3, 2.5, "float32")),
    ],
    "by position": [
        ("scatter_elements", [f(4, 3), np.array([[0, 3, 1]]), f(1, 3)], {},
         lambda x, i, u: (y := x.copy(), np.put_along_axis(y, i, u, 0))[0]),
        ("index_put", [f(5), i64(3, 1), f(2)], {}, lambda x, i, u: (y := x.copy(), y.__setitem__(i, u))[0]),
        ("sort", [f(3, 7)], {"axis": 1}, lambda x: np.sort(x, 1)),
        ("argsort", [f(7)], {}, np.argsort),
    ],
}  # fmt: skip


@pytest.mark.parametrize("group", [pytest.param(g, marks=pytest.mark.nightly) if g != "shapes" else g for g in GROUPS])
def test_operators(group):
    builder = GraphBuilder()
    inputs, results, wanted = [], [], []
    for name, arrays, attributes, numpy in GROUPS[group]:
        values = [builder.input(f"x{len(inputs) + n}", a.shape, str(a.dtype)) for n, a in enumerate(arrays)]
        inputs += arrays
        made, right = builder.op(name, *values, **attributes), numpy(*arrays)
        results += made if isinstance(made, tuple) else [made]
        wanted += right if isinstance(right, (list, tuple)) else [right]
    builder.output(*results)
    graph = builder.finish().to_linalg()
    outputs = [np.zeros(tuple(map(int, r.shape)), r.dtype) for r in results]
    stock_graph(graph.text(), inputs, outputs)
    for value, out, right in zip(results, outputs, wanted, strict=True):
        np.testing.assert_allclose(out, right, rtol=2e-5, atol=2e-6, err_msg=str(value))


def bodies(graph: Graph) -> dict[str, list[str]]:
    """The ops on tensors in the body of each private function, in order."""
    found, name = {}, ""
    for line in graph.text().splitlines():
        if made := re.match(r"  func.func private @([\w.]+)\(", line):
            name = made[1]
            found[name] = []
        found.get(name, []).extend(re.findall(r"(?:= |^    +)((?:linalg|tensor|func|bufferization)\.\w+|call)\b", line))
    return {
        n: [op for op in ops if op not in ("tensor.empty", "tensor.dim", "linalg.yield")] for n, ops in found.items()
    }


def built(write: Callable[..., Any], *shapes: Any, dtype: str = "float32") -> Graph:
    builder = GraphBuilder()
    builder.output(write(builder, *(builder.input(f"x{n}", s, dtype) for n, s in enumerate(shapes))))
    return builder.finish()


def test_operators_are_named_ops_where_there_are():
    graph = built(lambda b, x, w: b.op("exp", b.op("nn.softmax", b.op("nn.dense", x, w))), (3, 7), (5, 7))
    found = bodies(graph.to_linalg())
    assert found["nn.dense"] == ["linalg.fill", "linalg.matmul"]
    assert found["nn.softmax"].count("linalg.fill") == 2
    assert {"linalg.broadcast", "linalg.div"} < set(found["nn.softmax"])


def test_a_reshape_moves_nothing():
    found = bodies(built(lambda b, x: b.op("reshape", x, shape=(2, 6)), (3, 4)).to_linalg())
    assert found == {"reshape": ["tensor.collapse_shape", "tensor.expand_shape"]}


def test_what_stores_by_position_is_called():
    graph = built(lambda b, x, i: b.op("scatter_elements", x, b.op("astype", i, dtype="int64"), x), (4, 3), (4, 3))
    found = bodies(graph.to_linalg())
    assert "bufferization.to_buffer" in found["scatter_elements"] and "linalg.generic" not in found["scatter_elements"]


def test_symbolic_sizes():
    """Two operators of one type in MLIR whose sizes relate in different ways."""
    builder = GraphBuilder()
    x, y = builder.input("x", ("n", 3)), builder.input("y", ("m", 3))
    builder.output(builder.op("concat", x, builder.op("nn.softmax", y)), builder.op("concat", x, x))
    a, b = f(2, 3), f(4, 3)
    one, other = np.zeros((6, 3), "float32"), np.zeros((4, 3), "float32")
    stock_graph(builder.finish().to_linalg().text(), [a, b], [one, other])
    np.testing.assert_allclose(one, np.concatenate([a, softmax(b)]), rtol=1e-6)
    np.testing.assert_array_equal(other, np.concatenate([a, a]))


def test_a_size_that_no_operand_has_is_refused():
    graph = built(lambda b, x: b.op("add", x, b.op("zeros", shape=("n",))), ("n",))
    with pytest.raises(GraphError, match="lv: zeros has no form on tensors: the size n is that of no operand; fix"):
        graph.to_linalg()


def test_bodies_change_nothing_for_a_build():
    graph = built(lambda b, x: b.op("nn.softmax", b.op("nn.relu", x)), ("n", 7))
    assert compile_graph(graph.to_linalg()).verify(graph)


@pytest.mark.parametrize("stage", ["legalize", pytest.param("fuse_tir", marks=pytest.mark.nightly)])
def test_programs_run_too(stage):
    """Of symbolic sizes once calls have bodies, which functions of TensorIR have for known sizes from the start."""

    def scale(x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda i, j: 3.0 * x[i, j])

    graph = built(lambda b, x, w: b.call_te(scale, b.op("nn.relu", b.op("nn.dense", x, w))), ("n", 7), (5, 7))
    text = compile_graph(graph, until=stage).to_linalg().text()
    x, w, y = f(3, 7), f(5, 7), np.zeros((3, 5), "float32")
    stock_graph(text, [x, w], [y])
    np.testing.assert_allclose(y, np.maximum(x @ w.T, 0) * 3, rtol=1e-5)


@pytest.mark.nightly
def test_mlir_opt_verifies_every_state():
    """Without unregistered dialects; a named function for each stage of a build."""

    def write(b: GraphBuilder, x: Any, w: Any) -> Any:
        h = b.op("nn.relu", b.op("nn.dense", x, w))
        return b.op("nn.softmax", b.op("scatter_elements", h, b.op("argsort", h, dtype="int64"), h))

    graph = built(write, ("n", 7), (5, 7))
    states = [graph, graph.to_linalg(), *(compile_graph(graph, until=stage.name) for stage in STAGES)]
    done = toolchain.attempt("mlir-opt", ["--split-input-file"], input="\n// -----\n".join(s.text() for s in states))
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.count("@main(") == len(states)
