"""`R.match_cast`: what a value is said to be, compared with what is known of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph.expressions.nodes import Expr
from tir_mlir.graph.expressions.struct_info import (
    SIZES,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from tir_mlir.te import Var


@dataclass(frozen=True)
class MatchCast:
    """`R.match_cast(value, info)`: the value, of which the sizes get names."""

    value: Any
    info: StructInfo


def matched(cast: MatchCast, known: Collection[str]) -> dict[str, Any]:
    """The sizes that are named by a cast: R.Tensor((m, 64)) of a value R.Tensor((n + 1, 64)) -> {"m": n + 1}.

    known: names of sizes that have a meaning already. Errors: GraphError for what is not so, or is not shown to be.
    """
    found: dict[str, Any] = {}
    have = cast.value.struct_info if isinstance(cast.value, (Expr, ShapeExpr)) else None
    _match(cast.info, have, set(known), found)
    return found


def _match(want: StructInfo, have: Any, known: set[str], found: dict[str, Any]) -> None:
    if isinstance(want, TupleStructInfo) and isinstance(have, TupleStructInfo) and len(want.fields) == len(have.fields):
        for one, other in zip(want.fields, have.fields, strict=True):
            _match(one, other, known, found)
    elif isinstance(want, ShapeStructInfo) and isinstance(have, ShapeStructInfo):
        _match_sizes(want, have, want.values, have.values, known, found)
    elif isinstance(want, TensorStructInfo) and isinstance(have, TensorStructInfo) and want.could_be(have):
        _match_sizes(want, have, want.shape, have.shape, known, found)
    else:
        raise GraphError(f"the value is {have}, not {want}")


def _match_sizes(want: Any, have: Any, wanted: Any, given: Any, known: set[str], found: dict[str, Any]) -> None:
    if wanted is None:
        return
    if given is None or len(wanted) != len(given):
        raise GraphError(f"the value is {have}, not {want}")
    for size, other in zip(wanted, given, strict=True):
        name = size.name if isinstance(size, Var) else None
        if name is not None and name not in known:
            found[name] = other
            known.add(name)
            continue
        meant = found.get(name, size) if name is not None else size
        if not equal(SIZES.int_expr(meant), SIZES.int_expr(other)):
            raise GraphError(
                f"the value is {have}, and {SIZES.text(other)} is not shown to be {SIZES.text(meant)}; fix: give the "
                "sizes in the types of the parameters"
            )
