"""Whether accesses certainly happen as their regions say: only then is a conflict a counterexample.

A loaded index, a call or a condition on data makes a region an over-approximation. Where such regions meet, it is
undecided whether the accesses do: a step that depends on it is not provable, rather than illegal.
"""

from __future__ import annotations

from collections.abc import Iterable

from tir_mlir.dialect.analysis.accesses import Access, access_domain
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer


def doubt(access: Access) -> str:
    """Why an access may not touch all of its region, as part of a sentence; "" if it certainly does."""
    name = Buffer(access.buffer).name
    if not access.exact:
        if access.op.name in ("memref.load", "memref.store"):
            return f"an index of {name} is computed from data"
        return f"which elements of {name} a call accesses is not known"
    return "" if access_domain(access).exact else f"a condition on data decides whether {name} is accessed"


def require_certain(found: Iterable[Access], question: str) -> None:
    """Raise NotProvable unless all accesses certainly happen; `question`: what their conflict would answer."""
    for access in found:
        if why := doubt(access):
            raise NotProvable(f"{question}: undecided, {why}")
