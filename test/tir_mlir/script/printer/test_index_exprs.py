"""Index expressions print as a person writes them, and read back as the same map."""

import random

import pytest
from mlir import ir

from tir_mlir.dialect.ir import Constraint, Func, Index, enter_context
from tir_mlir.script.printer.expression_text import ExprText
from tir_mlir.script.printer.index_exprs import IndexPrinter
from tir_mlir.script.printer.value_names import ValueNames, identifier

SOURCE = """
func.func @f(%n: index) {
  affine.parallel (%i, %j, %k) = (0, 0, 0) to (1, 1, 1) {
  } {tir.block = "b"}
  return
}
"""


@pytest.fixture
def ground():
    """Index variables i, j, k of a block and a size n, and a printer that knows their names."""
    with enter_context():
        module = ir.Module.parse(SOURCE)
        func = Func(module.body.operations[0])
        block = func.body.operations[0]
        values = [func.args[0], *block.regions[0].blocks[0].arguments]
        names = ValueNames()
        for value, name in zip(values, "nijk", strict=True):
            names.bind(value, name)
        printer = IndexPrinter(lambda v: ExprText(names.get(v) or "?"), names.rank)
        yield printer, {name: Index.from_value(v) for v, name in zip(values, "nijk", strict=True)}
        del module


CASES = {
    "i": "i",
    "i * 16 + j": "i * 16 + j",
    "j + i * 16": "i * 16 + j",
    "15 - i": "15 - i",
    "i * 2 - j + 1": "i * 2 - j + 1",
    "(i * 4 + j) // 3 % 8": "(i * 4 + j) // 3 % 8",
    "i - j * 2": "i - j * 2",
    "-i - j": "-i - j",
    "i * -2 - j": "i * -2 - j",
    "5 - (i - j)": "j - i + 5",
    "n - i - 1": "n - i - 1",
    "i + n": "i + n",
    "i // 4 * 4 + i % 4": "i",
    "i * 4 // 3": "i * 4 // 3",
    "(i + 3) // 4": "(i + 3) // 4",
    "(i + 1) % 16": "(i + 1) % 16",
    "i % 4 * 8 + j": "i % 4 * 8 + j",
    "i + i": "i * 2",
    "i - i": "0",
    "i % 4 * 4 + i // 4": "i % 4 * 4 + i // 4",
    "(i * 8 + j) % 6 * 6 + (i * 8 + j) // 6": "(i * 8 + j) % 6 * 6 + (i * 8 + j) // 6",
    "i % 8 // 4": "i % 8 // 4",
    "i % 8 % 4": "i % 4",
    "(i + j - 16) % 8": "(i + j) % 8",
    "(i * 2 + j * 32) // 4": "j * 8 + i // 2",
    "i % 4 + i % 8": "i % 4 + i % 8",
    "i // 4 * 4 - i": "-(i % 4)",
    "(i - 7) // 2 - 3": "(i - 7) // 2 - 3",
}


@pytest.mark.parametrize("source", CASES)
def test_index(ground, source):
    printer, values = ground
    assert printer.text(eval(source, {}, values)).text == CASES[source]


CONSTRAINTS = {
    ("49 - (i * 16 + j)", False): "i * 16 + j < 50",
    ("i - 2", False): "i >= 2",
    ("i", False): "i >= 0",
    ("i - k", False): "k <= i",
    ("j - i - 1", False): "i < j",
    ("i - j + 3", False): "j <= i + 3",
    ("n - 1 - i", False): "i < n",
    ("k", True): "k == 0",
    ("k - 3", True): "k == 3",
    ("3 - k", True): "k == 3",
    ("i - j", True): "i == j",
    ("j - i", True): "i == j",
    ("i % 2", True): "i % 2 == 0",
}


@pytest.mark.parametrize(("source", "is_eq"), CONSTRAINTS)
def test_constraint(ground, source, is_eq):
    printer, values = ground
    text = printer.constraint(Constraint(eval(source, {}, values), is_eq)).text
    assert text == CONSTRAINTS[source, is_eq]


def test_random_expressions_read_back(ground):
    """print(read(print(e))) == print(e), and the numbers agree."""
    printer, values = ground
    rng = random.Random(7)

    def make(depth):
        kind = rng.randrange(7) if depth else rng.choice((0, 1))
        if kind == 0:
            return rng.choice("ijk")
        if kind == 1:
            return str(rng.randrange(-9, 20))
        left = make(depth - 1)
        if kind in (2, 3):
            return f"({left} {rng.choice('+-')} {make(depth - 1)})"
        return f"({left} {('*', '//', '%')[kind - 4]} {rng.randrange(2, 17)})"

    for _ in range(600):
        source = make(4)
        index = Index.wrap(eval(source, {}, values))
        text = printer.text(index).text
        again = Index.wrap(eval(text, {}, values))
        assert printer.text(again).text == text, source
        point = {name: rng.randrange(-30, 30) for name in "ijk"}
        assert eval(text, {}, point) == eval(source, {}, point), source


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("A_global.A_reg", "A_global_A_reg"), ("for", "for_"), ("T", "T_"), ("", "v"), ("0x", "v_0x"), ("t-1", "t_1")],
)
def test_identifier(wanted, name):
    assert identifier(wanted) == name
