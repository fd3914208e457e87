"""Budgets of the user: what they change, where they hold, what is refused."""

from __future__ import annotations

import threading

import islpy as isl
import pytest
from programs.products import product

import tir_mlir
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir.memo import given_operations
from tir_mlir.dialect.presburger.questions import counter, question, used_operations


def verdict(operations: int | None) -> str:
    """What is said of a reordering under a budget."""
    sch = Schedule(product(16, 16, 16))
    i, j, k = sch.get_loops("C")
    if operations is None:
        return str(sch.can_reorder(k, j, i).verdict)
    with tir_mlir.budget(operations):
        return str(sch.can_reorder(k, j, i).verdict)


def test_the_answer_belongs_to_the_question_and_the_budget():
    assert [verdict(n) for n in (20, None, 20, 10**6, 20)] == [
        "not provable", "legal", "not provable", "legal", "not provable",
    ]  # fmt: skip


def test_one_schedule_is_asked_again_under_another_budget():
    sch = Schedule(product(16, 16, 16))
    i, j, k = sch.get_loops("C")
    with tir_mlir.budget(20):
        assert not sch.can_reorder(k, j, i)
    assert sch.can_reorder(k, j, i)


@pytest.mark.parametrize("given", [0, -5, 2.5, True, "many", None])
def test_only_positive_numbers(given):
    with pytest.raises(TirError, match=r"budget takes a positive number of operations, not .*; fix: budget"):
        with tir_mlir.budget(given):
            pass


def test_it_ends_with_the_statement_and_nests():
    with tir_mlir.budget(7):
        with tir_mlir.budget(9):
            assert given_operations() == 9
        assert given_operations() == 7
    with pytest.raises(KeyError), tir_mlir.budget(7):
        raise KeyError
    assert given_operations() is None


def test_it_is_that_of_its_thread():
    seen: list[str] = []
    with tir_mlir.budget(20):
        other = threading.Thread(target=lambda: seen.append(verdict(None)))
        other.start()
        other.join()
    assert seen == ["legal"]


def test_threads_under_different_budgets_do_not_mix():
    wrong: list[tuple[int, str]] = []

    def ask(operations: int, wanted: str) -> None:
        wrong.extend((operations, got) for _ in range(5) if (got := verdict(operations)) != wanted)

    cases = ((20, "not provable"), (10**6, "legal"), (20, "not provable"), (10**6, "legal"))
    threads = [threading.Thread(target=ask, args=case) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def spend(operations: int) -> None:
    for _ in range(operations):
        isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 511, 512, 5_000])
def test_operations_are_counted_to_the_one(count):
    with counter(10_000):
        spend(count)
        assert used_operations() == count


def test_what_is_computed_inside_a_question_is_not_counted_for_it():
    with tir_mlir.budget(1_000), question("whether"):
        spend(600)
        with counter(0):
            spend(5_000)
        with question("another"):
            spend(900)
        spend(399)
        with pytest.raises(isl.Error, match="operations"):
            spend(2)
