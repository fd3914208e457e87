"""Integer expressions have one form, `dialect/symbolic`: no second table of operators, polynomial or equality."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import ROOT

HOME = ROOT / "dialect" / "symbolic"
SOURCES = sorted(
    path for folder in ("dialect", "passes", "tir_mlir", "tools") for path in (ROOT / folder).rglob("*.py")
)
_OPERATOR = re.compile(r"ast\.(Add|Sub|Mult|FloorDiv)")
_POLYNOMIAL = re.compile(r"[Pp]olynomial")
_EQUALITY = re.compile(r"_?(is_)?(same|equal)_sizes?|_?sizes?_(are_)?(same|equal)")


def tables(tree: ast.AST) -> Iterator[ast.AST]:
    """What pairs operators of Python's ast with something: dicts, and tuples of pairs."""
    for node in ast.walk(tree):
        keys = [key for key in node.keys if key is not None] if isinstance(node, ast.Dict) else []
        if isinstance(node, ast.Tuple | ast.List):
            keys = [pair.elts[0] for pair in node.elts if isinstance(pair, ast.Tuple) and len(pair.elts) == 2]
        if len([key for key in keys if _OPERATOR.fullmatch(ast.unparse(key))]) > 1:
            yield node


def polynomials(tree: ast.AST) -> Iterator[ast.AST]:
    """Classes and names of types that are polynomials."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and _POLYNOMIAL.search(node.name):
            yield node
        if isinstance(node, ast.Assign) and any(_POLYNOMIAL.fullmatch(ast.unparse(t).strip("_")) for t in node.targets):
            yield node


def equalities(tree: ast.AST) -> Iterator[ast.AST]:
    """Functions that decide whether sizes are equal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _EQUALITY.fullmatch(node.name):
            yield node


@pytest.mark.parametrize(("finds", "words"), [(tables, _OPERATOR), (polynomials, _POLYNOMIAL), (equalities, _EQUALITY)])
def test_there_is_one(finds, words):
    """Only files with the words are parsed."""
    again = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path in SOURCES
        if not path.is_relative_to(HOME) and words.search(text := path.read_text())
        for node in finds(ast.parse(text))
    ]
    assert not again, f"{finds.__doc__} Use tir_mlir.dialect.symbolic: {', '.join(again)}"


@pytest.mark.parametrize(
    ("finds", "text", "count"),
    [
        (tables, '{ast.Add: "+", ast.Sub: "-"}; ((ast.Add, f), (ast.Mult, g)); (ast.Add, ast.Sub)', 2),
        (polynomials, "class _Polynomial: pass\nPolynomial = dict[str, int]\npolynomial(x)", 2),
        (equalities, "def _same_size(a, b): pass\ndef sizes_equal(a, b): pass\ndef same(a): pass", 2),
    ],
)
def test_what_it_finds(finds, text, count):
    assert len(list(finds(ast.parse(text)))) == count


def test_all_packages_ask_for_one_equality():
    """Whoever compares sizes imports `equal`."""
    users = {_package(path) for path in SOURCES if re.search(r"symbolic import [^\n]*\bequal\b", path.read_text())}
    assert users >= {"dialect/ir", "tir_mlir/graph", "tir_mlir/topi"}


def _package(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[:2])
