"""`R.match_cast`: what a value is said to be, compared with what is known of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph.expressions.nodes import Expr
from tir_mlir.graph.expressions.struct_info import (
    SIZES,
    Dim,
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

    value: Expr | ShapeExpr
    info: StructInfo


def bind_cast_sizes(cast: MatchCast, defined: Collection[str]) -> dict[str, Dim]:
    """The sizes that are named by a cast: R.Tensor((m, 64)) of a value R.Tensor((n + 1, 64)) -> {"m": n + 1}.

    defined: names of sizes that have a meaning already. Errors: GraphError for what is not so, or is not shown to be.
    """
    sizes: dict[str, Dim] = {}
    have = cast.value.struct_info if isinstance(cast.value, (Expr, ShapeExpr)) else None
    _match(cast.info, have, set(defined), sizes)
    return sizes


def _match(want: StructInfo, have: StructInfo | None, defined: set[str], sizes: dict[str, Dim]) -> None:
    if isinstance(want, TupleStructInfo) and isinstance(have, TupleStructInfo) and len(want.fields) == len(have.fields):
        for want_field, have_field in zip(want.fields, have.fields, strict=True):
            _match(want_field, have_field, defined, sizes)
    elif isinstance(want, ShapeStructInfo) and isinstance(have, ShapeStructInfo):
        _match_sizes(want, have, want.values, have.values, defined, sizes)
    elif isinstance(want, TensorStructInfo) and isinstance(have, TensorStructInfo) and want.could_be(have):
        _match_sizes(want, have, want.shape, have.shape, defined, sizes)
    else:
        raise GraphError(f"the value is {have}, not {want}")


def _match_sizes(
    want: StructInfo,
    have: StructInfo,
    want_sizes: ShapeExpr | None,
    have_sizes: ShapeExpr | None,
    defined: set[str],
    sizes: dict[str, Dim],
) -> None:
    if want_sizes is None:
        return
    if have_sizes is None or len(want_sizes) != len(have_sizes):
        raise GraphError(f"the value is {have}, not {want}")
    for size, dim in zip(want_sizes, have_sizes, strict=True):
        name = size.name if isinstance(size, Var) else None
        if name is not None and name not in defined:
            sizes[name] = dim
            defined.add(name)
            continue
        meant = sizes.get(name, size) if name is not None else size
        if not equal(SIZES.int_expr(meant), SIZES.int_expr(dim)):
            raise GraphError(
                f"the value is {have}, and {SIZES.text(dim)} is not shown to be {SIZES.text(meant)}; fix: give the "
                "sizes in the types of the parameters"
            )
