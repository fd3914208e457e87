"""The TensorIR function of an operator for given types."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.dialect.graph import TensorType, free_name
from tir_mlir.dialect.ir import by_structure
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph import size_code
from tir_mlir.graph.emit import listed
from tir_mlir.graph.operator_attributes import for_te
from tir_mlir.graph.operators import find_operator
from tir_mlir.graph.size_code import Sizes
from tir_mlir.script.module import PrimFunc
from tir_mlir.te import Tensor, create_prim_func
from tir_mlir.te.source_location import at_one_place


def _content(
    name: str,
    attributes: Mapping[str, Any],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    _: Sizes,
) -> Hashable:
    return find_operator(name).te, repr(sorted(attributes.items())), repr(inputs), tuple(results)


@by_structure(_content)
def operator_program(
    name: str,
    attributes: Mapping[str, Any],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    sizes: Sizes,
) -> PrimFunc | list[int]:
    """The function of an operator on tensors of these types, or numbers; its last parameters are the results.

    A sum of sizes that no operand has alone is a size of its own: of (n + m, 2) the function takes (size, 2).
    If the operator returns inputs: their numbers. That of an equal operator on equal types is the same object: the
    caller copies it. Errors: GraphError for operands that it does not take.
    """
    with at_one_place():
        try:
            return _program(name, attributes, inputs, results, sizes)
        except GraphError as error:
            renamed = _unbound_sums(inputs, results)
            try:
                return _program(name, attributes, _renamed(inputs, renamed), _renamed(results, renamed), sizes)
            except GraphError:
                raise error from None


def _unbound_sums(inputs: Sequence[TensorType | float], results: Sequence[TensorType]) -> dict[str, str]:
    """A name for each size of operands whose parts no axis is: {"n + m": "size"}."""
    texts = [s for t in (*inputs, *results) if isinstance(t, TensorType) for s in t.shape if isinstance(s, str)]
    bound = {s for t in inputs if isinstance(t, TensorType) for s in t.shape if isinstance(s, str) and s.isidentifier()}
    symbols = {symbol for text in texts for symbol in size_code.symbols(text)}
    renamed: dict[str, str] = {}
    for text in texts:
        if text not in renamed and not bound.issuperset(size_code.symbols(text)):
            renamed[text] = free_name("size", {*symbols, *renamed.values()})
    return renamed


def _renamed(types: Sequence[Any], renamed: Mapping[str, str]) -> list[Any]:
    """Types with other names of sizes; numbers stay."""
    return [
        TensorType(tuple(renamed.get(s, s) if isinstance(s, str) else s for s in t.shape), t.dtype)
        if isinstance(t, TensorType)
        else t
        for t in types
    ]


def _program(
    name: str,
    attributes: Mapping[str, Any],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    sizes: Sizes,
) -> PrimFunc | list[int]:
    operands = [
        sizes.tensor(f"x{n}", t.shape, t.dtype) if isinstance(t, TensorType) else t for n, t in enumerate(inputs)
    ]
    tensors = [o for o in operands if isinstance(o, Tensor)]
    outputs = listed(find_operator(name).apply(operands, for_te(attributes, sizes), inputs))
    if all(any(m is t for t in tensors) for m in outputs):
        return [next(n for n, t in enumerate(tensors) if t is m) for m in outputs]
    try:
        function = create_prim_func([*tensors, *outputs])
    except (TirError, TypeError, ValueError, IndexError) as error:
        raise GraphError(f"{name} does not take {', '.join(map(str, inputs))}: {error}") from error
    types = [TensorType(sizes.shape(t.shape), t.dtype) for t in outputs]
    if len(types) != len(results) or not all(map(_same, types, results)):
        raise GraphError(f"{name} makes {', '.join(map(str, types))}; the graph has {', '.join(map(str, results))}")
    return function


def _same(lhs: TensorType, rhs: TensorType) -> bool:
    """Whether two types are equal, for sizes that are written in any order."""
    same = lhs.dtype == rhs.dtype and len(lhs.shape) == len(rhs.shape)
    return same and all(map(equal, lhs.shape, rhs.shape))
