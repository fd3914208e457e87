"""`interpret` with arrays by keyword."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from harness import scripts

from tir_mlir import interpret
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.interpreter.interpret import OPTIONS

COPY = """
for i, j in T.grid(16, 8):
    with T.block("b"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj]
"""


def _run(*args, **named) -> None:
    interpret(scripts.function(COPY), *args, **named)


def _arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.ones((16, 8), np.float32), np.zeros((16, 8), np.float32)


def test_arrays_by_name() -> None:
    a, b = _arrays()
    _run(B=b, A=a, exact=True)
    np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b", r"main has no parameter 'b' \(did you mean 'B'\?\); it is main\(A: "),
        ("out", r"main has no parameter 'out'; it is main\(A: "),
        ("breakpoint", r"interpret has no option 'breakpoint' \(did you mean 'breakpoints'\?\)"),
    ],
)
def test_an_unknown_name(name: str, message: str) -> None:
    a, b = _arrays()
    with pytest.raises(ArgumentError, match=message):
        _run(a, **{name: b})


def test_the_options_are_those_of_interpret() -> None:
    kinds = inspect.signature(interpret).parameters.values()
    assert [p.name for p in kinds if p.kind is p.KEYWORD_ONLY] == list(OPTIONS)
