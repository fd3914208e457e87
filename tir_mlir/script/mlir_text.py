"""Parse MLIR text in the TensorIR encoding: add missing ids and names, verify."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, ToolError, VerifyError
from tir_mlir.dialect.ir import TENSOR_LEVEL, annotation_keys, attrs, create, enter_context, is_block, walk
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AllocLikeOp,
    CallOp,
    FuncOp,
    MemrefCastOp,
    NamedViewOp,
    SubviewOp,
    isa,
)
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.processes import status
from tir_mlir.runtime.tools import toolchain
from tir_mlir.script.parser.source import SourceText
from tir_mlir.script.parser.verify_parsed import error_at_location, file_position
from tir_mlir.script.text_guard import check_divisors, check_text

ROBUST_DIALECTS = ("affine", "arith", "builtin", "func", "math", "memref", "tir")
"""Dialects whose ops MLIR parses and verifies without aborting on bad input; linalg and tensor can abort."""
_DIALECT = re.compile(r"(?<![\w.%@#!/])([a-z]\w*)\.[a-z]")
_DIAGNOSTIC = re.compile(r"^(?:<stdin>|-):(\d+):(\d+): error: (.*)$", re.MULTILINE)
_NAMED = dict.fromkeys(AllocLikeOp.names, "buf") | dict.fromkeys(NamedViewOp.names, "view")


def load(text_or_path: str, check: bool = True) -> ir.Module:
    """Parse and verify MLIR text or a `.mlir` file. Raises ScriptError with file, line and the source line."""
    text, name = read_text(text_or_path)
    source = SourceText(name, text.splitlines(keepends=True))
    with enter_context():
        module = parse_mlir(text, source)
        try:
            structure.check(module)
            add_missing_attributes(module)
            if check:
                structure.check_program(module)
                verify(module, source=True, written=True)
        except VerifyError as error:
            raise locate_error(error.message, error.location, source) from None
        except RecursionError:
            raise ScriptError("the text is nested too deeply", source.filename) from None
        check_annotations(module, source)
        return module


def check_annotations(module: ir.Module, source: SourceText) -> None:
    """Warn about the annotations in a text that nothing reads, each at the line of its op."""
    for op in walk.ops(module.operation):
        for key in (attrs.ANNOTATIONS, attrs.ATTRS):
            if key in op.attributes and TENSOR_LEVEL not in op.attributes:
                line = file_position(op.location)[1]
                source.check_annotations_at(line, attrs.get(op, key), _annotation_kind(op))


def _annotation_kind(op: ir.Operation) -> str:
    if isa(op, FuncOp):
        return annotation_keys.FUNC
    return annotation_keys.BLOCK if is_block(op) else annotation_keys.LOOP


def is_fragile(text: str) -> bool:
    """Whether MLIR may abort the process while parsing a text: it uses dialects beyond `ROBUST_DIALECTS`."""
    return any(name not in ROBUST_DIALECTS for name in _DIALECT.findall(text))


def try_in_subprocess(text: str, source: SourceText, passes: Sequence[str] = ()) -> None:
    """Parse a text, and run passes on it, in a subprocess first: MLIR's parser of named ops aborts or loops on some
    malformed input. Raises ScriptError if it does."""
    check_text(text, source)
    try:
        done = toolchain.attempt("mlir-opt", ["-o", os.devnull, *passes], input=text, timeout=20 + len(text) / 1e5)
    except ToolError as error:
        if "no answer" in str(error):
            raise ScriptError(f"MLIR does not terminate on this text: {error}", source.filename) from None
        return  # mlir-opt is not installed
    if done.returncode >= 0:
        return
    diagnostic = _DIAGNOSTIC.search(done.stderr)  # printed before it crashed
    if diagnostic is not None:
        raise source.error_at(int(diagnostic[1]), int(diagnostic[2]), diagnostic[3])
    reason = next((line for line in done.stderr.splitlines() if "Assertion" in line or "LLVM ERROR" in line), "")
    reason = reason.partition("Assertion ")[2] or reason
    raise ScriptError(f"MLIR crashes on this text ({status(done.returncode)}): {reason}", source.filename)


def parse_mlir(text: str, source: SourceText, trusted: bool = False) -> ir.Module:
    """Parse MLIR text of a user, a file or a record. `trusted`: `try_in_subprocess` has accepted it. Raises ScriptError
    with the line."""
    check_text(text, source)
    if not trusted and is_fragile(text):
        try_in_subprocess(text, source)
    try:
        module = ir.Module.parse(text)
        check_divisors(module, text)
        return module
    except VerifyError as error:
        raise locate_error(error.message, error.location, source) from None
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        first = error.error_diagnostics[0] if error.error_diagnostics else None
        raise locate_error(first.message if first else str(error), first.location if first else None, source) from None


def read_text(text_or_path: str) -> tuple[str, str]:
    """MLIR text, given or read from a file, and the file name to use in errors."""
    if not isinstance(text_or_path, str):
        raise ScriptError(f"expected MLIR text or the path of a .mlir file, not {type(text_or_path).__name__}")
    if "\n" in text_or_path or "{" in text_or_path:
        return text_or_path, "<mlir>"
    if not os.path.exists(text_or_path):
        raise ScriptError(f"no such file: {text_or_path}")
    try:
        with open(text_or_path, encoding="utf-8") as file:
            return file.read(), text_or_path
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{text_or_path} cannot be read as text: {error}") from None


def locate_error(message: str, location: object, source: SourceText) -> ScriptError:
    """A ScriptError at the position in the user's file; MLIR names parsed text "-"."""
    name, line, column = file_position(location)
    if line and name in ("-", ""):
        return source.error_at(line, column, message)
    return error_at_location(message, location)


def add_missing_attributes(module: ir.Module) -> None:
    """Add the ids, loop names, buffer names and iter names that the text omits."""
    loops = buffers = 0
    for op in walk.ops(module.operation):
        facts = op.attributes
        if isa(op, AffineForOp) and attrs.LOOP not in facts:
            facts[attrs.LOOP] = ir.StringAttr.get(f"i{loops}")
            loops += 1
        if op.name in _NAMED and attrs.NAME not in facts and not _is_passed(op):
            facts[attrs.NAME] = ir.StringAttr.get(f"{_NAMED[op.name]}{buffers}")
            buffers += 1
        if is_block(op) and attrs.ITERS in facts and attrs.NAMES not in facts:
            facts[attrs.NAMES] = attrs.to_attr([f"v{n}" for n in range(len(attrs.get(op, attrs.ITERS)))])
        if is_block(op) and attrs.SYMS not in facts:
            facts[attrs.SYMS] = attrs.to_attr([])
        if isa(op, FuncOp) and len(op.regions[0].blocks):
            _name_arguments(op)
        if (isa(op, AffineForOp, FuncOp) or is_block(op)) and attrs.ID not in facts:
            if not isa(op, FuncOp) or len(op.regions[0].blocks):
                facts[attrs.ID] = attrs.to_attr(create.fresh_id(module.operation))


def _is_passed(op: ir.Operation) -> bool:
    """Whether an op is the part of a buffer that a call takes, which has no name."""
    users = [use.owner.operation for use in op.results[0].uses]
    casts = [user for user in users if isa(user, MemrefCastOp)]
    users += [use.owner.operation for user in casts for use in user.results[0].uses]
    return isa(op, SubviewOp) and bool(users) and all(isa(u, MemrefCastOp, CallOp) for u in users)


def _name_arguments(op: ir.Operation) -> None:
    count = len(op.regions[0].blocks[0].arguments)
    arg_attrs = attrs.get(op, "arg_attrs") if "arg_attrs" in op.attributes else [{}] * count
    if all(attrs.NAME in g for g in arg_attrs):
        return
    named = [g if attrs.NAME in g else {**g, attrs.NAME: f"arg{n}"} for n, g in enumerate(arg_attrs)]
    op.attributes["arg_attrs"] = ir.ArrayAttr.get([_to_dict_attr(g) for g in named])


def _to_dict_attr(facts: dict[str, object]) -> ir.DictAttr:
    """Build a DictAttr; attributes without a Python value are passed through."""
    return ir.DictAttr.get(
        {k: ir.AffineMapAttr.get(v) if isinstance(v, ir.AffineMap) else attrs.to_attr(v) for k, v in facts.items()}
    )
