"""Source locations of tensor expressions: every AST node records the user's line, and errors quote it."""

from __future__ import annotations

import ast
import linecache
import sys
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import user_frame
from tir_mlir.script.parser.source import Source

N = TypeVar("N", bound=ast.AST)
_PACKAGE = __name__.partition(".")[0]
_OURS = tuple(f"{_PACKAGE}.{name}" for name in ("te", "script", "topi", "graph", "dialect"))


def placed(node: N) -> N:
    """Set the location of a node to the user's line that is running."""
    frame = user_frame(*_OURS) or sys._getframe(1)
    line, end_line, column, end = _position(frame.f_code, frame.f_lasti, frame.f_lineno or 1)
    located: Any = node
    located.lineno, located.end_lineno, located.col_offset, located.end_col_offset = line, end_line, column, end
    located.file = frame.f_code.co_filename
    return node


@lru_cache(maxsize=1024)  # the nodes of an expression come from one line, and its place is searched from the first
def _position(code: Any, instruction: int, line: int) -> tuple[int, int, int, int]:
    """Line, last line, column and last column of an instruction; before Python 3.11 only the line."""
    if not hasattr(code, "co_positions"):
        return line, line, 0, 1
    span: Any = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    if None in span or span[0] != span[1]:
        return line, line, 0, 1
    return span


def refuse(message: str) -> ScriptError:
    """A ScriptError at the user's line that is running."""
    node = placed(ast.Pass())
    return TeSource("").error(node, message)


def file_of(node: ast.AST, default: str = "") -> str:
    """The file of a node with a location."""
    return getattr(node, "file", default)


class TeSource(Source):
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
        return Source(name, linecache.getlines(name)).error(node, message)
