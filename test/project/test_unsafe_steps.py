"""The library takes no step that may change what a program computes, but in the function that proves it does not."""

from __future__ import annotations

import ast

from harness import ROOT
from project.test_layers import syntax

LIBRARY = ("tir_mlir/schedules", "tir_mlir/tune", "tir_mlir/graph", "tir_mlir/topi", "tir_mlir/te")
PROVED = {("tir_mlir/schedules/operand_types.py", "store_as")}
"""The function in which each is: it refuses unless every value is represented."""


def _unsafe_steps():
    """The calls of `unsafe_*` primitives, by file and function."""
    for folder in LIBRARY:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for function in ast.walk(syntax(path)):
                if isinstance(function, ast.FunctionDef):
                    names = [n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute)]
                    names += [n.value for n in ast.walk(function) if isinstance(n, ast.Constant)]
                    if any(str(name).startswith(("unsafe_set", "unsafe_hide")) for name in names):
                        yield path.relative_to(ROOT).as_posix(), function.name


def test_unsafe_steps_are_taken_where_they_are_proved():
    assert set(_unsafe_steps()) == PROVED
