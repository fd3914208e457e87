"""Rows times the matrix of their group: tiles of rows of one group each, matrices in panels."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.importers.aten.aten_layers import grouped_rows
from tir_mlir.graph.importers.emitter import OperatorEmitter


def _graph(rows, groups, weight):
    b = GraphBuilder()
    dtype = "bfloat16" if weight.dtype == "uint16" else "float32"
    x, ends = b.input("x", (rows, weight.shape[1]), dtype), b.input("ends", (groups,), "int32")
    b.output(grouped_rows(OperatorEmitter(b), x, b.weight("w", weight, dtype=dtype), ends))
    return b.finish()


ENDS = [(1, 1, 37), (40, 40, 40), (0, 0, 40), (0, 3, 40), (0, 0, 0), (7, 16, 29), (50, 60, 70)]


@pytest.mark.parametrize("columns", [32, 24])
def test_each_row_is_multiplied_by_the_matrix_of_its_group(columns):
    rng = np.random.default_rng(0)
    x, w = rng.random((40, 8), dtype=np.float32), rng.random((3, 8, columns), dtype=np.float32)
    lib = tir_mlir.build(_graph(40, 3, w))
    for ends in ENDS:
        want, begin = np.zeros((40, columns), "float32"), 0
        for matrix, end in zip(w, ends, strict=True):
            want[begin:end] = x[begin:end] @ matrix
            begin = end
        np.testing.assert_allclose(lib(x, np.array(ends, "int32")), want, rtol=1e-5)


@pytest.mark.nightly
def test_bfloat16_has_tiles_of_16_rows():
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-8, 9, shape).astype("float32") for shape in ((50, 64), (3, 64, 64)))
    got = tir_mlir.build(_graph(50, 3, _bits(w)))(_bits(x), np.array([7, 40, 49], "int32"))
    want = np.concatenate([x[:7] @ w[0], x[7:40] @ w[1], x[40:49] @ w[2], np.zeros((1, 64), "float32")])
    np.testing.assert_allclose(_floats(got), want, rtol=2**-8)


def _bits(x):
    return (x.view("uint32") >> 16).astype("uint16")  # small integers: exact


def _floats(bits):
    return (np.asarray(bits).view("uint16").astype("uint32") << 16).view("float32")


@pytest.mark.nightly
@pytest.mark.parametrize(("dtype", "k"), [("float32", 8), ("float32", 32), ("uint16", 32)])
def test_tiles_have_a_schedule_of_their_own(dtype, k):
    graph = _graph(48, 3, np.ones((3, k, 32), dtype))
    compiled = compile_graph(graph, verify=True)
    assert any("T_tiles: grouped_tiles" in note for note, _ in tir_mlir.build(compiled).schedules.values())
