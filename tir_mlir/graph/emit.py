"""Create nodes of operators at the current insertion point, with types inferred from the operator table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorType, create
from tir_mlir.dialect.ir import cache_by_structure, dtypes
from tir_mlir.graph.operators import Operator
from tir_mlir.graph.operators.attributes import complete, for_te
from tir_mlir.graph.size_code import GraphSizes
from tir_mlir.te import Tensor
from tir_mlir.te.source_location import share_location

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute


def emit(
    module: ir.Module,
    operator: Operator,
    inputs: Sequence[tuple[ir.Value, TensorType]],
    explicit: Mapping[str, object],
    sizes: GraphSizes,
    names: Sequence[str],
    makes: Sequence[TensorType] | None = None,
) -> Node:
    """A node of an operator: a named linalg op that computes the same, else a call. Errors: GraphError.

    names: of the results; the first one is repeated if there are fewer. makes: the types of the results, where the
    caller knows them.
    """
    attributes = complete(operator, explicit, sizes)
    values, types = [v for v, _ in inputs], [t for _, t in inputs]
    results = infer(operator, types, attributes, sizes) if makes is None else list(makes)
    named = [*names, *[names[0]] * (len(results) - len(names))]
    if form := named_linalg_form(operator, types, results, attributes):
        return create.named_linalg(form, operator.name, values, results[0], named[0])
    result_types = [t.mlir for t in results]
    declared = create.operator(module, operator.name, attributes, [v.type for v in values], result_types)
    return create.call(declared, values, results, named)


@cache_by_structure(
    lambda operator, types, attributes, _: (operator.te, tuple(types), repr(sorted(attributes.items())))
)
def infer(
    operator: Operator, types: Sequence[TensorType], attributes: Mapping[str, PlainAttribute], sizes: GraphSizes
) -> list[TensorType]:
    """The types of the results of an operator, with plain attributes. Errors: GraphError.

    Those of equal operators on equal types are inferred once: the layers of a model repeat.
    """
    with share_location():
        tensors = [sizes.tensor(f"x{n}", t.shape, t.dtype) for n, t in enumerate(types)]
        outputs = operator.apply(tensors, for_te(attributes, sizes), types)
    return [TensorType(sizes.shape(t.shape), t.dtype) for t in as_tensor_list(outputs)]


def named_linalg_form(
    operator: Operator,
    inputs: Sequence[TensorType],
    results: Sequence[TensorType],
    attributes: Mapping[str, PlainAttribute],
) -> str | None:
    """The named linalg op that computes just what an operator does for these types: no broadcast, no cast."""
    form, types = operator.linalg, (*inputs, *results)
    if form is None or attributes or len({t.dtype for t in types}) != 1 or not dtypes.is_float(results[0].dtype):
        return None
    ranks = {len(t.shape) for t in types}
    if form in create.CONTRACTIONS:
        batched = ranks == {3} and inputs[0].shape[0] == inputs[1].shape[0]
        return "linalg.batch_matmul" if batched else form if ranks == {2} else None
    return form if len({t.shape for t in types}) == 1 and form != "linalg.transpose" else None


def as_tensor_list(outputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    """The results of a te function: one tensor or several."""
    return list(outputs) if isinstance(outputs, Sequence) else [outputs]
