"""The TensorIR function of an operator for given types."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.ir import cache_by_structure
from tir_mlir.dialect.symbolic import bounds, equal
from tir_mlir.graph import size_code
from tir_mlir.graph.callee_types import renamed_types, substitute_size, unbound_sizes
from tir_mlir.graph.emit import as_tensor_list
from tir_mlir.graph.operators import find_operator
from tir_mlir.graph.operators.attributes import for_te, with_names
from tir_mlir.graph.size_code import GraphSizes
from tir_mlir.script.module import PrimFunc
from tir_mlir.te import Tensor, create_prim_func
from tir_mlir.te.source_location import share_location

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute
    from tir_mlir.te.expr import Expr

Ranges = Sequence[tuple[str, int, int]]
"""Names of sizes, each with its least and its greatest value (-1: none)."""


def _content(
    name: str,
    attributes: Mapping[str, PlainAttribute],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    _: GraphSizes,
    ranges: Ranges = (),
) -> Hashable:
    return find_operator(name).te, repr(sorted(attributes.items())), repr(inputs), tuple(results), tuple(ranges)


@cache_by_structure(_content)
def operator_program(
    name: str,
    attributes: Mapping[str, PlainAttribute],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    sizes: GraphSizes,
    ranges: Ranges = (),
) -> PrimFunc | list[int]:
    """The function of an operator on tensors of these types, or numbers; its last parameters are the results.

    A sum of sizes that no operand has alone is a size of its own: of (n + m, 2) the function takes (size, 2).
    ranges: of the sizes; one that is not right for all sizes assumes them, as a table of 512 rows read at each s needs
    s <= 512, and 1 <= s of others. If the operator returns inputs: their numbers. That of an equal operator on equal
    types is the same object: the caller copies it. Errors: GraphError for operands that it does not take.
    """
    renamed = unbound_sizes(inputs, results)
    symbols = {
        s for t in (*inputs, *results) if isinstance(t, TensorType) for n in t.shape for s in size_code.symbols(n)
    }
    limits = dict.fromkeys(symbols, (1, -1)) | {size: (least, end) for size, least, end in ranges}
    limits |= {new: bounds(text, limits) for text, new in renamed.items() if new.isidentifier()}
    size_names = {new: text for text, new in renamed.items() if new.isidentifier()}
    attempts = [(names, assumed) for assumed in ({}, limits)[: 2 if limits else 1] for names in ({}, renamed)]
    refused: GraphError | None = None
    with share_location():
        for names, assumed in attempts:
            types = renamed_types(inputs, names), renamed_types(results, names)
            try:
                return _program(name, with_names(attributes, names), *types, sizes, assumed, size_names)
            except GraphError as error:
                refused = refused or error
    assert refused is not None
    raise refused


def _program(
    name: str,
    attributes: Mapping[str, PlainAttribute],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    sizes: GraphSizes,
    limits: Mapping[str, tuple[int, int]],
    whole: Mapping[str, str],
) -> PrimFunc | list[int]:
    operands = [
        sizes.tensor(f"x{n}", t.shape, t.dtype) if isinstance(t, TensorType) else t for n, t in enumerate(inputs)
    ]
    tensors = [o for o in operands if isinstance(o, Tensor)]
    outputs = as_tensor_list(find_operator(name).apply(operands, for_te(attributes, sizes), inputs))
    if all(any(m is t for t in tensors) for m in outputs):
        return [next(n for n, t in enumerate(tensors) if t is m) for m in outputs]
    try:
        function = create_prim_func([*tensors, *outputs], assume=_conditions([*tensors, *outputs], sizes, limits))
    except (TirError, TypeError, ValueError, IndexError) as error:
        raise GraphError(f"{name} does not take {', '.join(map(str, inputs))}: {error}") from error
    types = [TensorType(sizes.shape(t.shape), t.dtype) for t in outputs]
    if len(types) != len(results) or not all(_types_equal(*pair, whole) for pair in zip(types, results, strict=True)):
        raise GraphError(f"{name} makes {', '.join(map(str, types))}; the graph has {', '.join(map(str, results))}")
    return function


def _conditions(tensors: Sequence[Tensor], sizes: GraphSizes, limits: Mapping[str, tuple[int, int]]) -> list[Expr]:
    """What is known of the sizes of tensors: least <= n, and n <= greatest where there is one."""
    names = [name for t in tensors for size in sizes.shape(t.shape) for name in size_code.symbols(size)]
    conditions = []
    for name in dict.fromkeys(names):
        least, greatest = limits.get(name, (0, -1))
        conditions += [sizes.variable(name) >= least] if least > 0 else []
        conditions += [sizes.variable(name) <= greatest] if greatest >= 0 else []
    return conditions


def _types_equal(lhs: TensorType, rhs: TensorType, whole: Mapping[str, str]) -> bool:
    """Whether two types are equal, for sizes that are written in any order. whole: what names of sizes stand for, as
    (size - 3) // 2 + 1 is t // 20 where `size` is t // 10 + 1."""

    same = lhs.dtype == rhs.dtype and len(lhs.shape) == len(rhs.shape)
    pairs = list(zip(lhs.shape, rhs.shape, strict=False))
    return same and all(equal(a, b) or equal(substitute_size(a, whole), substitute_size(b, whole)) for a, b in pairs)
