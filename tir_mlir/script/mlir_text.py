"""A `.mlir` file in the encoding -> module: parse, give missing ids and names, verify."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, ToolError, VerifyError
from tir_mlir.dialect.ir import attrs, create, entered, is_block, walk
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.runtime.tools import toolchain
from tir_mlir.script.parser.source import Source
from tir_mlir.script.parser.verify import at_location

STURDY = ("affine", "arith", "builtin", "func", "math", "memref", "tir")
"""Dialects over whose ops MLIR's parser and verifier have not been seen to crash; linalg and tensor do."""
_DIALECT = re.compile(r"(?<![\w.%@#!/])([a-z]\w*)\.[a-z]")
_SAID = re.compile(r"^(?:<stdin>|-):(\d+):(\d+): error: (.*)$", re.MULTILINE)
_NAMED = {"memref.alloc": "buf", "memref.alloca": "buf", "memref.subview": "view"}


def load(text_or_path: str, check: bool = True) -> ir.Module:
    """The module of MLIR text or of a `.mlir` file. Errors: ScriptError with file, line and the line itself."""
    text, name = read(text_or_path)
    source = Source(name, text.splitlines(keepends=True))
    with entered():
        module = parse_mlir(text, source)
        try:
            structure.check(module)
            complete(module)
            if check:
                structure.check_program(module)
                verify(module, source=True)
        except VerifyError as error:
            raise moved(error.message, error.location, source) from None
        return module


def is_fragile(text: str) -> bool:
    """Whether MLIR might end the process over a text: it has ops of other dialects than the sturdy ones."""
    return any(name not in STURDY for name in _DIALECT.findall(text))


def survive(text: str, source: Source, passes: Sequence[str] = ()) -> None:
    """Let a process of its own read a text first, and run passes on it: MLIR's parser of named ops ends the process
    over some mistakes, and reads some texts for ever. Errors: ScriptError."""
    try:
        done = toolchain.attempt("mlir-opt", ["-o", os.devnull, *passes], input=text, timeout=20 + len(text) / 1e5)
    except ToolError as error:
        if "no answer" in str(error):
            raise ScriptError(f"MLIR itself reads this text for ever: {error}", source.filename) from None
        return  # no tool, no trial
    if done.returncode >= 0:
        return
    said = _SAID.search(done.stderr)  # what it still could say
    if said is not None:
        raise source.error_at(int(said[1]), int(said[2]), said[3])
    reason = next((line for line in done.stderr.splitlines() if "Assertion" in line or "LLVM ERROR" in line), "")
    reason = reason.partition("Assertion ")[2] or reason
    raise ScriptError(
        f"MLIR itself crashes over this text ({toolchain.status(done.returncode)}): {reason}", source.filename
    )


def parse_mlir(text: str, source: Source, tried: bool = False) -> ir.Module:
    """The module of MLIR text. `tried`: `survive` has seen it. Errors: ScriptError with the line."""
    if not tried and is_fragile(text):
        survive(text, source)
    try:
        return ir.Module.parse(text)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        first = error.error_diagnostics[0] if error.error_diagnostics else None
        raise moved(first.message if first else str(error), first.location if first else None, source) from None


def read(text_or_path: str) -> tuple[str, str]:
    """MLIR text, given or read from a file, and the name it goes by in errors."""
    if not isinstance(text_or_path, str):
        raise ScriptError(f"MLIR text or the path of a file is needed, not {type(text_or_path).__name__}")
    if "\n" in text_or_path or "{" in text_or_path:
        return text_or_path, "<mlir>"
    if not os.path.exists(text_or_path):
        raise ScriptError(f"there is no file {text_or_path}")
    try:
        with open(text_or_path, encoding="utf-8") as file:
            return file.read(), text_or_path
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{text_or_path} cannot be read as text: {error}") from None


def moved(message: str, location: object, source: Source) -> ScriptError:
    """MLIR calls parsed text "-": the error speaks of the user's file."""
    from tir_mlir.script.parser.verify import place

    name, line, column = place(location)
    if line and name in ("-", ""):
        return source.error_at(line, column, message)
    return at_location(message, location)


def complete(module: ir.Module) -> None:
    """Give ids, loop names, buffer names and iter names where the text leaves them out."""
    loops = buffers = 0
    for op in walk.ops(module.operation):
        facts = op.attributes
        if op.name == "affine.for" and attrs.LOOP not in facts:
            facts[attrs.LOOP] = ir.StringAttr.get(f"i{loops}")
            loops += 1
        if op.name in _NAMED and attrs.NAME not in facts:
            facts[attrs.NAME] = ir.StringAttr.get(f"{_NAMED[op.name]}{buffers}")
            buffers += 1
        if is_block(op) and attrs.ITERS in facts and attrs.NAMES not in facts:
            facts[attrs.NAMES] = attrs.to_attr([f"v{n}" for n in range(len(attrs.get(op, attrs.ITERS)))])
        if is_block(op) and attrs.SYMS not in facts:
            facts[attrs.SYMS] = attrs.to_attr([])
        if op.name == "func.func" and len(op.regions[0].blocks):
            _name_arguments(op)
        if (op.name in ("affine.for", "func.func") or is_block(op)) and attrs.ID not in facts:
            if op.name != "func.func" or len(op.regions[0].blocks):
                facts[attrs.ID] = attrs.to_attr(create.fresh_id(module.operation))


def _name_arguments(op: ir.Operation) -> None:
    count = len(op.regions[0].blocks[0].arguments)
    given = attrs.get(op, "arg_attrs") if "arg_attrs" in op.attributes else [{}] * count
    if all(attrs.NAME in g for g in given):
        return
    named = [g if attrs.NAME in g else {**g, attrs.NAME: f"arg{n}"} for n, g in enumerate(given)]
    op.attributes["arg_attrs"] = ir.ArrayAttr.get([_keep(g) for g in named])


def _keep(facts: dict[str, object]) -> ir.DictAttr:
    """A dictionary attribute; attributes that have no Python value pass through."""
    return ir.DictAttr.get(
        {k: ir.AffineMapAttr.get(v) if isinstance(v, ir.AffineMap) else attrs.to_attr(v) for k, v in facts.items()}
    )
