"""The rules of the encoding, checked on a parsed program: errors are shown at the line of the user's text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine, NotProvable, ScriptError, VerifyError
from tir_mlir.dialect.ir import Block, walk
from tir_mlir.dialect.verify import verify
from tir_mlir.script.parser.scope import Places, State
from tir_mlir.script.parser.source import Source


def verify_source(module: ir.Module, states: Sequence[State]) -> None:
    """Raise ScriptError, at its line, for the first rule that a parsed module breaks."""
    try:
        verify(module, source=True)
    except VerifyError as error:
        raise _located(module, error, states) from None
    except (NotProvable, NotAffine) as error:
        raise states[0].source.error(None, f"the program could not be checked: {error}") from error


def _located(module: ir.Module, error: VerifyError, states: Sequence[State]) -> ScriptError:
    for state in states:
        places = state.places.get(error.op_id) if error.op_id is not None else None
        if places is not None:
            return state.source.error(_culprit(module, error, places), error.message)
    return at_location(error.message, error.location, [s.source for s in states])


def _culprit(module: ir.Module, error: VerifyError, places: Places) -> ast.AST:
    """The part of a block that a rule speaks of: an axis, a declared region, or the block."""
    named = re.search(r"\biter (\w+)", error.message)
    if named and named.group(1) in places.iters:
        return places.iters[named.group(1)]
    if error.rule == "regions":
        return (places.reads if "T.reads" in error.message else places.writes) or places.block
    if error.rule == "cover" and error.op_id is not None:
        return places.iters.get(_short_iter(module, error.op_id) or "", places.block)
    return places.block


def _short_iter(module: ir.Module, number: int) -> str | None:
    """The iter whose loop does not match its domain."""
    op = walk.find(module, number)
    if op is None:
        return None
    loops = {loop.var: loop for loop in walk.loops_above(op)}
    for it in Block(op).iters:
        var = it.binding.is_value()
        loop = loops.get(var) if var is not None else None
        if loop is None or loop.extent.as_constant() != it.extent.as_constant():
            return it.name
    return None


def at_location(message: str, location: object, sources: Sequence[Source] = ()) -> ScriptError:
    """An error at an MLIR location, with its line when the text is known."""
    name, line, column = place(location)
    for source in sources:
        if name == source.filename:
            return source.error_at(line, column, message)
    text = f"{message}\n  {name}:{line}:{column}" if name else message
    return ScriptError(message, name or None, line or None, text)


def place(location: object) -> tuple[str, int, int]:
    """File, line and column of an MLIR location; empty when it has none."""
    found = re.search(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)', str(location))
    return (found.group(1), int(found.group(2)), int(found.group(3))) if found else ("", 0, 0)
