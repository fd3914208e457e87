"""RegionMap: a box of elements given as a Python lambda of a block's iters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tir_mlir.dialect.diagnostics import IndexMapError, short_repr
from tir_mlir.dialect.index_maps.map_input import call_with_dims, parameters
from tir_mlir.dialect.index_maps.terms import check_term, evaluate, from_ast
from tir_mlir.dialect.ir import Index
from tir_mlir.dialect.symbolic import IntExpr, as_expr

Span = tuple[IntExpr, IntExpr]


class RegionMap:
    """`lambda vi, vj: [(vi - 1, vi + 1), (vj, vj + 1)]`: iters to a span [begin, end) per dimension.

    A single expression e means (e, e + 1). `repr()` is that text; text is parsed, never executed. A lambda is called
    once the number of iters is known, so it may take `*iters`.
    """

    def __init__(self, regions: Callable[..., object] | str):
        self._function: Callable[..., object] | None = None
        self.names: list[str] = []
        self.spans: list[Span] = []
        if isinstance(regions, str):
            self._parse(regions)
        elif callable(regions):
            self._function = regions
        else:
            raise TypeError(f"regions are a lambda such as lambda vi: [(vi - 1, vi + 1)], not {short_repr(regions)}")

    @staticmethod
    def from_text(text: str) -> RegionMap:
        """The map whose text is `lambda vi: [(vi - 1, vi + 1)]`. The text is parsed, never executed."""
        return RegionMap(text)

    def apply(self, iters: Sequence[Index]) -> list[tuple[Index, Index]]:
        """(begin, end) of every dimension, for the iters as index expressions."""
        if self._function is not None:
            self.names = parameters(self._function, len(iters))
            self.spans = [_span(item) for item in _items(call_with_dims(self._function, self.names))]
            self._function = None
        if len(self.names) != len(iters):
            raise IndexMapError(f"{self} takes {len(self.names)} iters; the block has {len(iters)}")
        iter_of = dict(zip(self.names, iters, strict=True))
        return [(Index.wrap(evaluate(a, iter_of)), Index.wrap(evaluate(b, iter_of))) for a, b in self.spans]

    @staticmethod
    def wrap(regions: RegionMap | Callable[..., object] | str) -> RegionMap:
        """A RegionMap from a lambda, a RegionMap, or its text."""
        return regions if isinstance(regions, RegionMap) else RegionMap(regions)

    def _parse(self, text: str) -> None:
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise IndexMapError(f"{text!r} is not a lambda: {error}") from None
        if not isinstance(tree, ast.Lambda) or tree.args.vararg or tree.args.kwonlyargs or tree.args.defaults:
            raise IndexMapError(f"{text!r}: write the regions as a lambda of plain names: lambda vi: [(vi, vi + 2)]")
        self.names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
        body = tree.body.elts if isinstance(tree.body, ast.List | ast.Tuple) else [tree.body]
        for node in body:
            ends = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
            self.spans.append(_span(tuple(from_ast(e, set(self.names)) for e in ends)))

    def __repr__(self) -> str:
        if self._function is not None:
            return repr(self._function)
        return f"lambda {', '.join(self.names)}: [{', '.join(f'({a!r}, {b!r})' for a, b in self.spans)}]"

    def __eq__(self, region_map: object) -> bool:
        return isinstance(region_map, RegionMap) and repr(self) == repr(region_map)

    def __hash__(self) -> int:
        return hash(repr(self))


def _items(results: object) -> list[object]:
    return list(results) if isinstance(results, list | tuple) else [results]


def _span(item: object) -> Span:
    ends = tuple(item) if isinstance(item, list | tuple) else (item,)
    if len(ends) == 1:
        return check_term(as_expr(ends[0])), as_expr(ends[0]) + 1
    if len(ends) != 2:
        raise IndexMapError(f"a dimension of a region is an expression or (begin, end), not {short_repr(item)}")
    return check_term(as_expr(ends[0])), check_term(as_expr(ends[1]))
