"""TensorIR functions that are called one after the other become one."""

import numpy as np
from programs.short import each, main, nest, sblock, under

from tir_mlir import build
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.transforms.merge_functions import MergedCall, merge_functions
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse

TWICE = main(
    "A:4x16 B:4x16 ; Y:4x16",
    each("Y:4x16", "Y[vi, vj] = A[vi, vj] + A[vi, vj]"),
    under(
        "for i in T.serial(4, annotations={'prefetch': {'Y': 1, 'B': 2}}):",
        nest("j:16", sblock("B", "SS i j", "T.reads(Y[vi, vj])", "T.writes(B[vi, vj])", "B[vi, vj] = Y[vi, vj]")),
    ),
    name="twice",
)


def test_regions_and_prefetches_name_the_buffers_of_the_new_function():
    module = parse(TWICE).mlir
    with enter_context():
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
