"""Values that select between old values x and new values y by comparisons, as trees: `select(x1 > y1, x0, y0)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import access_indices, defining_op, dtypes, is_inside
from tir_mlir.dialect.ir.op_traits import DIVISIONS, accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineLoadOp, CompareFloatsOp, CompareOp, ScfIfOp, SelectOp, isa

Term = tuple  # ("x", n) | ("y", value) | (op, term, term, ...)
OldNumber = Callable[[ir.Value], int | None]  # which old value a value is
EmitValue = Callable[[], ir.Value]  # emits a value at the insertion point: reads are emitted in the order of their uses

FLOAT = {arith.CmpFPredicate.OGT: "gt", arith.CmpFPredicate.OGE: "ge", arith.CmpFPredicate.OLT: "lt",
         arith.CmpFPredicate.OLE: "le", arith.CmpFPredicate.OEQ: "eq", arith.CmpFPredicate.UNE: "ne"}  # fmt: skip
INT = {arith.CmpIPredicate.sgt: "gt", arith.CmpIPredicate.sge: "ge", arith.CmpIPredicate.slt: "lt",
       arith.CmpIPredicate.sle: "le", arith.CmpIPredicate.eq: "eq", arith.CmpIPredicate.ne: "ne",
       arith.CmpIPredicate.ugt: "ugt", arith.CmpIPredicate.uge: "uge", arith.CmpIPredicate.ult: "ult",
       arith.CmpIPredicate.ule: "ule"}  # fmt: skip


def term_of(value: ir.Value, old: OldNumber) -> Term:
    """A value as a tree of selects, comparisons and conditions over old values x and other values y."""
    if (number := old(value)) is not None:
        return ("x", number)
    op = defining_op(value)
    if op is None:
        return ("y", value)
    if isa(op, SelectOp):
        return ("select", *[term_of(v, old) for v in op.operands])
    if isa(op, ScfIfOp) and len(op.results) == 1:
        sides = [list(r.blocks[0].operations)[-1].operands[0] for r in op.regions]
        if all(_may_always_run(v, op) for v in sides):
            return ("select", *[term_of(v, old) for v in (op.operands[0], *sides)])
    if isa(op, CompareOp):
        code = ir.IntegerAttr(op.attributes["predicate"]).value
        is_float = isa(op, CompareFloatsOp)
        word = FLOAT.get(arith.CmpFPredicate(code)) if is_float else INT.get(arith.CmpIPredicate(code))
        return (word or "other", *[term_of(v, old) for v in op.operands])
    if (op.name == "arith.andi" or op.name == "arith.ori") and dtypes.to_name(value.type) == "bool":
        return (op.name[6:-1], *[term_of(v, old) for v in op.operands])
    return ("y", value)


_TRAPS = ("memref.load", *DIVISIONS)


def _may_always_run(value: ir.Value, choice: ir.Operation) -> bool:
    """Whether the ops in a branch may also run when the other one is taken."""
    op = defining_op(value)
    if op is None or not is_inside(op, choice):
        return True
    return is_pure(op) and op.name not in _TRAPS and all(_may_always_run(v, choice) for v in op.operands)


def emit_term(term: Term, x: Sequence[EmitValue], y: Sequence[EmitValue]) -> ir.Value:
    """Emit a term, ("y", n) instead of ("y", value), at the insertion point."""
    word, parts = term[0], term[1:]
    if word in ("x", "y"):
        return (x if word == "x" else y)[parts[0]]()
    values = [emit_term(p, x, y) for p in parts]
    if word == "select":
        return arith.SelectOp(*values).result
    if word in ("and", "or"):
        return (arith.AndIOp if word == "and" else arith.OrIOp)(*values).result
    if dtypes.is_float(dtypes.to_name(values[0].type)):
        return arith.cmpf(next(p for p, w in FLOAT.items() if w == word), *values)
    return arith.cmpi(next(p for p, w in INT.items() if w == word), *values)


def is_same_value(a: ir.Value, b: ir.Value) -> bool:
    """Whether two values of a body without stores in between are structurally equal."""
    if a == b:
        return True
    first, second = defining_op(a), defining_op(b)
    if first is None or second is None or first.name != second.name or len(first.regions) or len(first.results) != 1:
        return False
    if isa(first, AffineLoadOp):
        if accessed_memref(first) != accessed_memref(second):
            return False
        return all(i.is_equal_to(j) for i, j in zip(access_indices(first), access_indices(second), strict=True))
    facts = [{n: op.attributes[n] for n in op.attributes if not n.startswith("tir.")} for op in (first, second)]
    return facts[0] == facts[1] and all(map(is_same_value, first.operands, second.operands))
