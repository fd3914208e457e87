"""`build(..., verify=True)`: wrong machine code is refused with the element, right code is not."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.examples import matmul
from tir_mlir.interpreter.machine_code import Guarded, check
from tir_mlir.script import parse


def elementwise(text: str, source: str = "float32", dtype: str = "float32", count: Any = 50) -> Any:
    return parse(f"""
    @T.prim_func
    def f(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, ({count},), "{source}")
        B = T.match_buffer(b, ({count},), "{dtype}")
        for i in range({count}):
            with T.block("B"):
                vi = T.axis.spatial({count}, i)
                if vi < 41:
                    B[vi] = {text}
    """)


class Replaced:
    """A library whose function is another one."""

    def __init__(self, function: Any):
        self._function = function

    def __getitem__(self, name: str) -> Any:
        return self._function


def wrong(program: Any, function: Any) -> str:
    with pytest.raises(BuildError) as caught:
        check(Replaced(function), program.mlir)
    return str(caught.value)


RIGHT = {
    "narrowing": elementwise('T.Cast("int8", A[vi])', "int32", "int8"),
    "bfloat16": elementwise('T.Cast("bfloat16", T.exp(A[vi]))', "float32", "bfloat16"),
    "symbolic": elementwise("A[vi] / (A[vi] + T.float32(2))", count="n"),
    "maximum": elementwise("T.max(A[vi], T.float32(0))"),
    "sign": elementwise('T.Cast("float64", T.max(A[vi], -A[vi]) - A[vi])', "float32", "float64"),
    "bool": elementwise("A[vi] > T.float32(0)", dtype="bool"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_is_built(name: str):
    sch = Schedule(RIGHT[name])
    sch.vectorize(sch.split(sch.get_loops("B")[0], [None, 8])[1])
    build(sch, verify=True)


def test_a_schedule_with_kernels_is_compared():
    build(matmul.schedule_matmul(32, 32, 32), verify=True)


def test_the_first_wrong_element_is_named():
    def negated_last(a: np.ndarray, b: np.ndarray) -> None:
        b[:41] = a[:41]
        b[40] += 1

    text = wrong(elementwise("A[vi]"), negated_last)
    assert re.search(r"f: machine code and interpreter differ: B\[40\] is .*, and .* by the interpreter", text)
    assert "(data: small whole numbers)" in text


def test_a_lost_sign_of_zero_is_named():
    def absolute_zero(a: np.ndarray, b: np.ndarray) -> None:
        b[:41] = np.where(a[:41] == 0, 0.0, a[:41])

    assert re.search(r"B\[\d+\] is 0\.0, and -0\.0 by the interpreter", wrong(elementwise("A[vi]"), absolute_zero))


def test_a_lost_nan_is_named():
    def without_nan(a: np.ndarray, b: np.ndarray) -> None:
        b[:41] = np.where(np.isnan(a[:41]), 1, a[:41])

    text = wrong(elementwise("A[vi]"), without_nan)
    assert re.search(r"B\[\d+\] is 1\.0, and nan by the interpreter \(data: the ends of the types\)", text)


def test_a_size_is_named():
    def to_the_last(a: np.ndarray, b: np.ndarray) -> None:
        b[: min(len(a), 41)] = a[:41]
        if len(a) == 17:
            b[0] = 99

    assert re.search(
        r"B\[0\] is 99\.0, .* \(data: small whole numbers, n = 17\)",
        wrong(elementwise("A[vi]", count="n"), to_the_last),
    )


@pytest.mark.parametrize(("offset", "place"), [(50, "at byte 0 behind its end"), (-1, "4 bytes before its start")])
def test_a_byte_outside_of_a_buffer_is_named(offset: int, place: str):
    def beyond(a: np.ndarray, b: np.ndarray) -> None:
        b[:41] = a[:41]
        address = b.__array_interface__["data"][0] + 4 * offset
        ctypes.c_float.from_address(address).value = 1.0

    assert f"f: machine code writes outside B, {place}" in wrong(elementwise("A[vi]"), beyond)


def test_a_guarded_array_has_the_strides_of_the_given_one():
    given = np.arange(60.0).reshape(6, 10)[:, :4]
    guarded = Guarded(given)
    np.testing.assert_array_equal(guarded.array, given)
    assert guarded.array.strides == given.strides and not guarded.find_overwritten()
    guarded.memory.view()[np.flatnonzero(guarded.memory == 0xA5)[300]] = 0
    assert guarded.find_overwritten()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: build(matmul.schedule_matmul(1024, 1024, 1024), verify=True),
            "main is too large to be interpreted; fix: ",
        ),
        (lambda: build(RIGHT["bool"], target="cuda", verify=True), r'not for GPUs; .*sch\.verify\(target="cuda"\)'),
        (lambda: build(RIGHT["bool"], verify=1), "verify is True or False, not 1"),
    ],
    ids=["large", "gpu", "not a bool"],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(call: Any, message: str):
    with pytest.raises(BuildError, match=message):
        call()
