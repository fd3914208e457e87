"""True division in the prime field, and how much of `verify`'s time it takes."""

from __future__ import annotations

import pytest
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.equivalence.compare import compare
from tir_mlir.equivalence.work import work_of


def elementwise(value: str, n: int = 24):
    return program(f"A:{n} B:{n}", each(f"B i:{n}", f"B[vi] = {value}"))


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("A[vi] / 3.0 * 3.0", True),
        ("A[vi] / (A[vi] * A[vi] + 7.0) * (A[vi] * A[vi] + 7.0)", True),
        ("3.0 / (A[vi] + 5.0) * (A[vi] + 5.0) * A[vi] / 3.0", True),
        ("A[vi] / 3.0 * 3.5", False),
        ("A[vi] / (A[vi] - A[vi])", False),
    ],
)
def test_an_inverse_undoes_a_product(value, same):
    with enter_context():
        assert bool(compare(elementwise("A[vi]").mlir, elementwise(value).mlir)) == same


def test_an_inverse_of_zero_is_zero():
    with enter_context():
        assert compare(elementwise("A[vi] * 0.0").mlir, elementwise("1.0 / (A[vi] - A[vi])").mlir)


def test_divisions_count_as_work():
    sch = Schedule(elementwise("A[vi] / 3.0", 3 << 20))
    sch.split(sch.get_loops("B")[0], [None, 16])
    assert "sizes scaled" in str(sch.verify())
    with enter_context():
        modules = [elementwise(v) for v in ("A[vi] / 3.0", "A[vi] * 3.0")]
        assert [work_of(funcs(m.mlir)[0].op, {}) for m in modules] == [192, 24]
