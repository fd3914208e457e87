"""Whether two modules are the same program: compared by what they print as."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import create, entered
from tir_mlir.dialect.presburger import guards
from tir_mlir.script.printer import render
from tir_mlir.script.printer.options import Options


def equal(a: ir.Module, b: ir.Module, *, names: bool = True) -> bool:
    """Whether two modules are the same program.

    Ids, locations, the order of operands in affine maps and whether a value is shared or computed twice do not count,
    nor how a `T.where` is written: conditions that the loops or the others imply, loops of extent 1 in it.
    Names (of variables, buffers, loops, blocks) count unless `names=False`.
    """
    return canonical(a, names=names) == canonical(b, names=names)


def difference(a: ir.Module, b: ir.Module, *, names: bool = True, symbols: bool = True) -> str | None:
    """The first line in which two modules differ, as both print it; None when they are equal."""
    left, right = (canonical(m, names=names, symbols=symbols).splitlines() for m in (a, b))
    for number in range(max(len(left), len(right))):
        sides = [lines[number] if number < len(lines) else "(ends here)" for lines in (left, right)]
        if sides[0] != sides[1]:
            return f"line {number + 1}:\n  first:  {sides[0].strip()}\n  second: {sides[1].strip()}"
    return None


def canonical(module: ir.Module, *, names: bool = True, symbols: bool = True) -> str:
    """The text that equal programs share. `symbols=False` leaves out what the function is called from outside."""
    with entered():
        if guards.has_guards(module.operation):
            module = create.clone_module(module)
            guards.normalise(module.operation)
        return render(module, Options(anonymous=not names, symbols=symbols))
