"""How a broken rule of the encoding is told."""

from __future__ import annotations

from typing import NoReturn

from mlir import ir

from tir_mlir.dialect import attrs
from tir_mlir.dialect.counterexample import Counterexample
from tir_mlir.dialect.errors import VerifyError


def fail(op: ir.Operation, rule: str, message: str, counterexample: Counterexample | None = None) -> NoReturn:
    """Raise for an op that breaks `rule`."""
    raise VerifyError(message, rule, op.location, attrs.get(op, attrs.ID), counterexample)
