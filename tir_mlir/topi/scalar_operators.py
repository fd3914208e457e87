"""The operators of tensors that are a scalar function of each element, as the records of `dialect.ops` say."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from tir_mlir import te
from tir_mlir.dialect.ops import SCALAR_FUNCTIONS, ScalarFunction
from tir_mlir.dialect.ops.declare import declare
from tir_mlir.te.expr import t_call
from tir_mlir.topi.broadcast import BINARY_DOC, KINDS, broadcast_elements, operand_type
from tir_mlir.topi.elementwise import map_elements
from tir_mlir.topi.operands import Operand, as_type, floats, numbers, of_type, tensor, wide_type

__all__: list[str] = []

_UNARY_DOC = """{doc}

    topi.{name}(x)     # x: (n, m) -> (n, m)

x: a tensor of {takes} of any shape -> a tensor of its shape{result}, element by element. Errors: GraphError
for a tensor of another type; fix: `topi.astype(x, "{fix}")`.
"""


def _unary(one: ScalarFunction) -> Callable[..., te.Tensor]:
    """The function of every element. One that others make is computed in the wide type, and rounded once."""
    result, fix = ", of bool" if one.predicate else " and type", "bool" if one.takes == "bools" else "float32"
    doc = _UNARY_DOC.format(doc=one.doc, name=one.topi, takes=KINDS.get(one.takes, one.takes), result=result, fix=fix)

    @functools.wraps(declare(__name__, one.topi, one.params, doc, "te.Tensor", "te.Tensor"))
    def operator(x: te.Tensor) -> te.Tensor:
        operand = _operand(one, x)
        dtype = operand.dtype
        middle = wide_type(dtype) if one.by else dtype
        element = lambda v: as_type(t_call(one.name, as_type(v, dtype, middle)), middle, dtype)  # noqa: E731
        return map_elements(one.topi, operand, element)

    return operator


def _operand(one: ScalarFunction, x: te.Tensor) -> te.Tensor:
    if one.takes == "floats":
        return floats(one.topi, "x", x)
    operand = tensor(one.topi, "x", x)
    if one.takes == "bools":
        return of_type(one.topi, "x", operand, ("bool",), "of bool")
    return numbers(one.topi, "x", operand)


def _binary(one: ScalarFunction) -> Callable[..., te.Tensor]:
    """The function of the elements of two tensors that broadcast, or of a tensor and a number."""
    names = dict(zip(one.params, ("lhs", "rhs"), strict=True))
    text = re.sub(r"\b\w+\b", lambda word: names.get(word[0], word[0]), one.doc)
    kinds = KINDS.get(one.takes, one.takes)
    doc = BINARY_DOC.format(doc=text, name=one.topi, takes=kinds, result="bool" if one.predicate else "their type")

    @functools.wraps(declare(__name__, one.topi, ("lhs", "rhs"), doc, "Operand", "te.Tensor"))
    def operator(lhs: Operand, rhs: Operand) -> te.Tensor:
        dtype = operand_type(one.topi, one.takes, lhs, rhs)
        return broadcast_elements(one.topi, dtype, (lhs, rhs), functools.partial(t_call, one.name))

    return operator


for _one in SCALAR_FUNCTIONS.values():
    if _one.topi:
        globals()[_one.topi] = (_unary if len(_one.params) == 1 else _binary)(_one)
        __all__ += (_one.topi,)
