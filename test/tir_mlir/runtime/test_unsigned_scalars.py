"""Unsigned scalar arguments on the fast call path."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ArgumentError

TEXT = """
@T.prim_func
def main(A: T.Buffer((4,), "{0}"), k: T.{0}):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = k
"""
DTYPES = ["uint8", "uint16", "uint32", "uint64"]


def _calls_of_python(call, *args) -> int:
    """How many Python functions a call enters."""
    entered = []
    sys.setprofile(lambda frame, event, _: entered.append(frame) if event == "call" else None)
    try:
        call(*args)
    finally:
        sys.setprofile(None)
    return len(entered)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_later_call_enters_no_python(dtype: str) -> None:
    main = build(parse(TEXT.format(dtype)))["main"]
    a = np.zeros(4, dtype)
    main(a, 1)
    top = min(np.iinfo(dtype).max, 2**63 - 1)
    for value in (0, 7, top):
        assert _calls_of_python(main, a, value) == 0
        np.testing.assert_array_equal(a, np.full(4, value, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_value_outside_the_type_is_refused(dtype: str) -> None:
    main = build(parse(TEXT.format(dtype)))["main"]
    a = np.zeros(4, dtype)
    main(a, 1)
    for value in (-1, int(np.iinfo(dtype).max) + 1):
        with pytest.raises(ArgumentError, match="k"):
            main(a, value)
    np.testing.assert_array_equal(a, np.ones(4, dtype))


def test_the_upper_half_of_uint64_is_passed_by_the_checked_path() -> None:
    main = build(parse(TEXT.format("uint64")))["main"]
    a = np.zeros(4, "uint64")
    for value in (1, 2**63, 2**64 - 1):
        main(a, value)
        assert a[0] == value
