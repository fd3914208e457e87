"""The TensorIR function of an operator for given types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.emit import find_operator, listed
from tir_mlir.graph.operator_attributes import for_te
from tir_mlir.graph.sizes import Sizes
from tir_mlir.passes.graph import size_code
from tir_mlir.script.module import PrimFunc
from tir_mlir.te import Tensor, create_prim_func


def operator_program(
    name: str,
    given: Mapping[str, Any],
    inputs: Sequence[TensorType | float],
    results: Sequence[TensorType],
    sizes: Sizes,
) -> PrimFunc | list[int]:
    """The function of an operator on tensors of these types, or numbers; its last parameters are the results.

    If the operator returns inputs: their numbers. Errors: GraphError for operands that it does not take.
    """
    operands = [
        sizes.tensor(f"x{n}", t.shape, t.dtype) if isinstance(t, TensorType) else t for n, t in enumerate(inputs)
    ]
    tensors = [o for o in operands if isinstance(o, Tensor)]
    try:
        made = listed(find_operator(name).te(*operands, **for_te(given, sizes)))
        if all(any(m is t for t in tensors) for m in made):
            return [next(n for n, t in enumerate(tensors) if t is m) for m in made]
        function = create_prim_func([*tensors, *made])
    except GraphError:
        raise
    except (TirError, TypeError, ValueError, IndexError) as error:
        raise GraphError(f"{name} does not take {', '.join(map(str, inputs))}: {error}") from error
    types = [TensorType(sizes.shape(t.shape), t.dtype) for t in made]
    if len(types) != len(results) or not all(map(_same, types, results)):
        raise GraphError(f"{name} makes {', '.join(map(str, types))}; the graph has {', '.join(map(str, results))}")
    return function


def _same(one: TensorType, other: TensorType) -> bool:
    """Whether two types are equal, for sizes that are written in any order."""
    same = one.dtype == other.dtype and len(one.shape) == len(other.shape)
    return same and all(map(_same_size, one.shape, other.shape))


def _same_size(one: int | str, other: int | str) -> bool:
    if one == other or isinstance(one, int) or isinstance(other, int):
        return one == other
    names = sorted({*size_code.symbols(one), *size_code.symbols(other)})
    left, right = size_code.affine(one, names), size_code.affine(other, names)
    return left is not None and left == right
