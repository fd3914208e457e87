"""Reading of input: files and stdin, MLIR and TVMScript, split into chunks."""

from __future__ import annotations

import ast
import itertools
import linecache
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable, ScriptError
from tir_mlir.dialect.ir import attrs, create, is_block, walk
from tir_mlir.dialect.symbolic import OPERATORS
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.opt import crash_guard
from tir_mlir.opt.diagnostics import Diagnostic, DriverError
from tir_mlir.script.mlir_text import add_missing_attributes, check_annotations, is_fragile, try_in_subprocess
from tir_mlir.script.parser import parse
from tir_mlir.script.parser.source import SourceText
from tir_mlir.script.text_guard import check_divisors, check_text

STDIN = "<stdin>"
_CUT = re.compile(r"^[ \t]*(//|#) -----[^\n]*$", re.MULTILINE)
_COMMENTS = re.compile(r"\s*(//[^\n]*|#[^\n]*)?(\n|$)")
_CONSTANT = (ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.USub)
_ARITHMETIC = tuple(OPERATORS)


@dataclass(frozen=True)
class InputChunk:
    """A part of the input that is one module; preceded by blank lines, so that line numbers are right."""

    name: str
    text: str
    is_script: bool


def read(path: str, split: bool) -> list[InputChunk]:
    """The chunks of a file ("-": stdin), split at `// -----` lines if `split`. Raises DriverError if it is not text."""
    name = STDIN if path == "-" else path
    if path == "-" and sys.stdin is None:
        raise DriverError(Diagnostic("error", "cannot be read: it is closed", name))
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise DriverError(Diagnostic("error", f"cannot be read: {error.strerror or error}", name)) from None
    if data.startswith(b"ML\xefR"):
        raise DriverError(Diagnostic("error", "this is MLIR bytecode; `mlir-opt FILE` turns it into text", name))
    text = _decode_text(data, name)
    written = any(word in text for word in ("prim_func", "R.function")) and "func.func" not in text
    is_script = path.endswith(".py") or (path == "-" and written)
    cuts = [0, *(m.end() for m in _CUT.finditer(text)), len(text)] if split else [0, len(text)]
    ranges = itertools.pairwise(cuts)
    pieces = [InputChunk(name, "\n" * text.count("\n", 0, a) + text[a:b], is_script) for a, b in ranges]
    if not any(_has_content(p.text) for p in pieces):
        raise DriverError(Diagnostic("error", "the input is empty", name, 1, 1))
    return pieces


def _decode_text(data: bytes, name: str) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"byte {data[error.start]:#04x} is not UTF-8 text"
        raise DriverError(Diagnostic("error", message, name, line + 1, column)) from None
    if "\0" in text:
        nul = text.index("\0")
        column = nul - text.rfind("\n", 0, nul)
        raise DriverError(Diagnostic("error", "the text has a zero byte", name, text.count("\n", 0, nul) + 1, column))
    return text.replace("\r\n", "\n")


def _has_content(text: str) -> bool:
    return any(_COMMENTS.fullmatch(line) is None for line in text.splitlines())


def module_of(piece: InputChunk, rules: bool = True) -> ir.Module:
    """Parse a chunk. `rules`: verify the rules of the encoding if it has blocks.

    Raises MLIRError, VerifyError, ScriptError.
    """
    if piece.is_script:
        return _script(piece)
    source = SourceText(piece.name, piece.text.splitlines(keepends=True))
    check_text(piece.text, source)
    if not crash_guard.is_guarded() and is_fragile(piece.text):
        try_in_subprocess(piece.text, source)
    module = ir.Module.parse(piece.text)
    check_divisors(module, piece.text)
    structure.check(module)
    if any(key.startswith("tir.") for op in walk.ops(module.operation) for key in op.attributes):
        _add_defaults(module)
        if rules and any(is_block(op) for op in walk.ops(module.operation)):
            _verify(module, True)
        check_annotations(module, source)
    return module


def as_program(module: ir.Module) -> None:
    """Prepare a module for scheduling or printing as TVMScript: add attributes, ids and names; verify."""
    structure.check(module)
    _add_defaults(module)
    structure.check_program(module)
    _verify(module, False)


def _add_defaults(module: ir.Module) -> None:
    """Add missing attributes; renumber duplicate ids, which upstream passes create by cloning."""
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


def _verify(module: ir.Module, written: bool) -> None:
    try:
        verify(module, source=True, written=written)
    except NotProvable as error:
        raise DriverError(Diagnostic("error", f"the program could not be checked: {error}")) from error


# --- TVMScript ------------------------------------------------------------------------------------------------------


def _script(piece: InputChunk) -> ir.Module:
    linecache.cache[piece.name] = (len(piece.text), None, piece.text.splitlines(keepends=True), piece.name)
    try:
        return parse(_blank_other_code(piece.text), filename=piece.name).mlir
    except (RecursionError, MemoryError):
        raise ScriptError("the text is nested too deeply", piece.name, 1) from None


def _blank_other_code(text: str) -> str:
    """Blank out everything but programs, graphs, imports and constants: nothing else of a file is executed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text  # the parser reports the error
    lines = text.splitlines(keepends=True)
    for stmt in tree.body:
        if not _is_program(stmt) and not _is_harmless(stmt):
            first = min([stmt.lineno, *(d.lineno for d in getattr(stmt, "decorator_list", []))])
            lines[first - 1 : stmt.end_lineno] = ["\n"] * ((stmt.end_lineno or first) - first + 1)
    return "".join(lines)


def _is_program(stmt: ast.stmt) -> bool:
    if isinstance(stmt, ast.FunctionDef):
        return _has_program_decorator(stmt.decorator_list)
    if not isinstance(stmt, ast.ClassDef):
        return False
    return any(_has_program_decorator(s.decorator_list) for s in stmt.body if isinstance(s, ast.FunctionDef))


def _has_program_decorator(decorators: Iterable[ast.expr]) -> bool:
    """Whether decorators make a program or a graph of a function."""
    words = [ast.unparse(d).split("(")[0] for d in decorators]
    return any(w.rpartition(".")[2] == "prim_func" or w == "function" or w.endswith("R.function") for w in words)


def _is_harmless(stmt: ast.stmt) -> bool:
    """Whether a statement is an import of the script namespaces or a constant such as `N = 16 * 8`."""
    if isinstance(stmt, ast.ImportFrom):
        return (stmt.module or "").split(".")[0] in ("tvm", "tir_mlir", "__future__")
    if isinstance(stmt, ast.Import):
        return all(a.name.split(".")[0] in ("tvm", "tir_mlir") for a in stmt.names)
    if not isinstance(stmt, ast.Assign) or not all(isinstance(t, ast.Name) for t in stmt.targets):
        return False
    if isinstance(stmt.value, ast.Dict) and [ast.unparse(t) for t in stmt.targets] == ["metadata"]:
        return all(_is_metadata(node) for node in ast.walk(stmt.value))
    return all(isinstance(node, (*_CONSTANT, *_ARITHMETIC)) for node in ast.walk(stmt.value))


def _is_metadata(node: ast.AST) -> bool:
    """Whether a part of a statement may be one of the large constants of a graph, as they are printed after it."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "R.const_of_bytes"
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) == "R.const_of_bytes"
    return isinstance(node, (*_CONSTANT, *_ARITHMETIC, ast.Dict))
