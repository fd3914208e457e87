"""linalg in: a program that `mlir-opt` or another front end wrote becomes loops and blocks. linalg out: back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError, VerifyError
from tir_mlir.dialect.ir import Func, create, entered, funcs
from tir_mlir.dialect.ir.context import context
from tir_mlir.dialect.verify import check_mlir
from tir_mlir.passes import linalg as passes
from tir_mlir.passes.linalg import Stayed as Stayed
from tir_mlir.passes.linalg.prepare import UPSTREAM
from tir_mlir.script.mlir_text import complete, moved, parse_mlir, read, survive
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser.source import Source
from tir_mlir.script.parser.verify import at_location, place

_NAME = re.compile(r"%([A-Za-z_]\w*)")
_RESULT = re.compile(r"%([A-Za-z_]\w*)\s*=\s*$")


def from_linalg(source: IRModule | ir.Module | str, func: str | None = None) -> IRModule:
    """A module of linalg ops, its text, or the path of a `.mlir` file -> the same program in loops and blocks.

    Takes named ops and `linalg.generic` on memrefs of known rank, with views and allocations; tensors become memrefs
    first, and results parameters. A symbolic extent is a shape variable; extents that linalg demands to be equal share
    one. Loops are `i0, i1, ...`, iters `v0, v1, ...`, blocks are called as the op. `func`: only this function.
    Errors: ScriptError with the place, for malformed text and for what has no such form; `source` stays as it is.
    """
    text, name = read(source) if isinstance(source, str) else ("", "")
    lines = Source(name, text.splitlines(keepends=True))
    if isinstance(source, str):
        survive(text, lines, [f"--pass-pipeline=builtin.module({','.join(UPSTREAM)})"] if "tensor" in text else [])
    with entered():
        module = parse_mlir(text, lines, tried=True) if isinstance(source, str) else _copy(source)
        _only(module, func)
        try:
            passes.from_linalg(module, _names(lines.lines))
        except VerifyError as error:
            raise moved(error.message, error.location, lines) from None
        except RecursionError:
            raise TirError("the program is nested too deeply") from None
        complete(module)
        return IRModule(module)


class LinalgModule(IRModule):
    """What `to_linalg` gives: functions of linalg ops, and of the blocks in `stayed`, each with the reason."""

    def __init__(self, mlir: ir.Module, stayed: Sequence[Stayed]):
        super().__init__(mlir)
        self.stayed = tuple(stayed)


def to_linalg(mod: IRModule, named: bool = False, strict: bool = False) -> LinalgModule:
    """A program of loops and blocks -> the same in linalg ops on memrefs, for `mlir-opt` and what stands on it.

    Every block nest that is a pure tensor computation becomes a `linalg.generic`, its init a `linalg.fill`. What is
    none stays as it is; `.stayed` of the result says which blocks and why. How loops were scheduled is not kept.
    named: give generics the name of the op that they are, where upstream knows one (`linalg.matmul`, `linalg.add`).
    strict: refuse what cannot be raised. `mod` stays as it is. Errors: ScriptError.
    """
    if not isinstance(mod, IRModule):
        raise TirError(f"to_linalg takes an IRModule, not {type(mod).__name__}")
    with entered():
        module = create.clone_module(mod.mlir)
        try:
            stayed = passes.to_linalg(module, named, strict)
            check_mlir(module.operation)
        except VerifyError as error:
            raise at_location(error.message, error.location) from None
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


def _only(module: ir.Module, name: str | None) -> None:
    """Leave only one function in the module."""
    if name is None:
        return
    found = funcs(module)
    if name not in [f.name for f in found]:
        raise TirError(f"the module has no function {name}; it has {', '.join(f.name for f in found) or 'none'}")
    others: list[Func] = [f for f in found if f.name != name]
    for other in others:
        other.op.erase()


def _names(lines: Sequence[str]) -> Callable[[ir.Location], str | None]:
    """The name that a value has in the text, by its location: `%A` of a parameter, `%t = ` before an op."""

    def written(location: ir.Location) -> str | None:
        name, line, column = place(location)
        if name != "-" or not 0 < line <= len(lines):
            return None
        text = lines[line - 1]
        found = _NAME.match(text, column - 1) or _RESULT.search(text[: column - 1])
        return found[1] if found else None

    return written
