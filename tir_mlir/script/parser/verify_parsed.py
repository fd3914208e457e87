"""Verification of a parsed program; errors are reported at the line of the user's text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine, NotProvable, ScriptError, VerifyError
from tir_mlir.dialect.ir import Block, walk
from tir_mlir.dialect.verify import verify
from tir_mlir.script.parser.function_state import BlockNodes, ParserState
from tir_mlir.script.parser.source import SourceText


def verify_source(module: ir.Module, states: Sequence[ParserState]) -> None:
    """Verify a parsed module. Raises ScriptError with the source line of the first violation."""
    try:
        verify(module, source=True, written=True)
    except VerifyError as error:
        raise _locate_error(module, error, states) from None
    except (NotProvable, NotAffine) as error:
        raise states[0].source.error(None, f"the program could not be checked: {error}") from error


def _locate_error(module: ir.Module, error: VerifyError, states: Sequence[ParserState]) -> ScriptError:
    for state in states:
        block_nodes = state.block_nodes.get(error.op_id) if error.op_id is not None else None
        if block_nodes is not None:
            return state.source.error(_culprit(module, error, block_nodes), error.message)
    return error_at_location(error.message, error.location, [s.source for s in states])


def _culprit(module: ir.Module, error: VerifyError, block_nodes: BlockNodes) -> ast.AST:
    """The AST node that a violation is about: an axis, a declared region, or the block."""
    named = re.search(r"\biter (\w+)", error.message)
    if named and named.group(1) in block_nodes.iters:
        return block_nodes.iters[named.group(1)]
    if error.rule == "regions":
        return (block_nodes.reads if "T.reads" in error.message else block_nodes.writes) or block_nodes.block
    if error.rule == "cover" and error.op_id is not None:
        return block_nodes.iters.get(_uncovered_iter(module, error.op_id) or "", block_nodes.block)
    return block_nodes.block


def _uncovered_iter(module: ir.Module, number: int) -> str | None:
    """The first iter that is not bound to a loop of its own extent."""
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


def error_at_location(message: str, location: object, sources: Sequence[SourceText] = ()) -> ScriptError:
    """A ScriptError at an MLIR location; quotes the line if the source is known."""
    name, line, column = file_position(location)
    for source in sources:
        if name == source.filename:
            return source.error_at(line, column, message)
    text = f"{message}\n  {name}:{line}:{column}" if name else message
    return ScriptError(message, name or None, line or None, text)


def file_position(location: object) -> tuple[str, int, int]:
    """File, line and column of an MLIR location; ("", 0, 0) if unknown."""
    match = re.search(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)', str(location))
    return (match.group(1), int(match.group(2)), int(match.group(3))) if match else ("", 0, 0)
