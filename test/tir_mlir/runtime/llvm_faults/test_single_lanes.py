"""Masked stores of one narrowed lane: machine code leaves what is behind the lane as it was."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.runtime.llvm.object_code import store_single_lanes
from tir_mlir.script import parse

PAIRS = [
    ("int16", "int8"), ("int32", "int8"), ("int32", "int16"), ("int64", "int8"), ("int64", "int16"), ("int64", "int32"),
    ("uint16", "uint8"), ("uint32", "uint8"), ("uint64", "uint32"), ("float32", "bfloat16"), ("float32", "float16"),
    ("float64", "float32"), ("int32", "int32"), ("float32", "int8"),
]  # fmt: skip


def guarded(source: str, dtype: str, count: int, limit: int) -> Any:
    return parse(f"""
    @T.prim_func
    def f(A: T.Buffer(({count},), "{source}"), B: T.Buffer(({count},), "{dtype}")):
        for i in range({count}):
            with T.block("B"):
                vi = T.axis.spatial({count}, i)
                if vi < {limit}:
                    B[vi] = T.Cast("{dtype}", A[vi])
    """)


@pytest.mark.few(3)
@pytest.mark.parametrize("driver", ["jit", "tools"])
@pytest.mark.parametrize(("source", "dtype"), PAIRS)
def test_a_last_vector_of_few_lanes_stores_these(source: str, dtype: str, driver: str):
    numpy_type = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    for lanes in (2, 4, 8, 16, 32) if driver == "jit" else (8,):
        for last in (1, 3):
            count, limit = 3 * lanes + 5, 2 * lanes + last % lanes
            sch = Schedule(guarded(source, dtype, count, limit))
            sch.vectorize(sch.split(sch.get_loops("B")[0], [None, lanes])[1])
            given, result = np.arange(1, count + 1).astype(source), np.full(count, 77, numpy_type)
            build(sch, driver=driver)(given, result)
            wanted = np.where(np.arange(count) < limit, np.arange(1, count + 1), 77)
            np.testing.assert_array_equal(result.astype(np.int64), wanted, err_msg=f"{lanes} lanes, the last {last}")


def stored(call: str) -> str:
    return store_single_lanes(f"define void @f(ptr %p, <4 x i8> %t) {{\n  {call}\n  ret void\n}}")


def call(mask: str, pointer: str = "ptr align 4 %p", value: str = "%t") -> str:
    return f"call void @llvm.masked.store.v4i8.p0(<4 x i8> {value}, {pointer}, <4 x i1> {mask})"


def test_what_else_a_call_says_is_kept():
    text = stored(
        "tail " + call("<i1 false, i1 poison, i1 true, i1 false>", "ptr nonnull align 4 @g") + ", !noalias !7"
    )
    assert "%tir.lane.0 = extractelement <4 x i8> %t, i64 2" in text
    assert "%tir.lane.0.slot = getelementptr i8, ptr @g, i64 2" in text
    assert "store i8 %tir.lane.0, ptr %tir.lane.0.slot, align 2, !noalias !7" in text


@pytest.mark.parametrize("mask", ["<i1 true, i1 true, i1 false, i1 false>", "zeroinitializer", "splat (i1 true)", "%m"])
def test_other_masks_stay(mask: str):
    assert call(mask) in stored(call(mask))
