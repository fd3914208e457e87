"""The operators of graphs: a row each, with name, attributes, kind and meaning as a tensor expression."""

import difflib
from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import Node, TensorFunc
from tir_mlir.extensions import implement
from tir_mlir.graph.operators import arithmetic, networks, shaping
from tir_mlir.graph.operators.array_rules import ArrayRule
from tir_mlir.graph.operators.operator import Operator, OperatorKind
from tir_mlir.script.printer import graphs
from tir_mlir.script.printer.expression_text import sequence

__all__ = [
    "OPERATORS",
    "Operator",
    "OperatorKind",
    "array_rule",
    "find_operator",
    "foreign_operators",
    "is_homogeneous",
    "kind_of",
    "shown_operands",
    "takes_tuple",
]

OPERATORS: dict[str, Operator] = {
    operator.name: operator for operator in (*arithmetic.OPERATORS, *shaping.OPERATORS, *networks.OPERATORS)
}
_OWN = dict(OPERATORS)


def foreign_operators() -> list[str]:
    """The names of operators that users added or replaced; what is made of them is not known by their names."""
    return [name for name, operator in OPERATORS.items() if _OWN.get(name) is not operator]


def takes_tuple(name: str | None) -> bool:
    """Whether the operand of an operator is a tuple of any number of tensors."""
    return name in OPERATORS and OPERATORS[name].takes_tuple


def shown_operands(name: str | None, operands: Sequence[str]) -> list[str]:
    """The operands of an operator as text of a call."""
    return OPERATORS[name].format_operands(operands) if name in OPERATORS else list(operands)


@implement(graphs.show_operands)
def show_operands(operator: str | None, operands: Sequence[str]) -> list[str]:
    """The operands as text of a call in a script."""
    return [sequence(list(operands))] if takes_tuple(operator) else shown_operands(operator, operands)


def kind_of(name: str | None) -> OperatorKind:
    """The kind of an operator; None is not an operator."""
    operator = OPERATORS.get(name) if name is not None else None
    return OperatorKind.OTHER if operator is None else operator.kind


def is_homogeneous(name: str) -> bool:
    """Whether the result of an operator is multiplied by a positive number by which all its operands are."""
    return name in OPERATORS and OPERATORS[name].homogeneous


def array_rule(func: TensorFunc, node: Node) -> ArrayRule | None:
    """How NumPy computes a node of a graph on weights; None: it does not, or not at the speed of memory."""
    operator = OPERATORS.get(node.operator or "")
    if operator is None or operator.arrays is None:
        return None
    operands = [func.type_of(value) for value in node.inputs]
    return operator.arrays if operator.arrays.applies(node.attributes, operands, node.types) else None


def find_operator(name: str) -> Operator:
    """An operator of the table, with or without `relax.`. Errors: GraphError with the names that are near."""
    operator = OPERATORS.get(name.removeprefix("relax."))
    if operator is None:
        near = difflib.get_close_matches(name.removeprefix("relax."), OPERATORS, n=3, cutoff=0.5)
        way = f"; near: {', '.join(near)}" if near else ""
        raise GraphError(f"no operator {short_repr(name)}{way}; fix: call_te with a te function of your own")
    return operator
