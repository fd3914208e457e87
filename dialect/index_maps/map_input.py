"""What a user gives as an index map: the parameters of a lambda, its results, sizes and shapes."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from tir_mlir.dialect.diagnostics import IndexMapError, NotAffine, NotAffineMapError, short_repr
from tir_mlir.dialect.index_maps.layout import Box
from tir_mlir.dialect.index_maps.terms import SizeVariable, check_term, to_affine
from tir_mlir.dialect.symbolic import Dim, IntExpr, Symbol, as_expr, names_in


@contextmanager
def affine_terms() -> Iterator[None]:
    """Report a term that is not affine as a fault of the map."""
    try:
        yield
    except NotAffine as error:
        raise NotAffineMapError(str(error)) from error


def parameters(function: Callable[..., object], ndim: int | None) -> list[str]:
    """Names of the parameters of a function, `*indices` expanded to `ndim` in total; keyword-only ones come last."""
    if not callable(function):
        raise IndexMapError(f"an index map is a lambda such as lambda i, j: (j, i), not {short_repr(function)}")
    try:
        params = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise IndexMapError(f"{short_repr(function)} has no inspectable signature; write the map as a lambda") from None
    names = [p.name for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if odd := [p.name for p in params if p.kind is p.VAR_KEYWORD]:
        raise IndexMapError(f"an index map takes named parameters or *indices; it cannot take **{odd[0]}")
    last = [p.name for p in params if p.kind is p.KEYWORD_ONLY]
    several = [p.name for p in params if p.kind is p.VAR_POSITIONAL]
    if several:
        if ndim is None:
            raise IndexMapError(f"the map takes *{several[0]}: pass the number of indices as ndim=")
        named_count = len(names) + len(last)
        names += [unused_name(f"{several[0][0]}{number}", {*names, *last}) for number in range(ndim - named_count)]
    names += last
    if ndim is not None and len(names) != ndim:
        raise IndexMapError(f"the map takes {len(names)} indices ({', '.join(names)}); there are {ndim}")
    return names


def call_with_dims(function: Callable[..., object], names: Sequence[str]) -> object:
    """The result of a function on these variables, the last for its keyword-only parameters."""
    last = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    first = names[: len(names) - len(last)]
    try:
        return function(*[Dim(n) for n in first], **{n: Dim(n) for n in last})
    except (TypeError, AttributeError) as error:
        arguments = ", ".join(names)
        raise IndexMapError(
            f"the map cannot be evaluated at ({arguments}), which are affine expressions: {error}"
        ) from error


def unused_name(name: str, used_names: set[str]) -> str:
    """The name, with underscores until it is not taken."""
    while name in used_names:
        name += "_"
    return name


def size_named(leaf: IntExpr, function: Callable[..., object]) -> IntExpr:
    """A size variable by its name, or by that of the Python variable of the function that holds it."""
    if not isinstance(leaf, SizeVariable):
        return leaf
    closure = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    scope = {**closure.globals, **closure.nonlocals} if closure else {}
    name = leaf.name or next((n for n, v in scope.items() if v is leaf), "")
    if not name:
        raise IndexMapError("the map uses a size without a name; refer to it by a variable: n = T.int32()")
    return Symbol(name)


def flat(results: object) -> Iterable[IntExpr]:
    """The results of a lambda: one expression, or a flattened list of them."""
    if not isinstance(results, (list, tuple)):
        yield check_term(as_expr(results))
        return
    for item in results:
        yield from flat(item)


def flat_nodes(node: ast.expr) -> Iterable[ast.expr]:
    if not isinstance(node, (ast.List, ast.Tuple)):
        yield node
        return
    for item in node.elts:
        yield from flat_nodes(item)


def box_of(shape: Sequence[object]) -> Box:
    """A shape of integers, names and expressions of names as a box."""
    if not isinstance(shape, (list, tuple)):
        raise IndexMapError(f"a shape is a list of integers and names of sizes, not {short_repr(shape)}")
    terms = [Symbol(n) if isinstance(n, str) else as_expr(n) for n in shape]
    sizes = sorted({name for t in terms for name in names_in(t)})
    return Box(tuple(to_affine(t, sizes) for t in terms), tuple(sizes))
