"""Intervals decide the plain cases of the rules, and only those that hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mlir import ir
from programs.parsed import parse
from programs.short import each, main, nest, sblock

from tir_mlir.dialect.diagnostics import VerifyError
from tir_mlir.dialect.ir import all_blocks, enter_context, freeze_modules, ops
from tir_mlir.dialect.verify import rules, verify
from tir_mlir.dialect.verify.coverage import _fills_domain

TEXT = main(
    "A:64 B:64 C:1",
    each("b:64", "B[vi] = A[vi] + 1.0"),
    nest("k:64", sblock("c", "v0:1=0 vk:64R=k", "C[v0] = C[v0] + B[vk]", init="C[v0] = 0.0")),
)
SECOND = ("affine.parallel", 1)  # the second block, whose iter vk is reduce


@pytest.fixture
def module() -> Iterator[ir.Module]:
    module = parse(TEXT).mlir
    with enter_context():
        yield module


def test_plain_programs_need_no_key(module, monkeypatch):
    asked: list[ir.Operation] = []
    monkeypatch.setattr(rules, "_check_settled", asked.append)
    with freeze_modules():
        verify(module)
        assert all(_fills_domain(b) for b in all_blocks(module.operation))
    assert asked == []


@pytest.mark.parametrize(
    ("place", "maps", "rule"),
    [
        (("affine.for", 0), {"upperBoundMap": "() -> (65)"}, "domain"),
        (("affine.for", 0), {"upperBoundMap": "() -> (63)"}, "cover"),
        (("affine.for", 0), {"upperBoundMap": "() -> (0)"}, "cover"),
        (("affine.load", 0), {"map": "(d0) -> (d0 + 1)"}, "bounds"),
        (("affine.store", 0), {"map": "(d0) -> (d0 - 1)"}, "bounds"),
        (SECOND, {"lowerBoundsMap": "(d0) -> (0, -d0 + 63)", "upperBoundsMap": "(d0) -> (1, -d0 + 64)"}, "init"),
    ],
)
def test_near_misses_are_found(module, place, maps, rule):
    name, number = place
    op = [op for op in ops(module.operation) if op.name == name][number]
    for key, text in maps.items():
        op.attributes[key] = ir.Attribute.parse(f"affine_map<{text}>")
    with pytest.raises(VerifyError) as found:
        verify(module)
    assert found.value.rule == rule
