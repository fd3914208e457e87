"""The attributes of an operator: checked against its table entry, as plain values for the IR, and as te takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.callee_types import renamed_size
from tir_mlir.graph.operators import Operator
from tir_mlir.graph.operators.operator import REQUIRED
from tir_mlir.graph.size_code import GraphSizes
from tir_mlir.te.expr import Expr

PlainAttribute: TypeAlias = "bool | int | float | str | list[PlainAttribute] | dict[str, int | str]"
"""An attribute in its plain form, as the IR has it."""
Attribute: TypeAlias = (
    "bool | int | float | str | np.generic | Expr | Sequence[Attribute] | Mapping[str, int | str | Expr] | None"
)
"""An attribute as callers give it, and as te takes it."""
Several = Literal["cummax", "cummin", "row_tiles", "split", "topk", "true_places"]
"""The operators of several results, as type checkers take them."""
SIZE = "size"
"""The key of an attribute that is an expression of sizes: {"size": "n + 1"}."""


def complete(operator: Operator, explicit: Mapping[str, object], sizes: GraphSizes) -> dict[str, PlainAttribute]:
    """The attributes in their plain form, with defaults; without those that are None.

    Numbers, strings, lists of them; a size of a list is its text, and one alone is {"size": "n + 1"}. Errors:
    GraphError for an attribute that the operator does not have, or lacks.
    """
    valid_names = ", ".join(operator.attrs) or "none"
    for name in explicit:
        if name not in operator.attrs:
            raise GraphError(f"{operator.name} has no attribute {short_repr(name)}; it has {valid_names}")
    merged = {**operator.attrs, **explicit}
    if missing := [name for name, value in merged.items() if value is REQUIRED]:
        raise GraphError(f"{operator.name} needs the attribute {missing[0]}")
    return {name: _plain(name, value, sizes) for name, value in merged.items() if value is not None}


def _plain(name: str, value: object, sizes: GraphSizes, in_list: bool = False) -> PlainAttribute:
    if isinstance(value, Expr):
        text = sizes.text(value)
        return text if in_list else {SIZE: text}
    if isinstance(value, (list, tuple)):
        return [_plain(name, v, sizes, True) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)) or (isinstance(value, dict) and set(value) == {SIZE}):
        return value
    raise GraphError(f"the attribute {name} is a number, a string or a list of them, not {short_repr(value)}")


def with_names(attributes: Mapping[str, PlainAttribute], names: Mapping[str, str]) -> dict[str, PlainAttribute]:
    """Plain attributes with other names of sizes: with {"n + m": "size"}, n + m - 1 is size - 1."""
    return {name: _with_names(value, names) for name, value in attributes.items()} if names else dict(attributes)


def _with_names(value: PlainAttribute, names: Mapping[str, str]) -> PlainAttribute:
    if isinstance(value, list):
        return [renamed_size(v, names) if isinstance(v, str) else _with_names(v, names) for v in value]
    if isinstance(value, dict):
        return {key: renamed_size(size, names) if isinstance(size, str) else size for key, size in value.items()}
    return value


def for_te(attributes: Mapping[str, PlainAttribute], sizes: GraphSizes) -> dict[str, Attribute]:
    """Plain attributes as the te function of an operator takes them: sizes are te expressions."""
    return {name: _expression(value, sizes) for name, value in attributes.items()}


def _expression(value: PlainAttribute, sizes: GraphSizes) -> Attribute:
    if isinstance(value, list):
        return tuple(sizes.expression(v) if isinstance(v, str) else _expression(v, sizes) for v in value)
    return sizes.expression(value[SIZE]) if isinstance(value, dict) else value
