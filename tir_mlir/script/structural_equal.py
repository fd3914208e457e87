"""Structural equality of modules, by comparing their canonical printed form."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import create, enter_context
from tir_mlir.dialect.presburger import guards
from tir_mlir.script.printer import render
from tir_mlir.script.printer.print_options import Options


def equal(a: ir.Module, b: ir.Module, *, names: bool = True) -> bool:
    """Whether two modules are structurally equal.

    Ignored: ids, locations, the order of operands in affine maps, common subexpressions, the bindings of iters of
    extent 1, and in `T.where` redundant conditions and unit loops. Names (of variables, buffers, loops, blocks) are
    compared unless `names=False`.
    """
    return canonical(a, names=names) == canonical(b, names=names)


def difference(a: ir.Module, b: ir.Module, *, names: bool = True, symbols: bool = True) -> str | None:
    """The first line in which the printed modules differ, from both; None if they are equal."""
    first, second = (canonical(m, names=names, symbols=symbols).splitlines() for m in (a, b))
    for number in range(max(len(first), len(second))):
        sides = [lines[number] if number < len(lines) else "(ends here)" for lines in (first, second)]
        if sides[0] != sides[1]:
            return f"line {number + 1}:\n  first:  {sides[0].strip()}\n  second: {sides[1].strip()}"
    return None


def canonical(module: ir.Module, *, names: bool = True, symbols: bool = True) -> str:
    """The canonical text of a module. `symbols=False` omits `global_symbol` and visibility."""
    with enter_context():
        if guards.has_guards(module.operation):
            module = create.clone_module(module)
            guards.normalize(module.operation)
        return render(module, Options(anonymous=not names, symbols=symbols, canonical_units=True))
