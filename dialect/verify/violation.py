"""Raise a `VerifyError` for an op that violates a verifier rule."""

from __future__ import annotations

from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.analysis.certainty import decider
from tir_mlir.dialect.diagnostics import Counterexample, VerifyError
from tir_mlir.dialect.ir import attrs


def fail(
    op: ir.Operation, rule: str, message: str, counterexample: Counterexample | None = None, provable: bool = True
) -> NoReturn:
    """Raise for an op that breaks `rule`, or, if not `provable`, of which it is undecided."""
    raise VerifyError(message, rule, op.location, attrs.get(op, attrs.ID), counterexample, provable)


def fail_undecided(op: ir.Operation, rule: str, claim: str) -> NoReturn:
    """Raise for an op that may break a rule, as data, or a binding that is not affine, decides where it runs."""
    fail(op, rule, f"it is not provable that {claim}: {decider(op)} decides what runs", provable=False)
