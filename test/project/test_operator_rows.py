"""A fact about an operator of graphs is in its row of the table: no other file lists names of operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness import ROOT
from project.test_layers import syntax

from tir_mlir.graph.operators import OPERATORS

REDUCTIONS = {
    "tir_mlir/graph/importers/aten/aten_scatters.py": ["sum", "mean", "prod"],
    "tir_mlir/graph/importers/onnx_operators/onnx_scatters.py": ["add", "min", "max"],
}
"""Words for reductions, of torch and ONNX, that are also names of operators."""
LEAST = 3
"""The least number of names that are a list of operators, where most of its elements are."""


def sources() -> list[Path]:
    package = ROOT / "tir_mlir"
    folders = [package / "graph", package / "script" / "printer", package / "compat" / "relax"]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    return [path for path in files if package / "graph" / "operators" not in path.parents]


def lists(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """The strings of tuples, lists, sets, keys of dictionaries, and texts of words."""
    for node in ast.walk(tree):
        elements: list[ast.expr] = []
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            elements = node.elts
        elif isinstance(node, ast.Dict):
            elements = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." not in node.value[-1:]:
            yield node.lineno, node.value.split()
        yield (
            getattr(node, "lineno", 0),
            [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)],
        )


def test_no_other_file_lists_operators():
    wrong = []
    for path in sources():
        for line, words in lists(syntax(path)):
            names = [word for word in words if word in OPERATORS]
            if names == REDUCTIONS.get(str(path.relative_to(ROOT))):
                continue
            if len(names) >= LEAST and 2 * len(names) > len(words):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {', '.join(names)}")
    assert not wrong, "a fact about operators: put it in their rows, tir_mlir/graph/operators\n" + "\n".join(wrong)
