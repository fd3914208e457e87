"""The operators of graphs: a row each, with name, attributes, kind and meaning as a tensor expression."""

from tir_mlir.graph.operators import arithmetic, networks, shaping
from tir_mlir.graph.operators.operator import Operator, OperatorKind

__all__ = ["OPERATORS", "Operator", "OperatorKind", "foreign_operators", "kind_of", "takes_tuple"]

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


def kind_of(name: str | None) -> OperatorKind:
    """The kind of an operator; None is no operator."""
    operator = OPERATORS.get(name) if name is not None else None
    return OperatorKind.OTHER if operator is None else operator.kind
