"""Profiles of models: the time of each call, and what it computes."""

import numpy as np
import pytest
from harness.graph_cases import mlp, random

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.profiling.profile import bandwidth, least_seconds, peak


@pytest.fixture(scope="module")
def profiled():
    return build(mlp(17, (64, 48, 10)), threads=1).profile(random(17, 64), rounds=3)


def test_each_call_is_timed(profiled):
    model = build(mlp(17, (64, 48, 10)), threads=1)
    assert [call.name for call in profiled] == [call.name for call in model.plan.calls]
    assert all(call.seconds > 0 for call in profiled)


def test_operations_and_bytes_are_counted(profiled):
    dense = 2 * 17 * (64 * 48 + 48 * 10)
    assert dense <= sum(call.flops for call in profiled) <= dense + 3 * 17 * 58
    assert sum(call.moved for call in profiled) >= 4 * (17 * 64 + 64 * 48 + 48 * 10 + 17 * 10)


def test_it_prints_as_a_table(profiled):
    lines = repr(profiled).splitlines()
    assert lines[0].endswith(f"us in {len(profiled)} calls")
    assert lines[1].split() == ["function", "calls", "us", "share", "GFLOP/s", "GB/s", "of", "roof"]
    assert len(lines) == 2 + len({call.function for call in profiled})


def test_it_is_drawn(profiled):
    assert all(name in str(profiled.roofline().svg) for name, _ in profiled.by_function())


def test_a_size_from_data_within_another():
    """The greatest number of the second one is that of the first."""
    b = GraphBuilder("main")
    x = b.input("x", (64, 3))
    for size in ("u0", "u1"):
        positive = b.op("astype", b.op("greater", x, b.constant(np.float32(0))), dtype="int64")
        x = b.op("first_rows", x, b.op("sum", positive), rows={"size": size}, least=0)
    b.output(b.op("sum", x))
    assert all(call.seconds > 0 for call in build(b.finish(), threads=1).profile(random(64, 3), rounds=1))


@pytest.mark.nightly
def test_symbolic_sizes_have_no_operations():
    found = build(mlp("n"), threads=1).profile(random(3, 33), rounds=2)
    assert all(call.flops is None for call in found)
    assert " - " in repr(found)


def test_wrong_inputs_are_refused():
    with pytest.raises(ArgumentError, match="needed"):
        build(mlp(), threads=1).profile(random(2, 33))


def test_roofs_are_positive():
    assert peak() > 1e8
    assert least_seconds(1e9, 0.0) == pytest.approx(1e9 / peak())
    assert bandwidth(1 << 40) > 1e7
