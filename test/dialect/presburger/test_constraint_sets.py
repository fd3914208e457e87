"""Constraints and iterations as isl sets."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Constraint, Index, all_blocks, enter_context, funcs
from tir_mlir.dialect.presburger import Domain, constraint_set, domain, guard_set, question, simplify_index
from tir_mlir.script import tir as T


@T.prim_func
def guarded(A: T.Buffer((50,), "float32")):
    for i, j in T.grid(4, 16):
        with T.block("A"):
            vi = T.axis.spatial(50, i * 16 + j)
            T.where(i * 16 + j < 50)
            A[vi] = 0.0


def _points(found: Domain, index: Index, is_eq: bool = False) -> int:
    return found.set.intersect(constraint_set(found, Constraint(index, is_eq))).count_val().to_python()


def test_constraints_over_iterations():
    module = guarded.isolated_module.mlir
    with enter_context():
        block = all_blocks(funcs(module)[0].op)[0]
        inside, everywhere = domain(block.op), domain(block.op, guards=False)
        assert inside.set.count_val().to_python() == 50
        assert everywhere.set.count_val().to_python() == 64
        guard = block.where
        assert guard is not None
        assert everywhere.set.intersect(guard_set(everywhere, guard)).is_equal(inside.set)
        i, j = (Index.from_value(v) for v in inside.dims)
        assert _points(inside, j - 8) == 24  # 8 for i = 0, 1, 2; i = 3 has j in [0, 2)
        assert _points(inside, i - 3, is_eq=True) == 2


def test_simplified_over_iterations():
    module = guarded.isolated_module.mlir
    with enter_context():
        found = domain(all_blocks(funcs(module)[0].op)[0].op)
        i, j = (Index.from_value(v) for v in found.dims)
        assert simplify_index((i * 16 + j) // 16, found).is_equal_to(i)
        assert simplify_index((i * 16 + j) % 16, found).is_equal_to(j)
        assert simplify_index((i * 16 + j + 14) // 64, found).as_constant() == 0  # only under the guard: below 50


def test_a_question_has_a_budget():
    with pytest.raises(NotProvable, match="whether it ends"), question("whether it ends"):
        import islpy as isl

        isl.DEFAULT_CONTEXT.set_max_operations(1)
        isl.Set("{ [i, j] : 0 <= i, j < 100 and (exists a, b: i + 3 j = 7 a + 5 b and a > b) }").lexmin()
