"""The door to graphs of operators, which stand on this package: they are loaded when a module has one."""

from __future__ import annotations

import importlib
from typing import Any


def expressions() -> Any:
    """`tir_mlir.graph.expressions`: graphs as Python objects."""
    return importlib.import_module("tir_mlir.graph.expressions")


def operators() -> Any:
    """`tir_mlir.graph.operators`: the table of operators."""
    return importlib.import_module("tir_mlir.graph.operators")


def reader() -> Any:
    """`tir_mlir.graph.script.reader`: the parser of `@R.function`."""
    return importlib.import_module("tir_mlir.graph.script.reader")


def namespace() -> Any:
    """`tir_mlir.graph.script`, which programs call `R`."""
    return importlib.import_module("tir_mlir.graph.script")
