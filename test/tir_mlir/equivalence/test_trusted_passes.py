"""The equivalence check shares only the trusted modules with the lowering that it checks."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from tir_mlir import equivalence
from tir_mlir.equivalence import trusted_passes
from tir_mlir.equivalence.trusted_passes import TRUSTED_PASSES

PASSES = "tir_mlir.passes"


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _imported(path: Path) -> set[str]:
    """The modules of passes/ that a file imports, at its top or in functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if _is_module(name) else node.module for name in inner}
    return {name for name in found if name.startswith(PASSES)}


def test_only_trusted_passes_are_imported() -> None:
    folder, listed = Path(equivalence.__path__[0]), Path(trusted_passes.__file__)
    imported = {name for path in folder.rglob("*.py") if path != listed for name in _imported(path)}
    assert imported == {module.__name__ for module in TRUSTED_PASSES}
