"""Which modules were verified, and what they contain: the programs of users, and the versions that steps make.

The table of the module after a step is that of the module before, except for what the step changed. Users may edit
their modules, so those are known by a digest.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

from mlir import ir

from tir_mlir.dialect.incremental.changed_nests import ChangedNests
from tir_mlir.dialect.incremental.contents import FunctionContents, Run, gaps, read_function
from tir_mlir.dialect.ir import attrs, funcs, visit, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_LOOPS

_HANDLED = AFFINE_LOOPS | {"func.func"}


@dataclass(frozen=True)
class ModuleContents:
    """The contents of the functions of a module.

    lost: the ids that the step to it consumed. runs: the ops that it left alone, by function. None if unknown.
    """

    functions: list[FunctionContents] = field(repr=False)
    lost: frozenset[int] | None = None
    runs: list[list[Run]] | None = field(default=None, repr=False)

    @cached_property
    def ids(self) -> frozenset[int]:
        found = {f.number for f in self.functions}
        return frozenset(found.union(*(f.homes for f in self.functions)))

    def place(self, number: int) -> tuple[int, int] | None:
        """Where a loop or block is: its function, and its place in the body."""
        for f, function in enumerate(self.functions):
            nest = function.homes.get(number)
            if nest is not None:
                return f, function.body.index(nest)
        return None


_tables: WeakKeyDictionary[ir.Module, ModuleContents] = WeakKeyDictionary()


def known_table(module: ir.Module) -> ModuleContents | None:
    """The table of a module that was verified; None if it was not."""
    return _tables.get(module)


def forget(module: ir.Module) -> None:
    """Take the table of a module that is about to be edited."""
    _tables.pop(module, None)


def read(module: ir.Module) -> ModuleContents | None:
    """A new table of a module; None if two loops or blocks have the same id."""
    contents = [read_function(f) for f in funcs(module)]
    unique = [f for f in contents if f is not None]
    numbers = [n for f in unique for n in (f.number, *f.homes)]
    return ModuleContents(unique) if len(unique) == len(contents) and len(set(numbers)) == len(numbers) else None


def read_verified(module: ir.Module) -> None:
    """Make the table of a module that was verified."""
    table = read(module)
    if table is not None:
        _tables[module] = table


def record(module: ir.Module, old_module: ir.Module, changed: ChangedNests | None) -> None:
    """Make the table of a module that was verified after a step."""
    old = _tables.get(old_module)
    table = read(module) if changed is None or old is None else _carried(old, changed)
    if table is not None:
        _tables[module] = table


def _carried(old: ModuleContents, changed: ChangedNests) -> ModuleContents:
    """The table after a step."""
    found: set[int] = set()
    for before, after, runs in zip(old.functions, changed.contents, changed.runs, strict=True):
        kept = [(r.before, r.before + r.length) for r in runs]
        for start, end in gaps(kept, len(before.body)):
            found.update(n for nest in before.body[start:end] for n in nest.ids if n not in after.homes)
    lost = frozenset(n for n in found if all(n not in f.homes for f in changed.contents))
    return ModuleContents(changed.contents, lost, changed.runs)


def lost_ids(old_module: ir.Module, new_module: ir.Module) -> frozenset[int]:
    """The ids of loops and blocks that are in a module before a step, but not after it."""
    table = _tables.get(new_module)
    if table is not None and table.lost is not None:
        return table.lost
    return ids_of(old_module) - ids_of(new_module)


def ids_of(module: ir.Module) -> frozenset[int]:
    """The ids of all ops of a module that can have a handle."""
    table = _tables.get(module)
    return ids_in(module.operation) if table is None else table.ids


def find(module: ir.Module, number: int, like: ir.Module | None = None) -> ir.Operation | None:
    """The op of a module whose id is `number`. `like`: the module it is an unchanged copy of, whose table is used."""
    table = _tables.get(like or module)
    if table is None:
        return walk.find(module, number)
    position = table.place(number)
    if position is None:
        return next((f.op for f in funcs(module) if f.id == number), None)
    return walk.find(funcs(module)[position[0]].body.operations[position[1]].operation, number)


def ids_in(root: ir.Operation) -> frozenset[int]:
    """The ids of the loops, blocks and functions in an op."""
    ids: set[int] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name in _HANDLED:
            attributes = op.attributes
            if attrs.ID in attributes:
                ids.add(ir.IntegerAttr(attributes[attrs.ID]).value)
        return ir.WalkResult.ADVANCE

    visit(root, look)
    return frozenset(ids)


# --- programs of users ------------------------------------------------------------------------------------------------

_verified: WeakKeyDictionary[ir.Module, bytes] = WeakKeyDictionary()


def remember(module: ir.Module) -> None:
    """Record that a module was verified as it is now."""
    _verified[module] = _fingerprint(module)


def is_verified(module: ir.Module) -> bool:
    """Whether a module was verified and nothing in it changed since then: users may edit it, and run passes on it."""
    fingerprint = _verified.get(module)
    return fingerprint is not None and fingerprint == _fingerprint(module)


def _fingerprint(module: ir.Module) -> bytes:
    """A digest of all that a module contains."""
    text = io.BytesIO()
    module.operation.write_bytecode(text)
    return hashlib.sha256(text.getbuffer()).digest()
