"""Machines that are described with a product, and with a network, in few lines."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from programs.systolic import systolic

from tir_mlir import build

PROGRAMS = Path(__file__).parents[2] / "programs"


@pytest.mark.parametrize(
    ("name", "machine", "most"),
    [("machine_in_short", inspect.getsource(systolic), 60), ("course_in_short", "", 25)],
    ids=["systolic", "course"],
)
def test_their_lines_are_few(name: str, machine: str, most: int) -> None:
    lines = [*(PROGRAMS / f"{name}.py").read_text().splitlines()[1:], *machine.splitlines()]
    assert len([line for line in lines if line.strip()]) <= most


@pytest.mark.nightly
def test_a_product_and_a_network_are_mapped() -> None:
    from programs import machine_in_short as short

    assert short.product.timeline.utilization("execute") > 0.95
    assert short.network.offloaded.share == 1.0
    assert "no instruction" not in str(short.network.offloaded)  # the stores round, by a name of their description
    on_cpu = build(short.eight, threads=1)
    np.testing.assert_array_equal(short.network.build(threads=1)(short.batch), on_cpu(short.batch))


@pytest.mark.slow
def test_the_product_of_the_course_is_mapped() -> None:
    from programs.course_in_short import product

    assert product.timeline.utilization("tmm") > 0.99
