"""Conversion between linalg ops and TensorIR loops and blocks, in both directions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import TirError, VerifyError
from tir_mlir.dialect.ir import Func, create, enter_context, funcs, is_block, walk
from tir_mlir.dialect.ir.context import context
from tir_mlir.dialect.verify import check_mlir, structure
from tir_mlir.extensions import implement
from tir_mlir.passes import linalg as passes
from tir_mlir.passes.linalg import UnraisedBlock as UnraisedBlock
from tir_mlir.passes.linalg.prepare import UPSTREAM
from tir_mlir.script.mlir_text import add_missing_attributes, locate_error, parse_mlir, read_text, try_in_subprocess
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser.source import SourceText
from tir_mlir.script.parser.verify_parsed import error_at_location, file_position

_NAME = re.compile(r"%([A-Za-z_]\w*)")
_RESULT = re.compile(r"%([A-Za-z_]\w*)\s*=\s*$")


class ImportedModule(IRModule):
    """Result of `from_linalg`. `constants[function][parameter]` are the values of constants that became parameters."""

    def __init__(self, mlir: ir.Module, constants: Mapping[str, Mapping[str, np.ndarray]]):
        super().__init__(mlir)
        self.constants = {name: dict(values) for name, values in constants.items() if values}


@implement(IRModule.from_linalg)
def from_linalg(source: IRModule | ir.Module | str, func: str | None = None) -> ImportedModule:
    """Convert linalg ops to loops and blocks. `source`: a module, MLIR text, or the path of a `.mlir` file.

    Accepts named ops and `linalg.generic` on ranked memrefs, views and allocations. Tensors are bufferized first;
    constants, then results, become parameters: `.constants` of the result has the values of the former. A fill before a
    reduction with terms becomes its init. Dynamic extents become shape variables; extents that linalg requires to be
    equal share one. Loops are named `i0, i1, ...`, iters `v0, v1, ...`, blocks after their op.
    func: convert only this function. `source` is not modified.
    Raises ScriptError with the source location for malformed text and for unsupported ops.
    """
    text, lines = checked_text(source) if isinstance(source, str) else ("", SourceText("", []))
    with enter_context():
        module = parse_mlir(text, lines, trusted=True) if isinstance(source, str) else _copy(source)
        _erase_others(module, func)
        try:
            if any(is_block(op) for op in walk.ops(module.operation)):  # next to linalg; its names are asked for
                structure.check(module)
                add_missing_attributes(module)
            constants = passes.from_linalg(module, source_names(lines.lines))
        except VerifyError as error:
            raise locate_error(error.message, error.location, lines) from None
        except RecursionError:
            raise TirError("the program is nested too deeply") from None
        add_missing_attributes(module)
        return ImportedModule(module, constants)


def checked_text(text_or_path: str) -> tuple[str, SourceText]:
    """MLIR text, given or of a file, on which neither MLIR's parser nor bufferization aborts. Errors: ScriptError."""
    text, name = read_text(text_or_path)
    lines = SourceText(name, text.splitlines(keepends=True))
    try_in_subprocess(
        text, lines, [f"--pass-pipeline=builtin.module({','.join(UPSTREAM)})"] if "tensor" in text else []
    )
    return text, lines


class LinalgModule(IRModule):
    """Result of `to_linalg`. `stayed` lists the blocks that were not raised, each with the reason."""

    def __init__(self, mlir: ir.Module, stayed: Sequence[UnraisedBlock]):
        super().__init__(mlir)
        self.stayed = tuple(stayed)


def to_linalg(mod: IRModule, named: bool = False, strict: bool = False) -> LinalgModule:
    """Raise loops and blocks to linalg ops on memrefs, for `mlir-opt` and other upstream tools.

    A block nest that is a pure tensor computation becomes a `linalg.generic`, its init a `linalg.fill`; the loop
    schedule is dropped. Other blocks are left unchanged and listed in `.stayed` of the result, with the reason.
    named: specialize generics to named ops where one exists (`linalg.matmul`, `linalg.add`).
    strict: raise ScriptError if any block cannot be raised. `mod` is not modified.
    """
    if not isinstance(mod, IRModule):
        raise TirError(f"to_linalg takes an IRModule, not {type(mod).__name__}")
    with enter_context():
        module = create.clone_module(mod.mlir)
        try:
            stayed = passes.to_linalg(module, named, strict)
            check_mlir(module.operation)
        except VerifyError as error:
            raise error_at_location(error.message, error.location) from None
    return LinalgModule(module, stayed)


def _copy(source: IRModule | ir.Module) -> ir.Module:
    module = source.mlir if isinstance(source, IRModule) else source
    if not isinstance(module, ir.Module):
        raise TirError(
            f"from_linalg takes a module, MLIR text or the path of a .mlir file, not {type(source).__name__}"
        )
    if module.context != context():
        return ir.Module.parse(str(module.operation.get_asm(enable_debug_info=True)))
    return create.clone_module(module)


def _erase_others(module: ir.Module, name: str | None) -> None:
    """Erase every function except `name`."""
    if name is None:
        return
    functions = funcs(module)
    if name not in [f.name for f in functions]:
        raise TirError(f"the module has no function {name}; it has {', '.join(f.name for f in functions) or 'none'}")
    others: list[Func] = [f for f in functions if f.name != name]
    for func in others:
        func.op.erase()


def source_names(lines: Sequence[str]) -> Callable[[ir.Location], str | None]:
    """Map a location to the SSA name at that position in the text: `%A` of a parameter, `%t = ` before an op."""

    def written(location: ir.Location) -> str | None:
        name, line, column = file_position(location)
        if name != "-" or not 0 < line <= len(lines):
            return None
        text = lines[line - 1]
        match = _NAME.match(text, column - 1) or _RESULT.search(text[: column - 1])
        return match[1] if match else None

    return written
