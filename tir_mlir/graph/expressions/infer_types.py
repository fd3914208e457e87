"""The types of the results of operators, and which arguments of a call in Python are operands and which attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.expressions.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from tir_mlir.graph.operators import OPERATORS, Operator
from tir_mlir.te import Tensor, placeholder

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import Attribute


def infer_operator(name: str, infos: Sequence[StructInfo], attrs: Mapping[str, Attribute]) -> StructInfo:
    """What is known of the value of an operator of the table. Errors: GraphError for operands that do not fit."""
    operator = OPERATORS[name]
    flat = [f for info in infos for f in (info.fields if isinstance(info, TupleStructInfo) else [info])]
    tensors = [_placeholder(name, number, info) for number, info in enumerate(flat)]
    output = operator.apply(tensors, attrs, infos)
    if isinstance(output, Tensor):
        return TensorStructInfo(output.shape, output.dtype)
    return TupleStructInfo([TensorStructInfo(t.shape, t.dtype) for t in output])


def _placeholder(name: str, number: int, info: StructInfo) -> Tensor:
    if not isinstance(info, TensorStructInfo) or info.shape is None:
        raise GraphError(f"operand {number} of {name} is {info}: its shape is not known; fix: R.Tensor(shape, dtype)")
    return placeholder(tuple(info.shape), info.dtype, name=f"x{number}")


def split_arguments(
    operator: Operator, args: Sequence[object], keywords: Mapping[str, object]
) -> tuple[list[object], dict[str, object]]:
    """The operands and the attributes of a call as Python writes it: `softmax(x, -1)` -> [x], {"axis": -1}.

    Of an operator of a tuple, `concat((x, y), 0)`, the tuple is the operand. Optional operands that are None are left
    out at the end. Those that are taken by keyword only are behind the others. Errors: GraphError.
    """
    if operator.takes_tuple and args:
        named = dict(zip(operator.attrs, args[1:], strict=False))
        return [args[0]], {k: v for k, v in {**named, **keywords}.items() if v is not None}
    try:
        bound = signature(operator).bind(*args, **keywords)
    except TypeError as error:
        raise GraphError(f"{operator.name}{signature(operator)}: {error}") from None
    operands: list[object] = []
    attrs: dict[str, object] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if name in operator.attrs or name in operator.named:
            attrs[name] = value
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            operands += value
        elif kind is inspect.Parameter.VAR_KEYWORD:
            attrs |= value
        else:
            operands.append(value)
    while operands and operands[-1] is None:
        operands.pop()
    operands = operator.with_named(operands, attrs)
    return operands, {k: v for k, v in attrs.items() if v is not None}


def signature(operator: Operator) -> inspect.Signature:
    """The parameters of an operator: operands, then its attributes, with their defaults."""
    return _signature(operator.te)


@cache
def _signature(te: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(te)
