"""IndexMap: an index map given as a Python lambda, with exact image, inverse and injectivity."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import IndexMapError, NotAffine, check_type, short_repr
from tir_mlir.dialect.index_maps.layout import Box, Collision, Layout, everywhere, layout_of
from tir_mlir.dialect.index_maps.map_input import (
    affine_terms,
    box_of,
    call_with_dims,
    flat,
    flat_nodes,
    parameters,
    size_named,
    unused_name,
)
from tir_mlir.dialect.index_maps.predicate import Predicate
from tir_mlir.dialect.index_maps.terms import (
    by_sizes,
    check_term,
    evaluate,
    from_affine,
    from_ast,
    map_leaves,
    sampled_in,
    text_of,
    to_affine,
)
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.presburger import question
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr, Sampled, Variable, leaves, names_in


@dataclass(frozen=True)
class IndexMap:
    """`lambda i, j: (i // 16, j // 16, i % 16, j % 16)`: indices to indices, or to a padding value.

    `repr()` is that text; `IndexMap.from_text` reads it. Shapes are integers, or names for symbolic sizes. A name that
    is not a variable is a size of the program; a sampled integer gets its value by `with_sides` when a step runs.
    """

    names: tuple[str, ...]
    terms: tuple[IntExpr, ...]
    inverse_index_map: IndexMap | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_type(self.names, (tuple, list), "IndexMap", "names", "a tuple of names (from_func takes a lambda)")
        check_type(self.terms, (tuple, list), "IndexMap", "terms", "a tuple of index expressions")
        for name in self.names:
            check_type(name, str, "IndexMap", "names", "a tuple of names")
            if not name.isidentifier() or list(self.names).count(name) > 1:
                raise IndexMapError(
                    f"{short_repr(name)} cannot name a variable of an index map; the names must be distinct identifiers"
                )
        for term in self.terms:
            check_term(term)

    @property
    def sizes(self) -> list[str]:
        """The names in the results that are not variables: sizes of the program."""
        return sorted({n for t in self.terms for n in names_in(t)} - set(self.names))

    @property
    def is_affine(self) -> bool:
        """Whether no result multiplies by a size, or divides by one."""
        return not any(map(by_sizes, self.terms))

    # --- sampled integers ---------------------------------------------------------------------------------------------

    def sides(self) -> Iterator[Any]:
        """The sampled integers, and the formulas of them."""
        for term in self.terms:
            yield from sampled_in(term)

    def with_sides(self, change: Callable[[Any], Any]) -> IndexMap:
        """The map with its sampled integers replaced. Errors: NotAffine for a divisor that is not positive."""
        if not any(True for _ in self.sides()):
            return self

        def leaf(term: IntExpr) -> object:
            return change(term) if isinstance(term, Sampled) else term

        return IndexMap(self.names, tuple(map_leaves(t, leaf) for t in self.terms), self.inverse_index_map)

    def text(self, text_of_handle: Callable[[Any], str]) -> str:
        """The map as Python source. Variables that are called like a sampled integer get other names."""
        handles = [leaf for side in self.sides() for leaf in leaves(side) if isinstance(leaf, Sampled)]
        used_names = {*map(text_of_handle, handles), *self.sizes}
        names = self.names
        if used_names & set(names):
            names = tuple(unused_name(f"{n}_", used_names | set(self.names)) if n in used_names else n for n in names)
        map_ = self.renamed(names)
        return map_._lambda_text([text_of(t, text_of_handle) for t in map_.terms])

    def renamed(self, names: Sequence[str]) -> IndexMap:
        """This map with new names for its variables."""
        new = dict(zip(self.names, names, strict=True))

        def leaf(term: IntExpr) -> IntExpr:
            return type(term)(new[term.name]) if isinstance(term, Variable) and term.name in new else term

        return IndexMap(tuple(names), tuple(map_leaves(t, leaf) for t in self.terms), self.inverse_index_map)

    # --- construction -------------------------------------------------------------------------------------------------

    @staticmethod
    def from_func(
        mapping_function: Callable[..., object],
        ndim: int | None = None,
        inverse_index_map: Callable[..., object] | IndexMap | None = None,
    ) -> IndexMap:
        """The map that a lambda computes. `ndim`: the number of indices, required if the lambda takes `*indices`."""
        names = parameters(mapping_function, ndim)
        with affine_terms():
            results = flat(call_with_dims(mapping_function, names))
            terms = tuple(check_term(map_leaves(t, lambda leaf: size_named(leaf, mapping_function))) for t in results)
        inverse = None
        if inverse_index_map is not None:
            inverse = IndexMap.wrap(inverse_index_map, len(terms))
            if len(inverse.terms) != len(names):
                raise IndexMapError(
                    f"the inverse {inverse} returns {len(inverse.terms)} indices; {len(names)} are needed"
                )
        return IndexMap(tuple(names), terms, inverse)

    @staticmethod
    def from_text(text: str, handles: Mapping[str, object] | None = None) -> IndexMap:
        """The map whose text is `lambda i, j: (i // 16, j % 16)`. The text is parsed, never executed.

        `handles`: sampled integers by name. Any other name that is not a variable is a size of the program.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # MemoryError: nested too deeply
            reason = str(error) or "it is nested too deeply"
            raise IndexMapError(f"{short_repr(text)} is not an index map: {reason}") from None
        if not isinstance(tree, ast.Lambda):
            raise IndexMapError(f"{text!r} is not an index map; write it as a lambda: lambda i, j: (j, i)")
        args = tree.args
        if args.vararg or args.kwarg or args.kw_defaults != [None] * len(args.kwonlyargs) or args.defaults:
            raise IndexMapError(f"{text!r}: an index map given as text takes plain parameters only")
        names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        others = {n: v for n, v in (handles or {}).items() if n not in names}
        try:
            with affine_terms():
                terms = [from_ast(node, set(names), others, with_sizes=True) for node in flat_nodes(tree.body)]
        except RecursionError:
            raise IndexMapError(f"{short_repr(text)} is nested too deeply for an index map") from None
        return IndexMap(tuple(names), tuple(terms))

    @staticmethod
    def wrap(index_map: IndexMap | Callable[..., object] | str, ndim: int | None = None) -> IndexMap:
        """An IndexMap from a lambda, an IndexMap, or its text."""
        if isinstance(index_map, IndexMap):
            result = index_map
        elif isinstance(index_map, str):
            result = IndexMap.from_text(index_map)
        elif callable(index_map):
            return IndexMap.from_func(index_map, ndim)
        else:
            raise TypeError(f"an index map is a lambda such as lambda i, j: (j, i), not {short_repr(index_map)}")
        if ndim is not None and len(result.names) != ndim:
            raise IndexMapError(f"the map {result} takes {len(result.names)} indices; there are {ndim}")
        return result

    def __repr__(self) -> str:
        return self._lambda_text([repr(t) for t in self.terms])

    def _lambda_text(self, terms: Sequence[str]) -> str:
        inner = ", ".join(terms)
        result = inner if len(terms) == 1 else f"({inner})"
        return f"lambda {', '.join(self.names)}: {result}" if self.names else f"lambda: {result}"

    # --- application --------------------------------------------------------------------------------------------------

    @property
    def initial_indices(self) -> list[IntExpr]:
        return [Dim(n) for n in self.names]

    @property
    def final_indices(self) -> list[IntExpr]:
        return list(self.terms)

    def map_indices(self, indices: Sequence[Any], sizes: Mapping[str, Any] | None = None) -> list[Any]:
        """The image of a point. Indices may be integers, terms or index expressions of a program; `sizes`: the values
        of the sizes by name.
        """
        if isinstance(indices, str) or not hasattr(type(indices), "__len__"):
            raise IndexMapError(f"the map {self} takes a list of indices, not {short_repr(indices)}")
        if len(indices) != len(self.names):
            raise IndexMapError(f"the map {self} takes {len(self.names)} indices, not {len(indices)}")
        if odd := [i for i in indices if i is None or isinstance(i, (str, list, tuple, dict))]:
            raise IndexMapError(f"an index is an integer or an expression, not {short_repr(odd[0])}")
        values = {**(sizes or {}), **dict(zip(self.names, indices, strict=True))}
        return [evaluate(t, values) for t in self.terms]

    def affine(self, sizes: Sequence[str] = ()) -> tuple[ir.AffineExpr, ...]:
        """The results as affine expressions over the variables of the map, then the sizes, as dimensions.

        Errors: IndexMapError for a name that is neither.
        """
        called = [*self.names, *sizes]
        for term in self.terms:
            if isinstance(term, Constant) and isinstance(term.value, float):
                raise NotAffine(f"{term.value} is not an index: indices are integers")
        return tuple(to_affine(t, called) for t in self.terms)

    def layout(self, box: Box) -> Layout:
        """The layout of the map over a box."""
        if len(box.extents) != len(self.names):
            raise IndexMapError(f"the map {self} takes {len(self.names)} indices; the shape has {len(box.extents)}")
        return layout_of(self.affine(box.params), box)

    def map_shape(self, shape: Sequence[object]) -> list[Any]:
        """The extents of the smallest box at the origin that contains the image of a shape."""
        with enter_context(), question(f"the shape of the image of {self}"):
            layout = self.layout(box_of(shape))
            check_start(self, layout)
            sizes = list(layout.box.params)
            return [_plain(from_affine(e, sizes)) for e in layout.shape]

    def inverse(self, shape: Sequence[object]) -> IndexMap:
        """The inverse over a shape. Errors: IndexMapError unless the map is one to one and onto the image box."""
        back, padding = self.non_surjective_inverse(shape)
        if not padding.never:
            raise IndexMapError(
                f"the map {self} over {_tuple_text(shape)} is not surjective: no point maps to the indices where "
                f"{padding};"
                " non_surjective_inverse returns the inverse and this condition"
            )
        return back

    def non_surjective_inverse(self, shape: Sequence[object]) -> tuple[IndexMap, Predicate]:
        """The inverse, and the predicate of the indices outside its domain: no point of the shape maps to them."""
        with enter_context(), question(f"the inverse of {self}"):
            layout = self.layout(box_of(shape))
            check_one_to_one(self, layout)
            names, sizes = self.result_names(), list(layout.box.params)
            if set(names) & set(sizes):
                raise IndexMapError(f"the size {sorted(set(names) & set(sizes))[0]} has the same name as an index")
            back = _from_affine(names, self.inverse_exprs(layout), sizes)
            return back, Predicate.from_padding(names, sizes, layout.padding)

    def inverse_exprs(self, layout: Layout) -> tuple[ir.AffineExpr, ...]:
        """The inverse over a box: the given one if it is correct, else computed by isl."""
        if self.inverse_index_map is not None:
            exprs = self.inverse_index_map.affine(layout.box.params)
            round_trip = Layout(exprs, layout.target).relation
            if not layout.relation.apply_range(round_trip).is_equal(layout.box.points.identity()):
                raise IndexMapError(f"{self.inverse_index_map} is not the inverse of {self}")
            return exprs
        return layout.inverse

    def at(self, sizes: Mapping[str, int]) -> IndexMap:
        """The map for given values of the sizes. Errors: IndexMapError if one is missing."""
        if missing := [n for n in self.sizes if n not in sizes]:
            raise IndexMapError(f"the map {self} needs the value of the size {missing[0]}")

        def leaf(term: IntExpr) -> object:
            return sizes[term.name] if isinstance(term, Variable) and term.name not in self.names else term

        return IndexMap(self.names, tuple(map_leaves(t, leaf) for t in self.terms))

    def result_names(self) -> list[str]:
        """Names for the results: a result that is a plain variable keeps its name, others are axis0, axis1, ..."""
        names: list[str] = []
        for number, term in enumerate(self.terms):
            own_name = term.name if isinstance(term, Variable) and term.name not in names else None
            names.append(own_name or f"axis{number}")
        return names

    def is_equivalent_to(self, index_map: IndexMap) -> bool:
        """Whether two maps agree at every point; names of variables do not matter."""
        if len(self.names) != len(index_map.names) or len(self.terms) != len(index_map.terms):
            return False
        with enter_context(), question("whether two index maps are the same"):
            sizes = sorted({*self.sizes, *index_map.sizes})
            mine, theirs = (everywhere(m.affine(sizes), len(m.names) + len(sizes)) for m in (self, index_map))
            return mine.is_equal(theirs)

    def map_ndarray(
        self,
        array: np.ndarray,
        pad_value: float = 0,
        shape: Sequence[int] | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> np.ndarray:
        """The array in the new layout: the argument for a parameter whose layout was transformed.

        `shape`: the shape of the parameter, if larger than the image (its sizes were symbolic when it was transformed).
        `sizes`: the values of the sizes that the map names.
        """
        if self.sizes:
            return self.at(sizes or {}).map_ndarray(array, pad_value, shape)
        least = [int(n) for n in self.map_shape(array.shape)]
        if shape is not None and (len(shape) != len(least) or any(a < b for a, b in zip(shape, least, strict=True))):
            raise IndexMapError(
                f"the map {self} takes {_tuple_text(array.shape)} to {_tuple_text(least)}, not {_tuple_text(shape)}"
            )
        result = np.full(least if shape is None else list(shape), pad_value, dtype=array.dtype)
        positions = self.map_indices(list(np.indices(array.shape)))
        result[tuple(np.broadcast_to(p, array.shape) for p in positions)] = array
        return result


def _from_affine(names: Sequence[str], exprs: Sequence[ir.AffineExpr], sizes: Sequence[str]) -> IndexMap:
    """The map with dimension d named `names[d]`; sizes follow the dimensions and become variables too."""
    called = [*names, *sizes]
    return IndexMap(tuple(called), tuple(from_affine(e, called) for e in exprs))


def _plain(term: IntExpr) -> int | IntExpr:
    return int(term.value) if isinstance(term, Constant) else term


def _tuple_text(shape: Sequence[object]) -> str:
    return "(" + ", ".join(map(str, shape)) + (",)" if len(shape) == 1 else ")")


# --- legality ---------------------------------------------------------------------------------------------------------


def check_start(map_: IndexMap, layout: Layout) -> None:
    """Reject a map with a negative result."""
    if (point := layout.below_zero) is not None:
        image = tuple(map_.map_indices(point)) if not layout.box.params else "a negative index"
        raise IndexMapError(f"the map {map_} takes {_tuple_text(point)} to {image}: an index must not be negative")


def check_one_to_one(map_: IndexMap, layout: Layout) -> None:
    """Reject a map with a negative result, or that maps two points to one."""
    check_start(map_, layout)
    if (collision := layout.collision) is not None:
        raise IndexMapError(f"the map {map_} is not one to one: {collision_text(map_, collision)}")


def collision_text(map_: IndexMap, collision: Collision) -> str:
    """A collision as text."""
    sizes = "".join(f" (for {n} = {v})" for n, v in collision.sizes.items())
    image = _tuple_text(map_.map_indices(collision.first, collision.sizes))
    return f"{_tuple_text(collision.first)} and {_tuple_text(collision.second)} both map to {image}{sizes}"
