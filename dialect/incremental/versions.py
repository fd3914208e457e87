"""Versions of a program. Of one that steps have left behind, only what the next version has not is kept.

A step edits a copy of the program, so that an error or an interrupt leaves it as it was. Among many nests, to copy all
costs more than the step. So the module of the version before is made into the copy: it gets copies of the nests that
the last step changed. Those it had instead go to a module of their own, from which the version can be made again:

    version 7: module   --step-->  version 8: module
    version 7: nests that version 8 has not;  version 8: module;  the old module of 7, now as 8: the next step edits it
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.incremental import tables
from tir_mlir.dialect.incremental.contents import FunctionContents, Run, gaps, signature
from tir_mlir.dialect.ir import Func, clone_module, entered, funcs, top_of, visit, walk

_WHOLE = 16
"""Of versions that are made again one after the other, one in so many gets a module of its own."""
_ARGUMENT = -1
Key = tuple[int, int]
"""A value in the body of a function: the place of its op and the number of the result, or _ARGUMENT and a number."""
_lock = threading.RLock()
"""Held while a version gives its module away, or gets one."""


class Version:
    """A version of a program. `before`: the one that a step was applied to.

    Its module is only edited if nobody else has it. shared: several schedules have the version, or a user its module
    (an op does not keep its module alive, so references do not tell).
    """

    smallest = 32
    """With fewer ops in the bodies of functions, it is faster to copy them all."""

    def __init__(self, module: ir.Module, before: Version | None = None):
        self.shared = False
        self._module: ir.Module | None = module
        self._before = None if before is None else weakref.ref(before)
        self._difference: _Difference | None = None

    @property
    def module(self) -> ir.Module:
        with _lock:
            return self._made_again() if self._module is None else self._module

    def shown(self) -> ir.Module:
        """The module, for a user to keep."""
        self.shared = True
        return self.module

    def __reduce__(self) -> tuple[Callable[[str], Version], tuple[str]]:
        with entered():
            return _parsed, (str(self.module.operation.get_asm(enable_debug_info=True)),)

    def copy(self) -> ir.Module:
        """A copy of the module, for a step to edit."""
        before = None if self._before is None or self.shared else self._before()
        copy = None if before is None or before.shared else before._turned_into(self)
        return clone_module(self.module) if copy is None else copy

    def _turned_into(self, later: Version) -> ir.Module | None:
        """The module of this version, made into a copy of the next one. None if someone has it, or if it is not
        clear what differs."""
        with _lock:
            if self._module is None or sys.getrefcount(self._module) > 2:
                return None
            parts = self._parts(later.module)
            if parts is None:
                return None
            self._difference = _Difference(later, [part.stored() for part in parts], _attributes(self._module))
            module, self._module = self._module, None
        tables.forget(module)
        for part in parts:
            part.renew()
        _set_attributes(module, _attributes(later.module))
        return module

    def _parts(self, later: ir.Module) -> list[_Part] | None:
        assert self._module is not None
        old, new = tables.known_table(self._module), tables.known_table(later)
        if old is None or new is None or new.runs is None or sum(len(f.body) for f in new.functions) < self.smallest:
            return None
        both = zip(funcs(self._module), funcs(later), old.functions, new.functions, new.runs, strict=True)
        parts = [_Part(*one) for one in both]
        return parts if all(part.is_apart() for part in parts) else None

    def _made_again(self) -> ir.Module:
        waiting: list[tuple[Version, _Difference]] = []
        version = self
        while version._module is None:
            assert version._difference is not None
            waiting.append((version, version._difference))
            version = version._difference.later
        with entered():
            module = clone_module(version._module)
            for number, (old, difference) in enumerate(reversed(waiting)):
                difference.apply(module)
                if old is self or number % _WHOLE == _WHOLE - 1:
                    tables.read_verified(module)
                    old._module, old._difference = module, None
                    module = module if old is self else clone_module(module)
        return module


def _parsed(text: str) -> Version:
    """Unpickle a version."""
    with entered():
        return Version(ir.Module.parse(text))


class _Part:
    """A function in a version and in the next one: the ops that differ."""

    def __init__(self, old: Func, new: Func, before: FunctionContents, after: FunctionContents, runs: Sequence[Run]):
        self.body, self.new_body = old.body, new.body
        self.before, self.after, self.runs = before, after, runs
        self.gone = _outside(old.body, [(r.before, r.length) for r in runs], len(before.body))
        self.made = _outside(new.body, [(r.after, r.length) for r in runs], len(after.body))

    def is_apart(self) -> bool:
        """Whether no other op uses a result of the ones that differ."""
        return all(
            top_of(use.owner.operation) in tops
            for tops in (self.gone, self.made)
            for op in tops
            for result in op.results
            for use in result.uses
        )

    def stored(self) -> _Nests:
        """The ops that the next version has not, in a module of their own."""
        home, keys = ir.Module.create(ir.Location.unknown()), []

        def argument(value: ir.Value) -> ir.Value:
            keys.append(_key(value, self.before))
            return home.body.add_argument(value.type, ir.Location.unknown())

        _copied(self.gone, self.body, home.body, argument)
        return _Nests(home, keys, [Run(r.after, r.before, r.length) for r in self.runs])

    def renew(self) -> None:
        """Make the function as it is in the next version."""
        if self.gone or self.made:
            _replace(self.body, self.runs, self.made, self.new_body, lambda value: _key(value, self.after))


@dataclass(frozen=True)
class _Nests:
    """Ops in the body of a function of a version, in a module of their own.

    keys: what the arguments of its body stand for. runs: the other ops, from the next version to this one.
    """

    home: ir.Module
    keys: list[Key]
    runs: list[Run]

    def put_back(self, func: Func) -> None:
        """Make a function of the next version as it is in this one."""
        stored = [op.operation for op in self.home.body.operations]
        _replace(func.body, self.runs, stored, self.home.body, lambda v: self.keys[ir.BlockArgument(v).arg_number])


@dataclass(frozen=True)
class _Difference:
    """What a version has that the next one has not: ops by function, attributes of the module."""

    later: Version
    nests: list[_Nests]
    attributes: dict[str, ir.Attribute]

    def apply(self, module: ir.Module) -> None:
        """Make the module of the next version into that of this one."""
        for func, nests in zip(funcs(module), self.nests, strict=True):
            nests.put_back(func)
        _set_attributes(module, self.attributes)


def _outside(body: ir.Block, kept: Sequence[tuple[int, int]], total: int) -> list[ir.Operation]:
    """The ops of a body that are not in intervals, which are given as starts and lengths."""
    listed = body.operations
    ends = [(start, start + length) for start, length in kept]
    return [listed[n].operation for start, end in gaps(ends, total) for n in range(start, end)]


def _replace(
    body: ir.Block,
    runs: Sequence[Run],
    ops: Sequence[ir.Operation],
    home: ir.Block,
    key: Callable[[ir.Value], Key],
) -> None:
    """Replace the ops of a body outside runs by copies of those of another, which are in `home`. key: of a value there,
    of what stands for it in the other one."""
    listed = body.operations
    gone = _outside(body, [(r.before, r.length) for r in runs], len(listed))
    anchors = [listed[run.before].operation for run in runs]
    copies = iter(_copied(ops, home, body, lambda value: _value(body, key(value), runs)))
    at = 0
    for run, anchor in zip(runs, anchors, strict=True):
        for _ in range(run.after - at):
            next(copies).move_before(anchor)
        at = run.after + run.length
    for op in reversed(gone):
        op.erase()


def _copied(
    ops: Sequence[ir.Operation], home: ir.Block, body: ir.Block, mapped: Callable[[ir.Value], ir.Value]
) -> list[ir.Operation]:
    """Copy ops in `home` to the end of another body, before its terminator.

    mapped: what stands there for a value in `home` that none of them defines.
    """
    copies: list[ir.Operation] = []
    values: dict[ir.Value, ir.Value] = {}

    def connect(op: ir.Operation) -> ir.WalkResult:
        operands = op.operands
        for number, value in enumerate(operands):
            to = values.get(value)
            if to is None:
                to = values[value] = mapped(value) if _home(value) == home else value
            if to is not value:
                operands[number] = to
        return ir.WalkResult.ADVANCE

    listed = body.operations
    at = ir.InsertionPoint(listed[len(listed) - 1] if len(listed) else body)
    try:
        for op in ops:
            copies.append(op.clone(at).operation)
            values.update(zip(op.results, copies[-1].results, strict=True))
        for copy in copies:
            visit(copy, connect)
    except BaseException:  # an interrupt leaves no uses of the values of another version
        for copy in reversed(copies):
            copy.erase()
        raise
    return copies


def _home(value: ir.Value) -> ir.Block:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _key(value: ir.Value, contents: FunctionContents) -> Key:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _ARGUMENT, ir.BlockArgument(value).arg_number
    op = owner.operation
    nest = contents.signed.get(signature(op))
    place = walk.position(op) if nest is None else contents.body.index(nest)
    return place, ir.OpResult(value).result_number


def _value(body: ir.Block, key: Key, runs: Sequence[Run]) -> ir.Value:
    """The value in a body before a step that stands for one after it."""
    place, number = key
    if place == _ARGUMENT:
        return body.arguments[number]
    run = next(r for r in runs if r.after <= place < r.after + r.length)
    return body.operations[place - run.after + run.before].operation.results[number]


def _attributes(module: ir.Module) -> dict[str, ir.Attribute]:
    facts = module.operation.attributes
    return {name: facts[name] for name in facts}


def _set_attributes(module: ir.Module, wanted: dict[str, ir.Attribute]) -> None:
    facts = module.operation.attributes
    for name in [n for n in facts if n not in wanted]:
        del facts[name]
    for name, value in wanted.items():
        facts[name] = value
