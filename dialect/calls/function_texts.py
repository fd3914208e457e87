"""Modules as text, made of the texts of their functions: equal functions have equal text, whatever their ids were."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

from mlir import ir

_QUOTES = b'"\\'
_IDS = re.compile(r"tir\.id = \d+ ")
_CALLS = re.compile(r'\bcall @("(?:[^"\\]|\\.)*"|[\w$.-]+)')
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.$]*")
_ESCAPE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|(.))")


def quote(text: str) -> str:
    """A text in quotes, as MLIR and LLVM IR read it: `a"b` -> `"a\\22b"`."""
    letters = (chr(c) if 32 <= c < 127 and c not in _QUOTES else f"\\{c:02X}" for c in text.encode())
    return f'"{"".join(letters)}"'


def symbol(name: str) -> str:
    """A function's name as MLIR and LLVM IR read it: `f` -> `@f`, `a"b` -> `@"a\\22b"`. All text that is written with
    names of users in it uses it."""
    return f"@{name if _PLAIN.fullmatch(name) else quote(name)}"


def function_text(op: ir.Operation) -> str:
    """The text of a function alone. Requires one that MLIR accepts."""
    return str(op.get_asm(use_local_scope=True, assume_verified=True))


def callees_in(text: str) -> list[str]:
    """The functions that the text of a function calls, each once."""
    return list(dict.fromkeys(map(_unquote, _CALLS.findall(text))))


def _unquote(name: str) -> str:
    """A name as it was before MLIR printed it."""
    if not name.startswith('"'):
        return name
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else m[2], name[1:-1].encode()).decode()


def module_of(functions: Iterable[str]) -> str:
    """The text of a module of functions, of which these are the texts, with ids from 0 in order."""
    numbers = count()
    body = _IDS.sub(lambda _: f"tir.id = {next(numbers)} ", "\n".join(functions))
    return f"module attributes {{tir.next = {next(numbers)} : i64}} {{\n{body}\n}}\n"
