"""Sizes as text: products, values, ops, affine forms."""

import pytest
from mlir import ir
from mlir.dialects import arith
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph import size_code


def test_a_product_keeps_expressions_in_parentheses():
    assert size_code.product((4, "n + 1", 3)) == "12 * (n + 1)"
    assert size_code.product((4, 3)) == 12


def test_an_empty_tensor_has_no_bytes():
    assert size_code.product(("n", 0)) == 0


@pytest.mark.parametrize(("text", "expected"), [("n + 1", 8), ("(n - 1) // 2 * m", 9), ("n % 4 + m", 6), ("-n + 9", 2)])
def test_values(text, expected):
    assert size_code.value(text, {"n": 7, "m": 3}) == expected


def test_a_product_of_names_is_not_affine():
    with enter_context():
        assert size_code.affine("n * m", ["n", "m"]) is None
        assert str(size_code.affine("n - 1", ["n"])) == "s0 - 1"


@pytest.mark.parametrize("n", [0, 2, 7])
@pytest.mark.parametrize("text", ["(n - 5) % 3", "(n - 5) // 3", "n * n + 4 - n"])
def test_emitted_ops_round_down(text, n):
    with enter_context(), ir.Location.unknown():
        module = ir.Module.parse("func.func @f() -> index { %c = arith.constant 0 : index return %c : index }")
        end = module.body.operations[0].regions[0].blocks[0].operations[1]
        with ir.InsertionPoint(end):
            end.operands[0] = size_code.emit_size(text, {"n": arith.constant(ir.IndexType.get(), n)})
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        assert f"arith.constant {size_code.value(text, {'n': n})} : index" in str(module)


def test_other_python_is_refused():
    with pytest.raises(GraphError, match=r"a size is a number, a name, or sums.*n \*\* 2"):
        size_code.value("n ** 2", {"n": 2})


@pytest.mark.parametrize(
    ("size", "other", "known"),
    [
        (8, 4, True),
        (4, 8, False),
        ("4 * n * (m + 2)", "2 * m * n", True),
        ("4 * n", "4 * n + 4", False),
        ("4 * n", "4 * m", False),
        ("8 * n - 4", "4 * n", False),
        ("n // 2", "n // 2", True),
    ],
)
def test_the_greater_of_two_sizes(size, other, known):
    assert size_code.at_least(size, other) is known
