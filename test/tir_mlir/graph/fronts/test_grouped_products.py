"""Rows times the matrix of their group: tiles of rows of one group each, matrices in panels."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.fronts.emitter import Emitter
from tir_mlir.graph.fronts.grouped_products import grouped_product


def _graph(rows, groups, weight):
    b = GraphBuilder()
    x, ends = b.input("x", (rows, weight.shape[1])), b.input("ends", (groups,), "int32")
    b.output(grouped_product(Emitter(b), x, b.weight("w", weight), ends))
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
def test_tiles_have_a_schedule_of_their_own():
    graph = _graph(48, 3, np.ones((3, 8, 32), "float32"))
    compiled = compile_graph(graph, verify=True)
    assert any("T_tiles: grouped_tiles" in note for note, _ in tir_mlir.build(compiled).schedules.values())
