"""Code that is written directly, without a schedule: the same results as by the passes; what it is not for."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graphs import graph_of

from tir_mlir import build
from tir_mlir.dialect.ir import attrs, enter_context, funcs
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.transforms.schedule_functions import with_plain_schedules
from tir_mlir.passes.lower.direct.code import direct_code, is_direct
from tir_mlir.passes.lower.direct.nests import VectorRegisters
from tir_mlir.script import tir as T
from tir_mlir.targets import BuildOptions

pytestmark = pytest.mark.filterwarnings("ignore::tir_mlir.passes.lower.LoweringWarning")
REGISTERS = VectorRegisters(8, 8)


def weight(b, *shape):
    values = np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")
    return b.weight(f"w{'_'.join(map(str, shape))}", values)


def convolution(b, x):
    return b.op("nn.relu", b.op("nn.conv2d", x, weight(b, 37, 4, 3, 3), padding=1, strides=2))


def depthwise(b, x):
    return b.op("nn.conv2d", x, weight(b, 4, 1, 3, 3), padding=1, groups=4)


def dense(b, x):
    return b.op("nn.dense", b.op("reshape", x, shape=(4, 81)), weight(b, 45, 81))


def pool(b, x):
    return b.op("nn.max_pool2d", x, pool_size=3, strides=2, padding=1)


def mean(b, x):
    return b.op("mean", x, axis=[2, 3])


def rearranged(b, x):
    return b.op("add", b.op("permute_dims", x, axes=[0, 3, 2, 1]), weight(b, 9, 1))


def standardized(b, x):
    return b.op("nn.layer_norm", x, weight(b, 9), b.weight("beta", np.ones(9, "float32")), axis=[-1])


@pytest.mark.few(1)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("write", [convolution, depthwise, dense, pool, mean, rearranged, standardized])
def test_results_are_those_of_the_full_build(write, threads):
    graph = graph_of(write, (1, 4, 9, 9))
    fast = build(graph, threads=threads, optimize="fast")
    assert any(origin.startswith("written directly") for origin, _ in fast.schedules.values())
    x = np.random.default_rng(1).standard_normal((1, 4, 9, 9)).astype("float32")
    np.testing.assert_allclose(fast(x), build(graph, threads=threads)(x), rtol=1e-4, atol=1e-5)


def test_threads_share_a_large_nest():
    def write(b, x):
        return b.op("nn.dense", x, weight(b, 200, 300))

    graph = graph_of(write, (70, 300))
    x = np.random.default_rng(1).standard_normal((70, 300)).astype("float32")
    fast = build(graph, threads=2, optimize="fast")
    with enter_context():
        direct = [f for f in funcs(fast.graph.module.mlir) if attrs.DIRECT in f.op.attributes]
        assert any(direct_code(func, "f", 2, REGISTERS).threads for func in direct)
        assert not any(direct_code(func, "f", 2, REGISTERS, shared_bytes=1e9).threads for func in direct)
    np.testing.assert_allclose(fast(x), build(graph, threads=2)(x), rtol=1e-4, atol=1e-4)


def test_a_model_is_exported_with_plain_schedules():
    options = BuildOptions(threads=1, optimize="fast", cache=False)
    compiled = compile_graph(graph_of(dense, (1, 4, 9, 9)), options=options)
    assert attrs.DIRECT in compiled.text()
    scheduled = with_plain_schedules(compiled, "llvm", 1)
    assert attrs.DIRECT not in scheduled.text()
    assert scheduled.verify(compiled)


@T.prim_func
def exponential(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.exp(A[vi])


@T.prim_func
def doubles(A: T.Buffer((8,), "float64"), B: T.Buffer((8,), "float64")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]


@T.prim_func
def sized(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]


@T.prim_func
def shifted(A: T.Buffer((8,), "float32"), B: T.Buffer((9,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi + 1] = A[vi]


@T.prim_func
def twice(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("again"):
            vi = T.axis.spatial(8, i)
            B[vi] = B[vi] + A[vi]


@pytest.mark.parametrize("function", [exponential, doubles, sized, shifted, twice])
def test_other_programs_take_the_way_of_the_passes(function):
    with enter_context():
        (func,) = funcs(function.module.mlir)
        assert not is_direct(func, REGISTERS)
