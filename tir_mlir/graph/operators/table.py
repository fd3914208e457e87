"""The table of all operators."""

from __future__ import annotations

from tir_mlir.graph.operators import arithmetic, networks, shaping
from tir_mlir.graph.operators.operator import Operator

OPERATORS: dict[str, Operator] = {
    operator.name: operator for operator in (*arithmetic.OPERATORS, *shaping.OPERATORS, *networks.OPERATORS)
}
_OWN = dict(OPERATORS)


def foreign_operators() -> list[str]:
    """The names of operators that users added or replaced; what is made of them is not known by their names."""
    return [name for name, operator in OPERATORS.items() if _OWN.get(name) is not operator]
