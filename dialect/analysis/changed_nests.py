"""What a step changed: the nests it edited, and those whose properties depend on them through a buffer.

A step works on a clone of a verified module. All else is as it was, so the rules hold there without looking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis.accesses import takes_no_memref
from tir_mlir.dialect.analysis.buffer_users import users
from tir_mlir.dialect.analysis.kept_runs import kept_runs
from tir_mlir.dialect.ir import AFFINE_ACCESS, Buffer, FunctionContents, Run, Touched, funcs, gaps, ops, walk

_LOADS = tuple(n for n in (*AFFINE_ACCESS, "memref.load") if "load" in n)
_FREE = ("memref.alloc", "memref.alloca", "arith.constant", "affine.apply")
"""Ops with results at the top of a function of which only the nests that use them depend."""
_PRODUCT = "arith.muli"
"""Of sizes, as a new one (`m * n`): nothing refers to its name yet."""


@dataclass(frozen=True)
class ChangedNests:
    """The ops in the bodies of functions that differ from those before a step.

    edited: those that were edited or created. affected: these, and those that share a buffer with an edited one, now or
    before. runs: by function, all others. contents: of each function after the step.
    """

    edited: list[ir.Operation]
    affected: list[ir.Operation]
    runs: list[list[Run]]
    contents: list[FunctionContents]


def changed_nests(before: ir.Module, after: ir.Module, touched: Touched) -> ChangedNests | None:
    """What a step changed; None if that may be anything: a function, its arguments, shape variables.

    `touched`: made of the clone of `before` that the step made `after` of.
    """
    if touched.whole or [op.operation for op in after.body.operations] != touched.functions:
        return None
    runs: list[list[Run]] = []
    contents: list[FunctionContents] = []
    edited: list[ir.Operation] = []
    shared: dict[ir.Value, bool] = {}
    for number, (old, new) in enumerate(zip(funcs(before), funcs(after), strict=True)):
        function = _Function(old.body, new.body, touched.contents[number])
        if not function.match(touched, number):
            return None
        made, gone = function.made(), function.gone()
        known = function.contents.after(function.runs, made)
        if known is None or not all(_is_nest(op) or op.name in _FREE for op in gone):
            return None
        if not all(_is_nest(op) or op.name in (*_FREE, _PRODUCT) for op in made):
            return None
        runs.append(function.runs)
        contents.append(known)
        edited += made
        function.add_buffers(made, gone, shared)
    return ChangedNests(edited, _with_users(edited, shared), runs, contents)


class _Function:
    """The body of a function before and after a step."""

    def __init__(self, old: ir.Block, new: ir.Block, contents: FunctionContents):
        self.old, self.new, self.contents = old, new, contents
        self.runs: list[Run] = []

    def match(self, touched: Touched, number: int) -> bool:
        """Find what the step left alone. False if that is not clear."""
        contents = self.contents
        untouched = not touched.edited[number] and number not in touched.blind
        if untouched and len(self.new.operations) == len(contents.body):
            self.runs = [Run(0, 0, len(contents.body))]
            return True
        places = {contents.body.index(nest) for nest in touched.edited[number]}
        if number in touched.blind:
            places.update(contents.blind_places())
        runs = kept_runs(contents, sorted(places), self.new)
        self.runs = runs or []
        return runs is not None

    def made(self) -> list[ir.Operation]:
        return _listed(self.new, [(r.after, r.after + r.length) for r in self.runs])

    def gone(self) -> list[ir.Operation]:
        return _listed(self.old, [(r.before, r.before + r.length) for r in self.runs])

    def add_buffers(
        self, made: Sequence[ir.Operation], gone: Sequence[ir.Operation], shared: dict[ir.Value, bool]
    ) -> None:
        """Collect the buffers that changed ops use, now or before, and whether they may be written."""
        old = ((self._now(buffer), written) for buffer, written in _buffers(gone).items())
        for value, written in (*_buffers(made).items(), *old):
            if value is not None:
                shared[value] = shared.get(value, False) or written

    def _now(self, buffer: ir.Value) -> ir.Value | None:
        """The buffer that corresponds to one of the module before; None if it was edited or erased."""
        owner = buffer.owner
        if isinstance(owner, ir.Block):
            return self.new.arguments[ir.BlockArgument(buffer).arg_number] if owner == self.old else None
        if owner.operation.block != self.old:
            return None  # it belongs to a nest
        place = walk.position(owner.operation)
        run = next((r for r in self.runs if r.before <= place < r.before + r.length), None)
        return None if run is None else self.new.operations[place - run.before + run.after].operation.results[0]


def _listed(body: ir.Block, kept: list[tuple[int, int]]) -> list[ir.Operation]:
    """The ops of a body outside some intervals."""
    listed = body.operations
    return [listed[n].operation for start, end in gaps(kept, len(listed)) for n in range(start, end)]


def _is_nest(op: ir.Operation) -> bool:
    return len(op.results) == 0


def _buffers(nests: Iterable[ir.Operation]) -> dict[ir.Value, bool]:
    """The parameters and allocations outside nests that are used in them, and whether they may be written."""
    found: dict[ir.Value, bool] = {}
    for nest in nests:
        for op in ops(nest):
            for value in () if takes_no_memref(op.name) else op.operands:
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
