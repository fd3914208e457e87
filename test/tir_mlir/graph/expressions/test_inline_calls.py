"""Graphs that call graphs are built: what is called becomes part of them, in their sizes."""

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.inline_graphs import inlined_calls
from tir_mlir.script import parse

RNG = np.random.default_rng(33)


MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * T.float32(2)

    @R.function(private=True)
    def group(x: R.Tensor(("n",), "float32")):
        return R.exp(x)

    @R.function
    def parts(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        lv = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n,), "float32"))
        rows = R.reshape(lv, (n, 1))
        return (rows, lv)

    @R.function
    def length(v: R.Tensor(("k",), "float32")):
        lv = cls.parts(v)
        squares = R.multiply(lv[1], lv[1])
        return R.sum(squares)

    @R.function
    def main(a: R.Tensor(("m",), "float32"), b: R.Tensor((3,), "float32")):
        both = R.concat((a, a))
        gv = cls.length(both)
        rows = cls.parts(b)
        ex = cls.group(b)
        return (gv, rows[0], ex, cls.length(b))
"""


@pytest.fixture(scope="module")
def module():
    return parse(MODULE)


def test_calls_of_graphs_with_other_sizes(module):
    a, b = RNG.standard_normal(4).astype(np.float32), RNG.standard_normal(3).astype(np.float32)
    length, rows, ex, other = build(module["main"])(a, b)
    np.testing.assert_allclose(length, 8 * (a * a).sum(), rtol=1e-5)
    np.testing.assert_array_equal(rows, 2 * b.reshape(3, 1))
    np.testing.assert_allclose(ex, np.exp(b), rtol=1e-5)
    np.testing.assert_allclose(other, 4 * (b * b).sum(), rtol=1e-5)


def test_what_is_inlined(module):
    """Calls with numbers when the module is written, the others when the graph is built; groups stay."""
    calls = [str(b.value) for b in module["main"].body.bindings if "cls." in str(b.value)]
    assert calls == ["cls.length(both)", "R.call_tir(cls.double, (b,))", "R.call_tir(cls.double, (b,))"]
    whole = inlined_calls(Graph(module, name="length")).module
    inlined = whole.graphs["length"]
    assert next(str(b.value) for b in inlined.body.bindings) == "R.call_tir(cls.double, (v,))"
    assert list(inlined.isolated_module) == ["double", "length"]
    assert whole.graphs["group"].isolated_module.equal(module["group"].isolated_module)
    assert parse(module.script()).equal(module)


@pytest.mark.parametrize("steps", ["R.permute_dims(R.reshape(lv, (n + m, 2, 2)), [0, 2, 1])", "R.exp(R.add(lv, lv))"])
def test_sums_of_sizes(steps):
    x, y = (RNG.standard_normal((k, 4)).astype(np.float32) for k in (2, 3))
    graph = parse(
        f"""
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
    n, m = T.int64(), T.int64()
    lv = R.concat((x, y))
    return {steps}
"""
    )["main"]
    both = np.concatenate((x, y))
    expected = both.reshape(5, 2, 2).transpose(0, 2, 1) if "permute" in steps else np.exp(both + both)
    np.testing.assert_allclose(build(graph)(x, y), expected, rtol=1e-5)
