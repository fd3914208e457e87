"""Last values as expressions: of what a relation gives for each of its inputs, and the minimum of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.ir import Index, step
from tir_mlir.dialect.presburger import intervals
from tir_mlir.dialect.presburger.isl_exprs import to_index


def last_values(
    relation: isl.Map, number: int, dims: Sequence[ir.Value], symbols: Mapping[str, ir.Value]
) -> list[Index]:
    """Expressions over the inputs `dims` of a relation that one of its outputs reaches for some inputs, and exceeds for
    none: `32 * i + 31` and `999` of `min(32 * i + 31, 999)`.
    """
    context = relation.domain()
    maximum = relation.dim_max(number).coalesce().gist(context)
    pieces = [aff for _, aff in maximum.get_pieces()]
    return [to_index(aff, dims, symbols) for aff in pieces if context.is_subset(aff.to_pw_aff().ge_set(maximum))]


def single_minimum(bounds: Sequence[Index], box: intervals.ValueRanges) -> Index | None:
    """The minimum of two bounds as one expression, if one is smaller only for the last value of a variable:
    `32 * i + 32 - i floordiv 3` of `min(32 * i + 32, 127)` for i < 4.
    """
    for bound, other in (bounds, bounds[::-1]) if len(bounds) == 2 else ():
        excess = (bound - other).simplify()
        if len(excess.values) != 1:
            continue
        (var,) = excess.values
        (low, high), grows = box.get(var, (None, None)), step(excess, var)
        if grows is None or low is None or high is None or low == high:
            continue
        most = excess.substitute({var: Index.constant(high)}).as_constant()
        if most is not None and 0 < most <= grows:
            return (bound - (Index.from_value(var) - low) // (high - low) * most).simplify()
    return None
