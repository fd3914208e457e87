"""Source locations of tensor expressions: every AST node records the user's line, and errors quote it."""

from __future__ import annotations

import ast
import linecache
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from types import CodeType
from typing import TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import user_frame
from tir_mlir.script.parser.source import SourceText

N = TypeVar("N", bound=ast.AST)
_PACKAGE = __name__.partition(".")[0]
_OURS = tuple(f"{_PACKAGE}.{name}" for name in ("te", "script", "topi", "graph", "dialect", "extensions"))


class _SharedLocation(threading.local):
    one: dict[str, int | str] | None = None


_shared_location = _SharedLocation()


@contextmanager
def share_location() -> Iterator[None]:
    """Where this package makes expressions of its own, all at the user's line that is running: it is found once."""
    outer, _shared_location.one = _shared_location.one, _shared_location.one or _find_location()
    try:
        yield
    finally:
        _shared_location.one = outer


def set_location(node: N) -> N:
    """Set the location of a node to the user's line that is running."""
    node.__dict__.update(_shared_location.one or _find_location())
    return node


def _find_location() -> dict[str, int | str]:
    """The location of the user's line that is running, as nodes have it."""
    frame = user_frame(*_OURS) or sys._getframe(2)
    line, end_line, column, end = _position(frame.f_code, frame.f_lasti, frame.f_lineno or 1)
    span = {"lineno": line, "end_lineno": end_line, "col_offset": column, "end_col_offset": end}
    return {**span, "file": frame.f_code.co_filename}


@lru_cache(maxsize=1024)  # the nodes of an expression come from one line, and its position is searched from the first
def _position(code: CodeType, instruction: int, line: int) -> tuple[int, int, int, int]:
    """Line, last line, column and last column of an instruction; before Python 3.11 only the line."""
    positions = getattr(code, "co_positions", tuple)
    first, last, column, end = next(islice(positions(), instruction // 2, None), (None,) * 4)
    if first is None or last is None or column is None or end is None or first != last:
        return line, line, 0, 1
    return first, last, column, end


def refuse(message: str) -> ScriptError:
    """A ScriptError at the user's line that is running."""
    node = set_location(ast.Pass())
    return TeSource("").error(node, message)


def file_of(node: ast.AST, default: str = "") -> str:
    """The file of a node with a location."""
    return getattr(node, "file", default)


class TeSource(SourceText):
    """A Source whose nodes carry their file name, as tensor expressions may span files."""

    def __init__(self, default: str):
        super().__init__(default, linecache.getlines(default))

    def location(self, node: ast.AST) -> ir.Location:
        return ir.Location.file(
            file_of(node, self.filename), getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
        )

    def error(self, node: ast.AST | None, message: str) -> ScriptError:
        if node is None:
            return ScriptError(message)
        name = file_of(node, self.filename)
        return SourceText(name, linecache.getlines(name)).error(node, message)
