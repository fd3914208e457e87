"""Which loads and stores are one update `X[f] = X[f] op value` of a declared reduction."""

import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import relations_of
from tir_mlir.dialect.analysis.reduction_updates import is_one_sum, is_reduction_pair
from tir_mlir.dialect.ir import is_inside

SUM = """
for i, k in T.grid(4, 8):
    with T.block("C"):
        vi, vk = T.axis.remap("{kinds}", [i, k])
        with T.init():
            C[vi] = 0.0
        C[vi] = {update}
"""


def pairs(n):
    """(load, store) of the update, and the store of the init."""
    found = relations_of(n.func.op, n.buffers["C"])
    init = n.blocks["C"].init
    first = next(t for t in found if is_inside(t.access.op, init))
    rest = [t for t in found if t is not first]
    return next(t for t in rest if not t.access.is_write), next(t for t in rest if t.access.is_write), first


@pytest.mark.parametrize(
    "update",
    [
        "C[vi] + A[vi, vk]",
        "A[vi, vk] + C[vi]",
        "C[vi] * A[vi, vk]",
        "T.max(C[vi], A[vi, vk])",
        "C[vi] + A[vi, vk] * A[vi, vk]",
    ],
)
def test_an_update(update):
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4,))", SUM.format(kinds="SR", update=update)) as n:
        load, store, first = pairs(n)
        assert is_reduction_pair(load, store) and is_reduction_pair(store, store)
        assert not is_reduction_pair(load, first) and is_one_sum(load, first) and is_one_sum(store, store)


@pytest.mark.parametrize(
    "update",
    [
        "C[vi] - A[vi, vk]",  # the order of two differences counts
        "C[vi] / A[vi, vk]",
        "C[vi] + C[vi] * A[vi, vk]",  # the running value comes in twice
        "(C[vi] + A[vi, vk]) * 2.0",
    ],
)
def test_what_is_not_one(update):
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4,))", SUM.format(kinds="SR", update=update)) as n:
        load, store, _ = pairs(n)
        assert not is_reduction_pair(load, store) and not is_one_sum(load, store)


def test_of_another_element():
    text = """
for i, k in T.grid(4, 8):
    with T.block("C"):
        vi = T.axis.opaque(4, i)
        vk = T.axis.reduce(8, k)
        C[vi] = C[3 - vi] + A[vi, vk]
"""
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4,))", text) as n:
        load, store = relations_of(n.func.op, n.buffers["C"])
        assert not is_reduction_pair(load, store)


def test_without_a_reduce_iter():
    text = """
for i, k in T.grid(4, 8):
    with T.block("C"):
        vi = T.axis.spatial(4, i)
        vk = T.axis.opaque(8, k)
        C[vi] = C[vi] + A[vi, vk]
"""
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4,))", text) as n:
        load, store = relations_of(n.func.op, n.buffers["C"])
        assert not is_reduction_pair(load, store) and not is_one_sum(load, store)
