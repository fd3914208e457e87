"""Assumptions of a function on its sizes: `T.assume(n % 16 == 0)`. Proofs may use them; every call checks them."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import (
    Constraint,
    attrs,
    edit,
    emit_map,
    func_of,
    is_symbol,
    parse_set,
    read_map,
    remembered,
    symbol_name,
    symbols_by_name,
)


@remembered
def assumptions(op: ir.Operation) -> list[Constraint]:
    """The assumptions of the function around an op, as constraints on its shape variables."""
    func = func_of(op).op
    if attrs.ASSUME not in func.attributes:
        return []
    symbols = symbols_by_name(func)
    map_, kinds = parse_set(str(func.attributes[attrs.ASSUME]))
    indices = read_map(map_, [symbols[name] for name in attrs.get(func, attrs.SYMS, [])])
    return [Constraint(i, k) for i, k in zip(indices, kinds, strict=True)]


def assume(func: ir.Operation, constraints: Sequence[Constraint]) -> None:
    """Add assumptions to a function. Requires constraints on its shape variables only."""
    every = [*assumptions(func), *constraints]
    map_, values = emit_map([c.index for c in every])
    set_ = ir.IntegerSet.get(map_.n_dims, map_.n_symbols, list(map_.results), [c.is_eq for c in every])
    edit.set_attribute(func, attrs.ASSUME, ir.IntegerSetAttr.get(set_))
    attrs.put(func, attrs.SYMS, [symbol_name(v) for v in values])


def speaks_of_sizes(constraint: Constraint) -> bool:
    """Whether a constraint uses shape variables only."""
    return all(is_symbol(v) for v in constraint.index.values)
