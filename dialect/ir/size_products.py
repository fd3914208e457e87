"""Products of shape variables as sizes of their own: `m * n` is an affine symbol.

%mn = arith.muli %m, %n : index {tir.name = "m * n"}        at the top of the function

A factor may be a quotient or remainder that is not negative for any sizes:

%q = affine.apply (n + 15) floordiv 16
%mq = arith.muli %m, %q : index {tir.name = "m * ((n + 15) // 16)"}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.create import apply
from tir_mlir.dialect.ir.index import Index, read_value
from tir_mlir.dialect.ir.memo import ENTRIES, touch_size
from tir_mlir.dialect.ir.op_views import FuncOp, MulIOp, isa
from tir_mlir.dialect.ir.views import func_of, is_size, owner_op, symbols_by_name
from tir_mlir.dialect.symbolic import IntExpr, Symbol, evaluate, from_affine, grouped_text, is_nonnegative, parse

SIGN = " * "
_DIVISIONS = (ir.AffineFloorDivExpr, ir.AffineCeilDivExpr, ir.AffineModExpr)


def is_product(value: ir.Value) -> bool:
    """Whether a shape variable is a product of others."""
    owner = value.owner
    return not isinstance(owner, ir.Block) and isa(owner, MulIOp) and is_size(owner.operation)


def is_factor(value: ir.Value) -> bool:
    """Whether a value is a shape variable, which is >= 0; a stride is none."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return isa(owner.owner.operation, FuncOp) and isinstance(value.type, ir.IndexType)
    return is_size(owner.operation)


def is_quotient(index: Index) -> bool:
    """Whether an expression is a quotient or remainder of shape variables that is not negative for any of them."""
    if not isinstance(index.expr.maybe_downcast(), _DIVISIONS) or not all(map(is_factor, index.values)):
        return False
    names = _names_of(index)
    sizes = [Symbol(f"s{n}") for n in range(len(index.values))]
    return is_nonnegative(from_affine(index.expr, sizes)) and all(map(str.isidentifier, names))


def _names_of(index: Index) -> list[str]:
    names = {value: name for name, value in symbols_by_name(owner_op(index.values[0])).items()}
    return [f for v in index.values for f in shape_variables(names[v])]


@lru_cache(maxsize=ENTRIES)
def factor_names(name: str) -> tuple[str, ...]:
    """`"m * n"` -> `("m", "n")`, `"m * ((n + 15) // 16)"` -> `("m", "((n + 15) // 16)")`; the name of any other size by
    itself.
    """
    factors, depth = [""], 0
    for part in name.split(SIGN):
        factors[-1] += part
        depth += part.count("(") - part.count(")")
        if depth == 0:
            factors.append("")
        else:
            factors[-1] += SIGN
    return tuple(factors[:-1]) if depth == 0 else (name,)


@lru_cache(maxsize=ENTRIES)
def shape_variables(name: str) -> tuple[str, ...]:
    """The shape variables in a size: `"m * ((n + 15) // 16)"` -> `("m", "n")`."""
    variables = [re.findall(r"[^\W\d]\w*", f) if f.startswith("(") else [f] for f in factor_names(name)]
    return tuple(dict.fromkeys(n for names in variables for n in names))


def rename_size(name: str, names: Mapping[str, str]) -> str:
    """The name of a size of shape variables with other names."""
    return SIGN.join(
        re.sub(r"[^\W\d]\w*", lambda match: names.get(match[0], match[0]), f) if f.startswith("(") else names.get(f, f)
        for f in factor_names(name)
    )


def value_of(name: str, values: Mapping[str, int]) -> int | None:
    """The value of a size, given those of the shape variables; None if one is unknown."""
    return evaluate_size(name, values) if all(variable in values for variable in shape_variables(name)) else None


def evaluate_size(name: str, values: Mapping[str, int]) -> int:
    """The value of a size, given those of all its shape variables."""
    return prod(
        evaluate(parse(factor), values.__getitem__) if factor.startswith("(") else values[factor]
        for factor in factor_names(name)
    )


def factors_of(value: ir.Value) -> list[Index]:
    """The factors of a product of sizes: shape variables, quotients and remainders."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and isa(owner, MulIOp):
        return [factor for operand in owner.operands for factor in factors_of(operand)]
    return [read_value(value)]


def named_factors(size: Index) -> list[tuple[str, Index]]:
    """The factors of a size that may be a factor itself, each with its name or text."""
    names = {value: name for name, value in symbols_by_name(owner_op(size.values[0])).items()}
    value = size.is_value()
    parts = [size] if value is None else factors_of(value)
    return [(_text(p, names) if (v := p.is_value()) is None else names[v], p) for p in parts]


def product(factors: Sequence[Index]) -> ir.Value:
    """The product of sizes (shape variables, quotients for which `is_quotient` holds), created at the top of their
    function unless it is there.
    """
    func = func_of(owner_op(factors[0].values[0]))
    symbols = symbols_by_name(func.op)
    order = {name: position for position, name in enumerate(symbols)}
    named = [pair for factor in factors for pair in named_factors(factor)]
    parts, texts = dict(named), [text for text, _ in named]
    texts.sort(key=lambda text: (min(order[variable] for variable in shape_variables(text)), text))
    name = SIGN.join(texts)
    if name in symbols:
        return symbols[name]
    touch_size(name)
    with _insertion_point_after(func.body, [v for t in texts for v in parts[t].values]), ir.Location.unknown():
        operands = [apply(parts[text]) for text in texts]
        result = operands[0]
        for operand in operands[1:]:
            result = arith.muli(result, operand)
    result.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
    if any(attrs.is_wide(v) for text in texts for v in parts[text].values):
        result.owner.attributes[attrs.DTYPE] = ir.StringAttr.get(attrs.WIDE)
    return result


def _text(index: Index, names: Mapping[ir.Value, str]) -> str:
    """A quotient as text in parentheses: `((n + 15) // 16)`."""

    return size_source(from_affine(index.expr, [Symbol(names[value]) for value in index.values]))


def size_source(size: IntExpr) -> str:
    """A size with parentheses around each operation, also the product that a symbol is: `((m * n) + 15)`."""
    return grouped_text(size, lambda leaf: f"({leaf})" if len(factor_names(str(leaf))) > 1 else str(leaf))


def _insertion_point_after(body: ir.Block, values: Sequence[ir.Value]) -> ir.InsertionPoint:
    """The insertion point in a function's body after the last op that defines one of some values."""
    owners = {v.owner.operation for v in values if not isinstance(v.owner, ir.Block)}
    if not owners:
        return ir.InsertionPoint.at_block_begin(body)
    operations = [op.operation for op in body.operations]
    return ir.InsertionPoint.after(max(owners, key=operations.index))
