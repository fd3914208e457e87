"""Checks that values that are not affine are inside the domains of iters bound to them (`build(checked=True)`)."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import CheckedSite, LoweringError
from tir_mlir.dialect.ir import Block, Func, Loop, attrs, bound_value, is_block, owner_op, walk
from tir_mlir.dialect.ir.op_traits import IFS
from tir_mlir.passes.lower.memory.check_record import SITE, SLE, SLT, both, compare, record, value_of
from tir_mlir.passes.lower.registry import location_text


def mark_bindings(func: Func) -> None:
    """Mark every search for a bound value with its block and iter; a `where` that does not hold binds nothing.

    for %vi in domain: if %vi == %x:              if %c:
      if %c {tir.where}: block            -->       for %vi in domain {tir.site = ["b", "vi"]}: if %vi == %x: block
    """
    searches = [op for op in walk.ops(func.op) if bound_value(op) is not None]
    for op in searches:
        block = next((Block(o).name for o in walk.ops(op) if is_block(o)), "")
        attrs.put(op, SITE, [block, Loop(op).name])
    for op in searches:
        if not any(p in searches for p in walk.parents(op)):
            _lift_conditions(op)


def _lift_conditions(top: ir.Operation) -> None:
    """Move the conditions around the block of nested searches out of them, where they do not depend on the values."""
    while (guard := _condition(top)) is not None:
        for op in _body(guard):
            op.move_before(guard)
        guard.move_before(top)
        top.move_before(guard.regions[0].blocks[0].operations[0].operation)


def _condition(top: ir.Operation) -> ir.Operation | None:
    """The condition directly around the block of nested searches, if it may move out of them."""
    op = top
    while (found := bound_value(op)) is not None:
        held = _body(found[1])
        if len(held) != 1:
            return None
        (op,) = held
    if op.name not in IFS or attrs.WHERE not in op.attributes:
        return None
    return None if any(walk.is_inside(owner_op(v), top) for v in op.operands) else op


def _body(op: ir.Operation) -> list[ir.Operation]:
    """The ops in the body of a condition, without its end."""
    return [o.operation for o in op.regions[0].blocks[0].operations][:-1]


def check_binding(op: ir.Operation, number: int, function: str) -> CheckedSite:
    """Record a value outside of the domain before a marked search, which does not find it.

    --> %in = low <= %x and %x < high
        scf.if %in {} else { call @__tir_outside_2(site, %x, high, low, high) }
        for %vi in domain: if %vi == %x: ...
    """
    block, name = attrs.get(op, SITE)
    attrs.put(op, SITE, None)
    found, loop = bound_value(op), Loop(op)
    if found is None:
        raise LoweringError(f"{location_text(op)}: the binding of iter {name} cannot be checked after it was lowered")
    value = found[0]
    with ir.InsertionPoint(op), op.location:
        low, high = value_of(loop.lower), value_of(loop.upper)
        inside = both(compare(SLE, low, value), compare(SLT, value, high))
        branch = ir.Operation.create("scf.if", [], [inside], regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            ir.Operation.create("scf.yield", [], [])
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            record(number, [value, low], [high, high])
            ir.Operation.create("scf.yield", [], [])
    return CheckedSite(location_text(op), function, block, False, name, 2, is_binding=True)
