"""Raise a `VerifyError` for an op that violates a verifier rule, and the points at which it does, by names of loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.certainty import decider
from tir_mlir.dialect.diagnostics import Counterexample, VerifyError
from tir_mlir.dialect.ir import Block, Index, Loop, attrs, is_block, is_loop, parents
from tir_mlir.dialect.presburger import Domain, dim_type, smallest_point


def fail(
    op: ir.Operation, rule: str, message: str, counterexample: Counterexample | None = None, provable: bool = True
) -> NoReturn:
    """Raise for an op that breaks `rule`, or, if not `provable`, of which it is undecided."""
    raise VerifyError(message, rule, op.location, attrs.get(op, attrs.ID), counterexample, provable)


def fail_undecided(op: ir.Operation, rule: str, claim: str) -> NoReturn:
    """Raise for an op that may break a rule, as data, or a binding that is not affine, decides where it runs."""
    fail(op, rule, f"it is not provable that {claim}: {decider(op)} decides what runs", provable=False)


def example(dom: Domain, points: isl.Set, index: Index, op: ir.Operation) -> tuple[tuple[tuple[str, int], ...], int]:
    """The smallest point of a set, by loop names, and the value of an expression there."""
    point = smallest_point(points) or []
    shift = len(point) - len(dom.dims)
    names = [*dom.params, *names_of(dom, op)]
    relation = isl.Map.from_aff(dom.aff(index))
    for i, value in enumerate(point[:shift]):
        relation = relation.fix_val(dim_type.param, i, isl.Val(value))
    for i, value in enumerate(point[shift:]):
        relation = relation.fix_val(dim_type.in_, i, isl.Val(value))
    image = smallest_point(relation.range()) or [0]
    return tuple(zip(names, point, strict=False)), image[-1]


def coordinates_text(values: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} = {v}" for n, v in values) or "every point"


def names_of(dom: Domain, op: ir.Operation) -> list[str]:
    """Names of a domain's dimensions: loops and iters around an op."""
    name_of: dict[ir.Value, str] = {}
    for parent in parents(op):
        if is_loop(parent):
            name_of[Loop(parent).var] = Loop(parent).name
        elif is_block(parent):
            name_of |= {i.var: i.name for i in Block(parent).iters}
    return [name_of.get(v, "?") for v in dom.dims]
