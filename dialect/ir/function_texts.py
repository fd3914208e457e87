"""Modules as text, made of the texts of their functions: equal functions have equal text, whatever their ids were."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

from mlir import ir

_IDS = re.compile(r"tir\.id = \d+ ")
_CALLS = re.compile(r'\bcall @("[^"]*"|[\w$.-]+)')


def function_text(op: ir.Operation) -> str:
    """The text of a function alone. Requires one that MLIR accepts."""
    return str(op.get_asm(use_local_scope=True, assume_verified=True))


def callees_in(text: str) -> list[str]:
    """The functions that the text of a function calls, each once."""
    return list(dict.fromkeys(callee.strip('"') for callee in _CALLS.findall(text)))


def module_of(functions: Iterable[str]) -> str:
    """The text of a module of functions, of which these are the texts, with ids from 0 in order."""
    numbers = count()
    body = _IDS.sub(lambda _: f"tir.id = {next(numbers)} ", "\n".join(functions))
    return f"module attributes {{tir.next = {next(numbers)} : i64}} {{\n{body}\n}}\n"
