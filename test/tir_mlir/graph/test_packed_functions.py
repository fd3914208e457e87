"""Graphs call registered functions of Python, and functions of C libraries."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import random

from tir_mlir import build
from tir_mlir.compat.global_functions import register_func
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.packed_functions import register_packed
from tir_mlir.runtime.tools import c_tools, toolchain


@register_packed("test.matmul", override=True)
def matmul(x, w, out):
    np.matmul(x, w, out=out)


def packed(name: str, rows: object = 4, last: bool = False) -> Graph:
    """relu(NAME(exp(x), w)); or NAME's result itself"""
    b = GraphBuilder()
    x, w = b.input("x", (rows, 6)), b.weight("w", random(6, 5))
    y = b.call_packed(name, [b.op("exp", x), w], [((rows, 5), "float32")])
    b.output(y if last else b.op("nn.relu", y))
    return b.finish()


@pytest.mark.parametrize("rows", [4, "n"])
def test_a_function_of_python(rows):
    model = build(packed("test.matmul", rows), threads=1)
    x = random(4, 6)
    np.testing.assert_allclose(model(x), np.maximum(np.exp(x) @ random(6, 5), 0), rtol=1e-5, atol=1e-5)


def test_a_function_of_python_at_the_end():
    x = random(4, 6)
    found = build(packed("test.matmul", last=True), threads=1)(x)
    np.testing.assert_allclose(found, np.exp(x) @ random(6, 5), rtol=1e-5, atol=1e-5)


def test_a_function_registered_under_tvms_name():
    register_func("test.compat_matmul", lambda x, w, out: out.copyfrom(x.numpy() @ w.numpy()), override=True)
    x = random(4, 6)
    found = build(packed("test.compat_matmul", last=True), threads=1)(x)
    np.testing.assert_allclose(found, np.exp(x) @ random(6, 5), rtol=1e-5, atol=1e-5)


def test_what_it_raises_comes_through():
    @register_packed("test.fails", override=True)
    def fails(*arrays):
        raise KeyError("as asked")

    model = build(packed("test.fails"), threads=1)
    with pytest.raises(KeyError, match="as asked"):
        model(random(4, 6))


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(GraphError, match=r"there is a packed function test.matmul already; fix: override=True"):
        register_packed("test.matmul", matmul)


def test_an_unknown_function_is_named():
    with pytest.raises(GraphError, match=r"test_nowhere, which is not registered; fix: .*libs.* _mlir_ciface_test_now"):
        build(packed("test_nowhere"), threads=1)


SOURCE = """
#include <stdint.h>
typedef struct { float *base, *data; int64_t offset, sizes[2], strides[2]; } matrix;
void _mlir_ciface_c_matmul(matrix *x, matrix *w, matrix *out) {
  for (int64_t i = 0; i < x->sizes[0]; i++)
    for (int64_t j = 0; j < w->sizes[1]; j++) {
      float sum = 0;
      for (int64_t k = 0; k < x->sizes[1]; k++)
        sum += x->data[x->offset + i * x->strides[0] + k] * w->data[w->offset + k * w->strides[0] + j];
      out->data[out->offset + i * out->strides[0] + j] = sum;
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("rows", [4, "n"])
def test_a_function_of_c(tmp_path, rows):
    source, library = tmp_path / "own.c", tmp_path / "own.so"
    source.write_text(SOURCE)
    compiled = str(tmp_path / "own.o")
    toolchain.run("zig", ["cc", "-c", "-O1", "-fPIC", "-fno-sanitize=all", str(source), "-o", compiled])
    c_tools.link_shared([compiled], str(library), [])
    x = random(4, 6)
    found = build(packed("c_matmul", rows), threads=1, libs=[library])(x)
    np.testing.assert_allclose(found, np.maximum(np.exp(x) @ random(6, 5), 0), rtol=1e-5, atol=1e-5)
