"""Values for shape variables, which pictures and numeric counts need."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Func, Index
from tir_mlir.dialect.presburger import question, sizes

_LEAST = 64  # the minimum of a chosen size: large enough to show tiles


def choose_sizes(func: Func, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """A value for each shape variable of a function: as given, else the least from 64 on that the function allows.

    Errors: ValueError for a name that is not a shape variable of the function, and for sizes that it excludes.
    """
    values = {name: value for name, value in (given or {}).items() if name in func.symbols}
    points = sizes(func.op).set
    params = names(points)
    for position, name in enumerate(params):
        if name in values:
            points = points.fix_val(isl.dim_type.param, position, isl.Val(values[name]))
    if points.is_empty():
        listed = ", ".join(f"{n}={v}" for n, v in values.items())
        raise ValueError(f"the assumptions of {func.name} exclude the sizes {listed}")
    with question(f"sizes of {func.name}"):
        for position, name in enumerate(params):
            large = points.lower_bound_val(isl.dim_type.param, position, isl.Val(_LEAST))
            points = points if large.is_empty() else large
            least = _minimum(points, position)
            points = points.fix_val(isl.dim_type.param, position, isl.Val(least))
            values[name] = least
    return values


def check_names(given: Mapping[str, int] | None, funcs: list[Func]) -> None:
    """Check names and values of sizes. Errors: ValueError for an unknown shape variable or an invalid value."""
    variables = sorted({name for func in funcs for name in func.symbols})
    for name, value in (given or {}).items():
        if name not in variables:
            raise ValueError(f"unknown shape variable {name!r}; the program has {', '.join(variables) or 'none'}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"the size {name} must be a nonnegative integer, not {value!r}")


def _minimum(points: isl.Set, position: int) -> int:
    """The least value of a parameter."""
    projection = points.params().move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
    value = projection.dim_min_val(0) if not projection.dim(isl.dim_type.param) else _free(projection).dim_min_val(0)
    if not value.is_int():
        raise NotProvable("the minimum of a size is unknown")
    return value.to_python()


def _free(points: isl.Set) -> isl.Set:
    return points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))


def names(points: isl.Set | isl.Map) -> list[str]:
    """The names of the parameters of a set or map."""
    return [str(points.get_dim_name(isl.dim_type.param, n)) for n in range(points.dim(isl.dim_type.param))]


def substitute_params(relation: isl.Map, values: Mapping[str, int]) -> isl.Map:
    """Substitute values for all parameters of a map."""
    for position, name in enumerate(names(relation)):
        relation = relation.fix_val(isl.dim_type.param, position, isl.Val(values[name]))
    return relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))


def extents(dims: list[Index], func: Func, values: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of a buffer at given sizes."""
    constants = {value: Index.constant(values[name]) for name, value in func.symbols.items() if name in values}
    lengths = [dim.substitute(constants).simplify().as_constant() for dim in dims]
    if any(n is None for n in lengths):
        raise NotProvable("an extent is not an expression of the shape variables")
    return tuple(n for n in lengths if n is not None)
