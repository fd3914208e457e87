"""The symbols of a module: in a table made when asked, or in one that is kept while functions are added and erased."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable

from mlir import ir

from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.memo import cache_while_frozen, touch
from tir_mlir.dialect.ir.views import is_program


class KeptSymbols(type(threading.RLock())):  # type: ignore[misc]
    """The symbols of a module while entered; `contents`, those of its functions on tensors that are looked up by
    content, and `programs`, the names of its TensorIR functions by content, in order: None until they are asked for.

    A subclass of a lock because Python enters and exits locks atomically with respect to Ctrl-C.
    """

    def __init__(self, module: ir.Operation) -> None:
        self.module, self.table = module, ir.SymbolTable(module)
        self.found: dict[str, ir.Operation] = {}
        """Symbols that were looked up, by name."""
        self.contents: dict[Hashable, ir.Operation] | None = None
        self.programs: dict[str, list[str]] | None = None
        self.count = _count(module)

    def is_entered(self) -> bool:
        """Whether this thread has entered it."""
        return self._is_owned()  # type: ignore[attr-defined]

    def is_of(self, module: ir.Module) -> bool:
        """Whether they are those of a module, to which no others added ops since they were kept."""
        return module.operation == self.module and _count(self.module) == self.count


def _count(module: ir.Operation) -> int:
    return len(module.regions[0].blocks[0].operations)


class _SymbolState(threading.local):
    def __init__(self) -> None:
        self.kept: list[Callable[[], KeptSymbols | None]] = []


_state = _SymbolState()


def symbols_kept(module: ir.Module) -> KeptSymbols:
    """A context manager in which a module has one symbol table: look-ups do not depend on the number of its functions.

    Inside, functions are added by `create`, or reported by `symbol_added`, and erased by `erase_symbol`.
    """
    table = KeptSymbols(module.operation)
    _state.kept = [reference for reference in _state.kept if reference() is not None] + [weakref.ref(table)]
    return table


def kept_symbols(module: ir.Operation) -> KeptSymbols | None:
    """The symbols that are kept of a module; None if none are."""
    for reference in _state.kept:
        table = reference()
        if table is not None and table.is_entered() and (table.module is module or table.module == module):
            return table
    return None


def symbol_table(module: ir.Operation) -> ir.SymbolTable:
    """The symbols of a module. Requires that no two ops of the module have the same name; MLIR aborts otherwise."""
    table = kept_symbols(module) if _state.kept else None
    return _made_table(module) if table is None else table.table


@cache_while_frozen
def _made_table(module: ir.Operation) -> ir.SymbolTable:
    return ir.SymbolTable(module)


def symbol(module: ir.Module | ir.Operation, name: str) -> ir.Operation | None:
    """The op of a module with a symbol name; None if there is none. Requires what `symbol_table` does."""
    operation = module.operation
    kept = kept_symbols(operation) if _state.kept else None
    if kept is None:
        table = _made_table(operation)
        return table[name].operation if name in table else None
    if name not in kept.found and name in kept.table:
        kept.found[name] = kept.table[name].operation
    return kept.found.get(name)


def symbol_added(op: ir.Operation) -> None:
    """Tell that an op, whose name no other one has, is in its module."""
    table = kept_symbols(op.parent.operation) if _state.kept and op.parent is not None else None
    if table is not None:
        if is_program(op):
            table.programs = None
        table.table.insert(op)
        table.count += 1


def erase_symbol(op: ir.Operation) -> None:
    """Erase a function of a module."""
    touch(op)
    table = kept_symbols(op.parent.operation) if _state.kept and op.parent is not None else None
    if table is None:
        op.erase()
    else:
        if is_program(op):
            table.programs = None
        else:
            table.contents = None
        table.found.pop(attrs.get(op, "sym_name"), None)
        table.table.erase(op)
        table.count -= 1
