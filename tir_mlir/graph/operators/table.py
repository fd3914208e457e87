"""The table of all operators."""

from __future__ import annotations

from tir_mlir.graph.operators import arithmetic, networks, shaping
from tir_mlir.graph.operators.operator import Operator

OPERATORS: dict[str, Operator] = {
    operator.name: operator for operator in (*arithmetic.OPERATORS, *shaping.OPERATORS, *networks.OPERATORS)
}
