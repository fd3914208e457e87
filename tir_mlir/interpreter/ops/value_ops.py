"""Constants, and arithmetic on scalars and, elementwise, on vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.computation.float_operations import flops
from tir_mlir.dialect.constants.dense import dense_numbers
from tir_mlir.dialect.diagnostics import AssumptionError
from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.lowering_op_views import AssumeOp
from tir_mlir.dialect.ir.op_traits import INTEGER_RING, OPS
from tir_mlir.dialect.ir.op_views import SelectOp, isa
from tir_mlir.interpreter.codegen import FunctionWriter, writes
from tir_mlir.interpreter.counters import FLOPS, destination
from tir_mlir.interpreter.floats import ROUND
from tir_mlir.interpreter.kinds import is_float, kind_of
from tir_mlir.interpreter.ops import scalar_ops

if TYPE_CHECKING:
    from tir_mlir.interpreter.poison import Number


LANES = ("_a", "_b", "_c")


@writes("arith.constant", "llvm.mlir.constant")
def constant(w: FunctionWriter, op: ir.Operation) -> None:
    attribute = op.attributes["value"]
    kind = kind_of(op.results[0].type)
    if isinstance(op.results[0].type, ir.VectorType):
        w.variables[op.results[0]] = w.keep(_dense(w, attribute, kind), f"c{len(w.shared.scope)}")
        return
    w.variables[op.results[0]] = number(w, attribute.value, kind)  # type: ignore[attr-defined]


def number(w: FunctionWriter, value: Number, kind: str) -> str:
    """The text of a constant."""
    if is_float(kind) and not w.options.exact and (kind != "f64" or not math.isfinite(value)):
        return w.keep(ROUND[kind](value), f"{kind}_{value!r}".replace(".", "_").replace("-", "m").replace("+", ""))
    if kind == "i1":
        return str(bool(value)) if not w.options.exact else repr(value)
    return repr(value) if math.isfinite(value) else w.keep(value, f"c_{value!r}".replace("-", "m"))


def _dense(w: FunctionWriter, attribute: ir.Attribute, kind: str) -> list[Number]:
    elements = dense_numbers(attribute)
    return [ROUND[kind](v) for v in elements] if is_float(kind) and not w.options.exact else elements


@writes("arith", "math", "llvm.intr.maximum", "llvm.intr.minimum")
def arithmetic(w: FunctionWriter, op: ir.Operation) -> None:
    """Emit one op, lane by lane for vectors."""
    result = op.results[0]
    args = w.values(list(op.operands))
    if any(v in w.pointers for v in op.operands):
        _pointers(w, op, args)
        return
    if not isinstance(result.type, ir.VectorType):
        text = scalar_ops.expression(op, args, w.keep, w.options.exact)
        w.put(f"{w.define(result, attrs.get(op, attrs.NAME, ''))} = {text}")
    else:
        text = scalar_ops.expression(op, LANES[: len(args)], w.keep, w.options.exact)
        if isa(op, SelectOp) and not isinstance(SelectOp(op).condition.type, ir.VectorType):
            w.put(f"{w.define(result)} = {args[1]} if {args[0]} else {args[2]}")
        else:
            over = args[0] if len(args) == 1 else f"zip({', '.join(args)})"
            w.put(f"{w.define(result)} = [{text} for {', '.join(LANES[: len(args)])} in {over}]")
    number = flops(op) if w.options.counts else 0
    if number:
        target = destination(result)
        w.count(FLOPS, "" if target is None else w.roots.name(target), number * lanes(result.type))


def lanes(type_: ir.Type) -> int:
    return math.prod(type_.shape) if isinstance(type_, ir.VectorType) else 1


def _pointers(w: FunctionWriter, op: ir.Operation, args: list[str]) -> None:
    """Pointer arithmetic, which does not wrap."""
    text = f" {OPS[op.name].sign} ".join(args) if op.name in INTEGER_RING else args[0]
    w.put(f"{w.define(op.results[0])} = {text}")
    w.pointers.add(op.results[0])


@writes("affine.apply")
def apply(w: FunctionWriter, op: ir.Operation) -> None:
    """Emit nothing: the expression is emitted at its uses."""


@writes("affine.min", "affine.max")
def extreme(w: FunctionWriter, op: ir.Operation) -> None:
    from tir_mlir.dialect.ir import read_map

    texts = [w.index(i) for i in read_map(attrs.map_of(op.attributes["map"]), list(op.operands))]
    w.set(op.results[0], texts[0] if len(texts) == 1 else f"{op.name[7:]}({', '.join(texts)})")


@writes("llvm.intr.assume")
def assume(w: FunctionWriter, op: ir.Operation) -> None:
    w.put(f"if not {w.value(AssumeOp(op).condition)}: {w.keep(raise_assumption_error, 'wrong')}()")


def raise_assumption_error() -> None:
    """Raise AssumptionError."""
    raise AssumptionError("an assumption of the program does not hold")


@writes("ub.poison")
def poison(w: FunctionWriter, op: ir.Operation) -> None:
    text = w.keep(scalar_ops.floats.Poison("ub.poison"), "poison")
    result = op.results[0]
    w.put(
        f"{w.define(result)} = {f'[{text}] * {lanes(result.type)}' if isinstance(result.type, ir.VectorType) else text}"
    )


@writes("affine.prefetch", "memref.prefetch", "vector.print")
def hint(w: FunctionWriter, op: ir.Operation) -> None:
    """Emit nothing for an optimization hint."""
