"""Where the loops and blocks of a verified module are: their ids, by op in the body of a function.

The table of the module after a step is that of the module before, except for what the step changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

from mlir import ir

from tir_mlir.dialect.analysis import ChangedNests
from tir_mlir.dialect.ir import attrs, funcs, tops, visit, walk

_HANDLED = ("affine.for", "affine.parallel", "func.func")


@dataclass(frozen=True)
class NestTable:
    """The ids of the functions of a module, and of the loops and blocks in each op of their bodies."""

    functions: frozenset[int]
    nests: list[list[frozenset[int]]] = field(repr=False)

    @cached_property
    def places(self) -> dict[int, tuple[int, int]]:
        """{id: function, place in its body}."""
        found = {}
        for f, body in enumerate(self.nests):
            for n, ids in enumerate(body):
                for number in ids:
                    found[number] = f, n
        return found

    @cached_property
    def ids(self) -> frozenset[int]:
        return self.functions | self.places.keys()


_tables: WeakKeyDictionary[ir.Module, NestTable] = WeakKeyDictionary()


def known_table(module: ir.Module) -> NestTable | None:
    """The table of a module that was verified; None if it was not."""
    return _tables.get(module)


def record(module: ir.Module, before: ir.Module, changed: ChangedNests | None) -> None:
    """Make the table of a module that was verified after a step."""
    old = _tables.get(before)
    now = tops(module) if changed is None else changed.tops
    origins = [[None] * len(body) for body in now] if changed is None or old is None else changed.origins
    nests = [
        [ids_in(op) if o is None or old is None else old.nests[o[0]][o[1]] for op, o in zip(body, places, strict=True)]
        for body, places in zip(now, origins, strict=True)
    ]
    functions = frozenset(f.id for f in funcs(module)) if changed is None or old is None else old.functions
    _tables[module] = NestTable(functions, nests)


def ids_of(module: ir.Module) -> frozenset[int]:
    """The ids of all ops of a module that can have a handle."""
    table = _tables.get(module)
    return ids_in(module.operation) if table is None else table.ids


def find(module: ir.Module, number: int, like: ir.Module | None = None) -> ir.Operation | None:
    """The op of a module whose id is `number`. `like`: the module it is an unchanged copy of, whose table is used."""
    table = _tables.get(like or module)
    place = None if table is None else table.places.get(number)
    if place is None:
        return walk.find(module, number)
    return walk.find(funcs(module)[place[0]].body.operations[place[1]].operation, number)


def ids_in(root: ir.Operation) -> frozenset[int]:
    """The ids of the loops, blocks and functions in an op."""
    found: set[int] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name in _HANDLED:
            attributes = op.attributes
            if attrs.ID in attributes:
                found.add(ir.IntegerAttr(attributes[attrs.ID]).value)
        return ir.WalkResult.ADVANCE

    visit(root, look)
    return frozenset(found)
