"""Whether accesses certainly happen as their regions say: only then is a conflict a counterexample.

A loaded index, a call or a condition on data makes a region an over-approximation. Where such regions meet, it is
undecided whether the accesses do: a step that depends on it is not provable, rather than illegal.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access, access_domain
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, data_loop_name, is_data_loop, parents
from tir_mlir.dialect.ir.op_views import AccessOp, ApplyOp, AtomicOp, ComputedAccessOp, DimOp, isa


def doubt(access: Access) -> str:
    """Why an access may not touch all of its region, as part of a sentence; "" if it certainly does."""
    name = Buffer(access.buffer).name
    if not access.exact:
        if isa(access.op, ComputedAccessOp, AtomicOp):
            return (
                f"an index of {name} is computed from data"
                if from_data(access.op)
                else not_affine(Buffer(access.buffer))
            )
        if isa(access.op, AccessOp):
            return f"which elements of {name} an access of a view touches is not known"
        return f"which elements of {name} a call accesses is not known"
    return "" if access_domain(access).exact else f"{decider(access.op)} decides whether {name} is accessed"


def decider(op: ir.Operation) -> str:
    """What decides whether an op in a domain that is not exact runs, as part of a sentence."""
    over = next((p for p in parents(op) if is_data_loop(p)), None)
    name = "a condition on data" if over is None else data_loop_name(over)
    return f"{name}," if ", " in name else name


def not_affine(buffer: Buffer) -> str:
    """The doubt about an access at an index that is a product with a size, or a quotient by one."""
    return f"an index of {buffer.name} is not affine"


def require_certain(conflicting: Iterable[Access], question: str) -> None:
    """Raise NotProvable unless all accesses certainly happen; `question`: what their conflict would answer."""
    for access in conflicting:
        if why := doubt(access):
            raise NotProvable(f"{question}: undecided, {why}")


def from_data(op: ir.Operation) -> bool:
    """Whether an index of a load or store is computed from what a program loads, and not from sizes and iters only."""
    pending = [v for v in list(op.operands) if isinstance(v.type, ir.IndexType)]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block):
            if owner.owner.operation.name.startswith("scf."):
                return True
            continue
        if not (owner.name.startswith("arith.") or isa(owner, ApplyOp, DimOp)):
            return True
        pending += list(owner.operands) if not isa(owner, DimOp) else []
    return False
