"""Names of sizes that are products of shape variables, quotients and remainders: parts, values, other names."""

from __future__ import annotations

import numpy as np
import pytest

import tir_mlir
from tir_mlir import te
from tir_mlir.dialect.ir.size_products import factor_names, rename_size, shape_variables, value_of

NAMES = {
    "m": (("m",), ("m",), 70),
    "m * n": (("m", "n"), ("m", "n"), 70 * 33),
    "m * ((n + 15) // 16)": (("m", "((n + 15) // 16)"), ("m", "n"), 70 * 3),
    "((m * 2) // 3) * ((n + 15) % 16)": (("((m * 2) // 3)", "((n + 15) % 16)"), ("m", "n"), 46 * 0),
    "(((m * n) + 3) // 4) * n": (("(((m * n) + 3) // 4)", "n"), ("m", "n"), 578 * 33),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_size(name: str) -> None:
    factors, variables, value = NAMES[name]
    assert factor_names(name) == factors
    assert shape_variables(name) == variables
    assert value_of(name, {"m": 70, "n": 33}) == value
    assert value_of(name, {"n": 33}) is None
    other = rename_size(name, {"m": "rows", "n": "m"})
    assert value_of(other, {"rows": 70, "m": 33}) == value


def test_text_with_an_open_parenthesis_is_one_name() -> None:
    assert factor_names("m * (n") == ("m * (n",)


def test_a_quotient_that_is_negative_for_small_sizes_is_a_factor() -> None:
    rows, n = te.var("rows"), te.var("n")
    x = te.placeholder((rows, n), name="x")
    y = te.placeholder((rows * (((n - 3) // 2 - 1) // 2 + 1),), name="y")
    lib = tir_mlir.build(te.create_prim_func([x, y, te.compute(y.shape, lambda i: y[i] + 1.0, name="z")]))
    for size in (3, 7, 16):
        given = np.zeros(3 * (((size - 3) // 2 - 1) // 2 + 1), "float32")
        lib(np.zeros((3, size), "float32"), given, result := given.copy())
        assert (result == 1).all()
