"""`parse` for programs that many tests start from: a text is parsed once a session, and each test has a copy."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.ir.create import clone_module
from tir_mlir.script import parser
from tir_mlir.script.module import IRModule

_parsed: dict[str, IRModule] = {}


def parse(source: Any, *rest: Any, **options: Any) -> IRModule:
    """A module of its own for each call; an error is raised anew."""
    if not isinstance(source, str) or rest or options:
        return parser.parse(source, *rest, **options)
    if source not in _parsed:
        _parsed[source] = parser.parse(source)
    with enter_context():
        return IRModule(clone_module(_parsed[source].mlir))
