"""Calls of an implementation that `verify` and `interpret` run as its description: offsets, several calls."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, TensorIntrin, interpret
from tir_mlir.dialect.diagnostics import NotChecked, NotInterpreted
from tir_mlir.script import tir as T


@T.prim_func
def increment(X: T.Buffer((64,), "int32"), Y: T.Buffer((64,), "int32")):
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = X[vi] + 1


@T.prim_func
def desc(A: T.Buffer((16,), "int32", offset_factor=16), B: T.Buffer((16,), "int32", offset_factor=16)):
    for i in range(16):
        with T.block("x"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + 1


@T.prim_func
def by_offset(A: T.Buffer((16,), "int32", offset_factor=16), B: T.Buffer((16,), "int32", offset_factor=16)):
    with T.block("root"):
        T.reads(A[0:16])
        T.writes(B[0:16])
        T.evaluate(T.call_extern("int32", "increment_at", A.data, A.elem_offset // 16 + 1, B.data, B.elem_offset))


@T.prim_func
def in_two_calls(A: T.Buffer((16,), "int32", offset_factor=16), B: T.Buffer((16,), "int32", offset_factor=16)):
    with T.block("root"):
        T.reads(A[0:16])
        T.writes(B[0:16])
        T.evaluate(T.call_extern("int32", "increment_load", A.access_ptr("r")))
        T.evaluate(T.call_extern("int32", "increment_store", B.access_ptr("w"), B.elem_offset))


@T.prim_func
def half_of_it(X: T.Buffer((64,), "int32"), Y: T.Buffer((64,), "int32")):
    with T.block("root"):
        T.reads(X[0:64])
        T.writes(Y[0:64])
        T.evaluate(T.call_extern("int32", "increment_load", X.access_ptr("r")))


@pytest.fixture(params=[by_offset, in_two_calls], ids=["offset", "two calls"])
def scheduled(request):
    TensorIntrin.register("described.increment", desc, request.param, override=True)
    sch = Schedule(increment)
    sch.tensorize(sch.split(sch.get_loops("Y")[0], [None, 16])[1], "described.increment")
    return sch


def test_verify(scheduled):
    assert scheduled.verify()


def test_interpret(scheduled):
    x = np.arange(64, dtype=np.int32)
    y = np.zeros(64, np.int32)
    report = interpret(scheduled, x, y)
    np.testing.assert_array_equal(y, x + 1)
    assert report.runs["x"] == 64


def test_a_part_of_an_implementation_is_not_described():
    TensorIntrin.register("described.increment", desc, in_two_calls, override=True)
    with pytest.raises(NotChecked, match='the call of "increment_load" has no exact semantics'):
        Schedule(half_of_it).verify()
    with pytest.raises(NotInterpreted, match='the function "increment_load" has no body'):
        interpret(half_of_it, np.zeros(64, np.int32), np.zeros(64, np.int32))
