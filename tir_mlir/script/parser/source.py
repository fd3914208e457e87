"""Source text of the user: locations of AST nodes, errors that quote the line, and their traceback."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import islice
from typing import ParamSpec, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, ScriptWarning, variables
from tir_mlir.dialect.ir import annotation_keys

P = ParamSpec("P")
R = TypeVar("R")
FULL_TRACEBACK = "TIR_FULL_TRACEBACK"
_DEFINITIONS = ("def ", "async def ", "class ")
_MOST_ENDS = 8  # to try: each takes a parse
_WORD = re.compile(r"[\w.%]+(\[[^\[\]]*\])?")


class ParseError(Exception):
    """An error without a location; the evaluator turns it into a ScriptError at the current node."""


class SourceText:
    """A piece of a file: its lines, the number of the first, and the indentation removed before parsing."""

    def __init__(self, filename: str, lines: Sequence[str], first_line: int = 1, indent: int = 0):
        self.filename = filename
        self.lines = lines
        self.first_line = first_line
        self.indent = indent
        self._tree: ast.Module | None = None

    @staticmethod
    def of_text(text: str, filename: str = "<script>") -> SourceText:
        """Text that may be indented as a whole; comment lines do not affect the indentation."""
        lines = text.splitlines(keepends=True)
        margins = [len(n) - len(n.lstrip()) for n in lines if n.strip() and not n.lstrip().startswith("#")]
        return SourceText(filename, lines, 1, min(margins, default=0))

    @staticmethod
    def of_function(func: Callable[..., object]) -> SourceText:
        """The source of a function from its file, a notebook cell, or any other linecache entry."""
        code = func.__code__
        lines = linecache.getlines(code.co_filename, func.__globals__)
        start = code.co_firstlineno
        if len(lines) < start:
            raise ScriptError(
                f"the source text of {func.__qualname__} cannot be found ({code.co_filename}); for a function made by "
                "exec, register the text with linecache, or parse the text with tir_mlir.script.parse"
            )
        tail = lines[start - 1 :]
        indent = _indent(tail[0])
        for end in islice(_ends(tail), _MOST_ENDS):
            source = SourceText(code.co_filename, tail[:end], start, indent)
            try:
                source._tree = source._parse_lines()
            except (SyntaxError, RecursionError, MemoryError, ValueError):
                continue  # as in the middle of a string
            return source
        return SourceText(code.co_filename, inspect.getblock(tail), start, indent)

    def _parse_lines(self) -> ast.Module:
        text = "".join(self.lines)
        if not self.indent:
            return ast.parse("\n" * (self.first_line - 1) + text, self.filename)
        line = max(self.first_line - 1, 1)
        tree = ast.parse("\n" * (line - 1) + "if True:\n" + text, self.filename)
        if line == self.first_line:
            ast.increment_lineno(tree, -1)
        return ast.Module(body=tree.body[0].body, type_ignores=[])  # type: ignore[attr-defined]

    def parse(self) -> ast.Module:
        """The Python AST of the text; a syntax error becomes a ScriptError at its line."""
        if self._tree is not None:
            return self._tree
        try:
            return self._parse_lines()
        except SyntaxError as error:
            line = (error.lineno or 1) - (1 if self.indent and self.first_line == 1 else 0)
            raise self._error(f"not Python: {error.msg}", line, (error.offset or 1) - 1, 1) from None
        except (RecursionError, MemoryError):  # MemoryError: raised by older Python parsers
            raise self._error("not Python: the text is nested too deeply", self.first_line, 0, 1) from None
        except ValueError as error:  # a zero byte
            raise self._error(f"not Python: {error}", self.first_line, 0, 1) from None

    def location(self, node: ast.AST) -> ir.Location:
        return ir.Location.file(self.filename, node.lineno, node.col_offset + 1)  # type: ignore[attr-defined]

    def error(self, node: ast.AST | None, message: str) -> ScriptError:
        """A ScriptError at a node; the message quotes the line and underlines the node."""
        line, column = getattr(node, "lineno", self.first_line), getattr(node, "col_offset", 0)
        width = 1
        end = getattr(node, "end_col_offset", None)
        if end is not None and getattr(node, "end_lineno", None) == line:
            width = end - column
        return self._error(message, line, column, width)

    def check_annotations(self, node: ast.AST, keys: Iterable[object], construct: str) -> None:
        """Warn about the annotations of a loop, block or function that nothing reads."""
        self.check_annotations_at(getattr(node, "lineno", self.first_line), keys, construct)

    def check_annotations_at(self, line: int, keys: Iterable[object], construct: str) -> None:
        """The same at a line; 0: at the first one."""
        line = line or self.first_line
        for key in keys:
            if doubt := annotation_keys.doubt(str(key), construct):
                warnings.warn_explicit(doubt, ScriptWarning, self.filename, line)

    def error_at(self, line: int, column: int, message: str) -> ScriptError:
        """A ScriptError at a 1-based line and column; underlines the identifier or access there."""
        row = line - self.first_line
        tail = self.lines[row][column - 1 :] if 0 <= row < len(self.lines) else ""
        word = _WORD.match(tail)
        return self._error(message, line, column - 1, len(word.group()) if word else 1)

    def _error(self, message: str, line: int, column: int, width: int) -> ScriptError:
        row = line - self.first_line
        text = f"{message}\n  {self.filename}:{line}"
        if 0 <= row < len(self.lines):
            quoted = self.lines[row].rstrip("\n").encode(errors="replace").decode()  # halves of a character as ?
            if not quoted.isascii():  # Python counts columns in bytes
                start = len(quoted.encode()[:column].decode(errors="ignore"))
                width = len(quoted.encode()[column : column + width].decode(errors="ignore"))
                column = start
            width = max(1, min(width, len(quoted) - column))
            text += f"\n    {quoted.strip()}\n    {' ' * (column - (len(quoted) - len(quoted.lstrip())))}{'^' * width}"
        return ScriptError(message, self.filename, line, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ends(lines: Sequence[str]) -> Iterator[int]:
    """Where the definition that lines start with may end: at a line that is not indented more, or after all."""
    margin, in_body = _indent(lines[0]), False
    for number, line in enumerate(lines):
        text = line.strip()
        if text and not text.startswith("#") and _indent(line) <= margin:
            if in_body:
                yield number
            in_body = in_body or text.startswith(_DEFINITIONS)
    yield len(lines)


def pause_garbage_collection(run: Callable[P, R]) -> Callable[P, R]:
    """Decorator: no garbage is collected meanwhile. Of the many objects that a program takes, all are in use."""

    @wraps(run)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        enabled = gc.isenabled()
        gc.disable()
        try:
            return run(*args, **kwargs)
        finally:
            if enabled:
                gc.enable()

    return entry


def short_traceback(run: Callable[P, R]) -> Callable[P, R]:
    """Decorator of an entry point: a ScriptError from it has the frames of the caller, and none from inside.

    What it was raised from is its `__context__`, which Python does not print. With `TIR_FULL_TRACEBACK=1` in the
    environment the error is left as it is.
    """

    @wraps(run)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return run(*args, **kwargs)
        except ScriptError as error:
            if variables.flag(FULL_TRACEBACK, False):
                raise
            origin = error.__cause__ or error.__context__
            short = error.with_traceback(None)
            short.__cause__, short.__context__, short.__suppress_context__ = None, origin, True
            raise

    return entry
