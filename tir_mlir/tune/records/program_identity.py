"""What identifies a program in a database: its canonical form, and the class of programs that differ in sizes only."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mlir import ir

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import enter_context, funcs, held_module, ops
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.script.structural_equal import canonical

if TYPE_CHECKING:
    from tir_mlir.schedule import Schedule
    from tir_mlir.script.module import IRModule, PrimFunc

_DEFINITION = re.compile(r"^    def (\w+)\(", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)")
_LOOP = re.compile(r"^ *for .* in [\w.]+\(([^()]*)\)", re.MULTILINE)
_EXTENT = re.compile(r"(?<![\w.])\d+(?![\w.])")


@dataclass(frozen=True)
class ProgramIdentity:
    """A program without its names: `program` and `shape_class` are hashes of 32 hexadecimal digits.

    program: of the canonical form.
    shape_class: of that with every number left out, the same for an operator at other sizes.
    sizes: the constant extents of the loops, in order.
    """

    program: str
    shape_class: str
    sizes: tuple[int, ...]


Program: TypeAlias = "Schedule | IRModule | PrimFunc | ir.Module"
"""What is tuned, and what records are about."""


def identity(program: Program) -> ProgramIdentity:
    """The identity of an IRModule, a PrimFunc, a Schedule or an MLIR module; the same in every process.

        def mm(A: (64, 32), B: ...):             program: hash of the text, its names numbered
            for i, j, k in grid(64, 48, 32): ->  shape_class: hash of that text without 64, 32, 48, ...
                ...                              sizes: (64, 48, 32)

    Names of functions, parameters, buffers, blocks, loops and iters do not count. Raises TuneError for other values.
    """
    module = held_module(program)
    if module is None:
        raise TuneError(
            f"a program is an IRModule, a PrimFunc, a Schedule or an MLIR module, not {type(program).__name__}"
        )
    text = _without_names(module)
    sizes = tuple(int(n) for loop in _LOOP.findall(text) for n in _EXTENT.findall(loop.partition("annotations")[0]))
    return ProgramIdentity(_digest(text), _digest(_NUMBER.sub("#", text)), sizes)


def _without_names(module: ir.Module) -> str:
    """The canonical form. Functions get numbers, unless one of the module is called by its name."""
    text = canonical(module, names=False, symbols=False)
    with enter_context():
        names = [f.name for f in funcs(module)]
        calls = [op for op in ops(module.operation) if isa(op, CallOp)]
        called = {ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in calls}
    if called.intersection(names):
        return text
    numbers = {name: f"{number}" for number, name in enumerate(names)}
    return _DEFINITION.sub(lambda definition: f"    def {numbers.get(definition[1], definition[1])}(", text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
