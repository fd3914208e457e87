"""Attention whose weights are rounded for tiles of a CPU."""

import pytest

from tir_mlir.dialect.diagnostics import BuildWarning
from tir_mlir.graph import GraphBuilder, compile_graph
from tir_mlir.targets.stages import BuildOptions


def test_an_exact_comparison_warns_of_the_rounding():
    b = GraphBuilder()
    q, k, v = (b.input(name, (1, 32, 1, 32), "bfloat16") for name in "qkv")
    b.output(b.op("nn.attention", q, k, v))
    options = BuildOptions(target="sapphire_rapids", cache=False)
    with pytest.warns(BuildWarning, match=r"the stage short_attention rounds.*fix: after = compile_graph"):
        graph = compile_graph(b.finish(), until="short_attention", options=options, verify=True)
    assert 'weights_dtype="bfloat16"' in graph.script()
