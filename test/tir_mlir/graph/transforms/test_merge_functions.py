"""TensorIR functions that are called one after the other become one."""

from __future__ import annotations

import numpy as np

from tir_mlir import build
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.transforms.merge_functions import MergedCall, merge_functions
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse

TWICE = """
@T.prim_func
def twice(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    Y = T.alloc_buffer((4, 16), "float32")
    for i, j in T.grid(4, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj] + A[vi, vj]
    for i in T.serial(4, annotations={"prefetch": {"Y": 1, "B": 2}}):
        for j in range(16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Y[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = Y[vi, vj]
"""


def test_regions_and_prefetches_name_the_buffers_of_the_new_function():
    module = parse(TWICE).mlir
    with entered():
        calls = [MergedCall("twice", (("input", 0, 0),)), MergedCall("twice", (("call", 0, 0),))]
        name = merge_functions(module, "four_times", calls, [("call", 1, 0)])
    merged = IRModule(module)[name]
    script = merged.script()
    assert '{"prefetch": {"B_1": 2, "Y": 1}}' in script and '{"prefetch": {"B": 2, "Y_1": 1}}' in script
    assert "T.reads(Y_1[vi, vj])" in script and "T.writes(B_1[vi, vj])" in script
    x = np.random.default_rng(0).random((4, 16), np.float32)
    y = np.empty_like(x)
    build(merged)(x, y)
    np.testing.assert_array_equal(y, 4 * x)
