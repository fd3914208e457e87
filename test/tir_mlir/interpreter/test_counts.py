"""Loads, stores and operations on floats: as many as there are."""

import numpy as np
from programs.parsed import parse
from programs.products import summed_product
from programs.short import each, main

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.ir import enter_context
from tir_mlir.interpreter import Counts
from tir_mlir.passes.lower import LOWERINGS, pipeline

STENCIL = main(
    "A:18 B:16; T_:17",
    each("T:17", "T_[vi] = A[vi] + A[vi + 1]"),
    each("B:16", "B[vi] = T.max(T_[vi] * T_[vi + 1], T.float32(0)) + T.sqrt(T_[vi])"),
)


def f32(*shape):
    return np.ones(shape, np.float32)


def test_a_product():
    report = interpret(summed_product(5, 6, 7), f32(5, 7), f32(7, 6), f32(5, 6))
    assert report["A"] == report["B"] == Counts(loads=210)
    assert report["C"] == Counts(loads=210, stores=210 + 30, flops=420)
    assert report.runs == {"C": 210}
    assert report.total == Counts(630, 240, 420)


def test_a_stencil_and_the_buffer_that_an_operation_is_for():
    report = interpret(parse(STENCIL), f32(18), f32(16))
    assert report["A"] == Counts(loads=34)
    assert report["T_"] == Counts(loads=48, stores=17, flops=17)
    assert report["B"] == Counts(stores=16, flops=4 * 16)


def test_lanes_and_masked_ones_count_one_by_one():
    sch = Schedule(summed_product(3, 19, 5))
    _, j, k = sch.get_loops("C")
    _outer, inner = sch.split(j, [None, 8])
    sch.reorder(k, inner)
    sch.decompose_reduction("C", k)
    sch.vectorize(inner)
    with enter_context():
        module = sch.mod.clone().mlir
        for name in pipeline.MODULE_PASSES[: pipeline.MODULE_PASSES.index("tir-lower-scopes")]:
            LOWERINGS[name].run(module)
        assert "vector<8xf32>" in str(module)
    report = interpret(module, f32(3, 5), f32(5, 19), f32(3, 19))
    assert report["B"].loads == 3 * 5 * 19
    assert report["C"] == Counts(loads=3 * 5 * 19, stores=3 * 19 + 3 * 5 * 19, flops=2 * 3 * 5 * 19)


def test_the_table():
    text = str(interpret(summed_product(5, 6, 7), f32(5, 7), f32(7, 6), f32(5, 6)))
    assert text.splitlines() == [
        "main   loads  stores  flops",
        "A        210       0      0",
        "B        210       0      0",
        "C        210     240    420",
        "total    630     240    420",
        "blocks run: C 210",
    ]
    from rich.console import Console

    console = Console(width=60, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(interpret(summed_product(2, 2, 2), f32(2, 2), f32(2, 2), f32(2, 2)))
    assert "blocks run: C 8" in console.export_text()
