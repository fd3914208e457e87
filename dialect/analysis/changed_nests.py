"""What a step changed: the nests it edited, and those whose properties depend on them through a buffer.

A step works on a clone of a verified module. All else is as it was, so the rules hold there without looking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis.buffer_users import users
from tir_mlir.dialect.ir import AFFINE_ACCESS, Buffer, Touched, funcs, ops, tops

_LOADS = tuple(n for n in (*AFFINE_ACCESS, "memref.load") if "load" in n)
_FREE = ("memref.alloc", "memref.alloca", "arith.constant", "affine.apply")
"""Ops with results at the top of a function of which only the nests that use them depend."""


Place = tuple[int, int]
"""A function of a module, and the place of an op in its body."""
Bodies = list[list[ir.Operation]]


@dataclass(frozen=True)
class ChangedNests:
    """The ops in the bodies of functions that differ from those before a step.

    edited: those that were edited or created. affected: these, and those that share a buffer with an edited one, now or
    before. tops: all of them. origins: for each, its place before the step if it is the same; None if it was edited or
    created.
    """

    edited: list[ir.Operation]
    affected: list[ir.Operation]
    origins: list[list[Place | None]]
    tops: Bodies


def changed_nests(before: ir.Module, after: ir.Module, touched: Touched) -> ChangedNests | None:
    """What a step changed; None if that may be anything: a function, its arguments, shape variables.

    `touched`: made of the clone of `before` that the step made `after` of.
    """
    if touched.whole or [op.operation for op in after.body.operations] != touched.functions:
        return None
    now, edited = tops(after), []
    origins: list[list[Place | None]] = []
    for body in now:
        places = [touched.places.get(op) for op in body]
        origins.append([None if p in touched.edited else p for p in places])
        edited += [op for op, origin in zip(body, origins[-1], strict=True) if origin is None]
    kept = {origin for places in origins for origin in places}
    lost = [place for place in touched.places.values() if place not in kept]
    bodies = [f.body for f in funcs(before)]
    gone = [bodies[f].operations[n].operation for f, n in lost]
    if not all(_is_nest(op) or op.name in _FREE for op in (*edited, *gone)):
        return None
    shared: dict[ir.Value, bool] = _buffers(edited)
    for buffer, written in _buffers(gone).items():
        value = _now(buffer, bodies, now, kept, touched)
        if value is not None:
            shared[value] = shared.get(value, False) or written
    return ChangedNests(edited, _with_users(edited, shared), origins, now)


def _now(
    buffer: ir.Value, old: Sequence[ir.Block], now: Bodies, kept: set[Place | None], touched: Touched
) -> ir.Value | None:
    """The buffer that corresponds to one of the module before; None if it was edited or erased."""
    owner = buffer.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    if block not in old:
        return None  # it belongs to a nest
    home = old.index(block)
    if isinstance(owner, ir.Block):
        return now[home][0].block.arguments[ir.BlockArgument(buffer).arg_number]
    place = next((home, n) for n, op in enumerate(block.operations) if op == owner.operation)
    return touched.tops[home][place[1]].results[0] if place in kept else None


def _is_nest(op: ir.Operation) -> bool:
    return len(op.results) == 0


def _buffers(nests: Iterable[ir.Operation]) -> dict[ir.Value, bool]:
    """The parameters and allocations outside nests that are used in them, and whether they may be written."""
    found: dict[ir.Value, bool] = {}
    for nest in nests:
        for op in ops(nest):
            for value in op.operands:
                if isinstance(value.type, ir.MemRefType):
                    root = Buffer(value).root.value
                    found[root] = found.get(root, False) or op.name not in _LOADS
    return found


def _with_users(edited: Sequence[ir.Operation], shared: dict[ir.Value, bool]) -> list[ir.Operation]:
    """Nests, and those that use one of the buffers. A parameter that none of the edited ones writes does not count."""
    found = dict.fromkeys(edited)
    for buffer, written in shared.items():
        if written or not isinstance(buffer.owner, ir.Block):
            found.update(dict.fromkeys(users(buffer)))
    return list(found)
