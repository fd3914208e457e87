"""Input -> modules: files and stdin, MLIR and TVMScript, whole or in pieces; what is malformed is an error there."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable, ScriptError
from tir_mlir.dialect.ir import attrs, create, is_block, walk
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.opt import crash_guard
from tir_mlir.opt.diagnostics import Diagnostic, Failed
from tir_mlir.script.mlir_text import add_missing_attributes, is_fragile, try_in_subprocess
from tir_mlir.script.parser import parse
from tir_mlir.script.parser.source import Source

STDIN = "<stdin>"
_CUT = re.compile(r"^[ \t]*(//|#) -----[^\n]*$", re.MULTILINE)
_COMMENTS = re.compile(r"\s*(//[^\n]*|#[^\n]*)?(\n|$)")
_CONSTANT = (ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.USub)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Piece:
    """A piece of the input that is a module of its own; the lines before it are there, blank, so that lines count."""

    name: str
    text: str
    is_script: bool


def read(path: str, split: bool) -> list[Piece]:
    """The pieces of a file ("-": stdin), cut at `// -----` lines with `split`. Raises Failed when it is no text."""
    name = STDIN if path == "-" else path
    if path == "-" and sys.stdin is None:
        raise Failed(Diagnostic("error", "cannot be read: it is closed", name))
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise Failed(Diagnostic("error", f"cannot be read: {error.strerror or error}", name)) from None
    if data.startswith(b"ML\xefR"):
        raise Failed(Diagnostic("error", "this is MLIR bytecode; `mlir-opt FILE` turns it into text", name))
    text = _decoded(data, name)
    is_script = path.endswith(".py") or (path == "-" and "prim_func" in text and "func.func" not in text)
    cuts = [0, *(m.end() for m in _CUT.finditer(text)), len(text)] if split else [0, len(text)]
    ranges = zip(cuts, cuts[1:], strict=False)
    pieces = [Piece(name, "\n" * text.count("\n", 0, a) + text[a:b], is_script) for a, b in ranges]
    if not any(_holds_something(p.text) for p in pieces):
        raise Failed(Diagnostic("error", "there is no operation in the input", name, 1, 1))
    return pieces


def _decoded(data: bytes, name: str) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"byte {data[error.start]:#04x} is not UTF-8 text"
        raise Failed(Diagnostic("error", message, name, line + 1, column)) from None
    if "\0" in text:
        at = text.index("\0")
        column = at - text.rfind("\n", 0, at)
        raise Failed(Diagnostic("error", "a zero byte is no text", name, text.count("\n", 0, at) + 1, column))
    return text.replace("\r\n", "\n")


def _holds_something(text: str) -> bool:
    return any(_COMMENTS.fullmatch(line) is None for line in text.splitlines())


def module_of(piece: Piece, rules: bool = True) -> ir.Module:
    """The module of a piece. `rules`: a program with blocks is held to the rules of the encoding.

    Raises MLIRError, VerifyError, ScriptError.
    """
    if piece.is_script:
        return _script(piece)
    if not crash_guard.is_spread() and is_fragile(piece.text):
        try_in_subprocess(piece.text, Source(piece.name, piece.text.splitlines(keepends=True)))
    module = ir.Module.parse(piece.text)
    structure.check(module)
    if _has_facts(module):
        _settle(module)
        if rules and any(is_block(op) for op in walk.ops(module.operation)):
            _verify(module)
    return module


def as_program(module: ir.Module) -> None:
    """Make sure that any module can be scheduled or printed as TVMScript: attributes, ids, names, rules."""
    structure.check(module)
    _settle(module)
    structure.check_program(module)
    _verify(module)


def _settle(module: ir.Module) -> None:
    """What is left out gets its default; upstream passes copy ids, so a second op with an id gets a new one."""
    ids: list[int] = [-1]
    copies = []
    for op in walk.ops(module.operation):
        number = attrs.get(op, attrs.ID)
        if number in ids:
            copies.append(op)
        elif number is not None:
            ids.append(number)
    if "tir.next" in module.operation.attributes:
        counted = ir.IntegerAttr(module.operation.attributes["tir.next"]).value
        module.operation.attributes["tir.next"] = attrs.to_attr(max(counted, 1 + max(ids)))
    for op in copies:
        op.attributes[attrs.ID] = attrs.to_attr(create.fresh_id(module.operation))
    add_missing_attributes(module)
    if any(is_block(op) for op in walk.ops(module.operation)):
        structure.check_program(module)


def _verify(module: ir.Module) -> None:
    try:
        verify(module, source=True)
    except NotProvable as error:
        raise Failed(Diagnostic("error", f"the program could not be checked: {error}")) from error


def _has_facts(module: ir.Module) -> bool:
    return any(key.startswith("tir.") for op in walk.ops(module.operation) for key in op.attributes)


# --- TVMScript ------------------------------------------------------------------------------------------------------


def _script(piece: Piece) -> ir.Module:
    linecache.cache[piece.name] = (len(piece.text), None, piece.text.splitlines(keepends=True), piece.name)
    try:
        return parse(_programs_only(piece.text), filename=piece.name).mlir
    except (RecursionError, MemoryError):
        raise ScriptError("the text is nested too deeply", piece.name, 1) from None


def _programs_only(text: str) -> str:
    """The text with everything blank that is no program, no import and no constant: nothing else of a file is run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text  # the parser says what is wrong
    lines = text.splitlines(keepends=True)
    for stmt in tree.body:
        if not _is_program(stmt) and not _is_harmless(stmt):
            first = min([stmt.lineno, *(d.lineno for d in getattr(stmt, "decorator_list", []))])
            lines[first - 1 : stmt.end_lineno] = ["\n"] * ((stmt.end_lineno or first) - first + 1)
    return "".join(lines)


def _is_program(stmt: ast.stmt) -> bool:
    if isinstance(stmt, ast.FunctionDef):
        return _decorated(stmt.decorator_list, "prim_func")
    if not isinstance(stmt, ast.ClassDef):
        return False
    members = [s for s in stmt.body if isinstance(s, ast.FunctionDef)]
    return any(_decorated(m.decorator_list, "prim_func") for m in members)


def _decorated(decorators: Iterable[ast.expr], word: str) -> bool:
    return any(ast.unparse(d).split("(")[0].rpartition(".")[2] == word for d in decorators)


def _is_harmless(stmt: ast.stmt) -> bool:
    """Imports of the script languages, and `N = 16 * 8`."""
    if isinstance(stmt, ast.ImportFrom):
        return (stmt.module or "").split(".")[0] in ("tvm", "tir_mlir", "__future__")
    if isinstance(stmt, ast.Import):
        return all(a.name.split(".")[0] in ("tvm", "tir_mlir") for a in stmt.names)
    if not isinstance(stmt, ast.Assign) or not all(isinstance(t, ast.Name) for t in stmt.targets):
        return False
    return all(isinstance(node, (*_CONSTANT, *_ARITHMETIC)) for node in ast.walk(stmt.value))
