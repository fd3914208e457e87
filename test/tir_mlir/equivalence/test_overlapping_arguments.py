"""Functions with `tir.noalias = False` are also compared on arguments that overlap."""

from __future__ import annotations

import pytest
from harness import scripts

from tir_mlir import Schedule
from tir_mlir.equivalence.compare import equivalent

BODY = """
T.func_attr({{"tir.noalias": {noalias}}})
for i in range(16):
    with T.block("B"):
        vi = T.axis.spatial(16, {value})
        B[vi] = A[vi] + T.float32(1)
"""
PARAMS = "A: T.Buffer((16,)), B: T.Buffer((16,))"


def _program(noalias: bool, value: str = "i", params: str = PARAMS):
    return scripts.function(BODY.format(noalias=noalias, value=value), params)


def test_another_order_differs_where_arguments_overlap() -> None:
    found = equivalent(_program(False), _program(False, "15 - i"))
    assert not found
    assert "with arguments that overlap, starting 1 element apart: B[" in str(found.difference)


def test_distinct_buffers_are_not_overlaid() -> None:
    found = equivalent(_program(True), _program(True, "15 - i"))
    assert found and "overlapping" not in str(found)


def test_buffers_of_other_types_are_not_overlaid() -> None:
    params = PARAMS.replace("B: T.Buffer((16,)", 'B: T.Buffer((16,), "float64"')
    body = BODY.replace("A[vi]", 'T.Cast("float64", A[vi])').replace("T.float32(1)", "T.float64(1)")
    sides = [scripts.function(body.format(noalias=False, value=value), params) for value in ("i", "15 - i")]
    found = equivalent(*sides)
    assert "overlapping" not in str(found)


@pytest.mark.parametrize("step", ["split", "unroll"])
def test_steps_that_keep_the_order_verify(step: str) -> None:
    sch = Schedule(_program(False))
    (i,) = sch.get_loops("B")
    sch.split(i, [None, 5]) if step == "split" else sch.unroll(i)
    found = sch.verify()
    assert found and "also with overlapping arguments" in str(found)


def test_symbolic_sizes() -> None:
    body = BODY.replace("16", "n").replace("16", "n")
    sides = [
        scripts.function(body.format(noalias=False, value=v), "A: T.Buffer((n,)), B: T.Buffer((n,)), n: T.int32")
        for v in ("i", "n - 1 - i")
    ]
    assert not equivalent(*sides)
