"""`T.assume` of data: parsed and printed, of no consequence for a run."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.passes.lower import LOWERINGS
from tir_mlir.script import parse
from tir_mlir.script import tir as T


@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("promise"):
            vi = T.axis.spatial(16, i)
            T.assume(vi < 14 or A[vi] == 0.0)
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.evaluate(T.assume(A[vi] >= 0.0))
            B[vi] = A[vi] + 1.0


def test_text_comes_back():
    text = main.script()
    assert "T.assume(vi < 14 or A[vi] == T.float32(0.0))" in text
    assert "T.assume(A[vi] >= T.float32(0.0))" in text
    assert parse(text).script() == text


def test_a_promise_that_is_not_kept_changes_nothing():
    a, b = np.full(16, -3, np.float32), np.empty(16, np.float32)
    build(main)(a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_lowering_drops_it_and_its_unused_operands():
    with enter_context():
        copy = clone_module(main.isolated_module.mlir)
        LOWERINGS["tir-lower-blocks"].run(copy)
    text = str(copy)
    assert "assume" not in text and "cmpf" not in text
    assert text.count("affine.for") == 1


def test_outside_a_block_it_speaks_of_sizes():
    with pytest.raises(ScriptError, match="shape variables"):

        @T.prim_func
        def wrong(A: T.Buffer((16,), "float32")):
            T.assume(A[0] == 0.0)
            for i in range(16):
                with T.block("A"):
                    vi = T.axis.spatial(16, i)
                    A[vi] = 0.0
