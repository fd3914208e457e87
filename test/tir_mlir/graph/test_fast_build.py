"""Models that are ready soon: `optimize="fast"`."""

from __future__ import annotations

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp
from harness.graphs import graph_of

from tir_mlir import build
from tir_mlir.dialect.diagnostics import BuildError, GraphError
from tir_mlir.dialect.ir import attrs
from tir_mlir.graph.compile import compile_graph
from tir_mlir.script import tir as T
from tir_mlir.targets import BuildOptions


def test_a_model_has_plain_schedules_and_the_same_outputs():
    graph, x = mlp(3), random(3, 33)
    model = build(graph, threads=1, optimize="fast")
    assert all(origin.startswith("written directly") for origin, _ in model.schedules.values())
    np.testing.assert_allclose(model(x), run_mlp(graph, x), rtol=1e-4, atol=1e-5)


@pytest.mark.nightly
def test_each_stage_keeps_what_is_computed():
    def write(b, x):
        weight = b.weight("w", np.random.default_rng(3).integers(-3, 4, (8, 4, 3, 3)).astype("float32"))
        return b.op("nn.relu", b.op("nn.conv2d", x, weight, padding=1))

    options = BuildOptions(threads=1, optimize="fast", cache=False)
    compiled = compile_graph(graph_of(write, (1, 4, 5, 5)), options=options, verify=True)
    assert attrs.DIRECT in compiled.text()


def test_a_profile_has_the_functions_that_are_written_directly():
    model = build(mlp(3), threads=1, optimize="fast")
    assert {row.function for row in model.profile(random(3, 33), rounds=1)} == set(model.schedules)


def test_both_are_kept_apart_in_the_cache():
    graph = mlp(2, (9, 5))
    origins = {build(graph, threads=1, optimize=optimize).schedules.popitem()[1][0] for optimize in ("full", "fast")}
    assert len(origins) == 2


@pytest.mark.parametrize("value", ["quick", 3, True])
def test_another_value_is_refused(value):
    with pytest.raises(GraphError, match=r'optimize is "full", for a model .* or "fast", .*, not'):
        build(mlp(), optimize=value)


def test_programs_have_their_own_schedules():
    @T.prim_func
    def scale(A: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = A[vi] * T.float32(2)

    with pytest.raises(BuildError, match="optimize is for graphs; fix: schedule the program"):
        build(scale, optimize="fast")  # pyright: ignore[reportArgumentType]
