"""Versions of a program: which were verified, what they contain, and how one is made into the next.

A step edits a copy of the module of a version, so that an error or an interrupt leaves that as it was. Among many
nests, to copy all costs more than the step. So the module of the version before is made into the copy: it gets copies
of the nests that the last step changed. Those it had instead go to a module of their own, from which the version can be
made again: of a version that steps have left behind, only what the next version has not is kept.

    version 7: module   --step-->  version 8: module
    version 7: nests that version 8 has not;  the old module of 7, now as 8:  the next step edits it

The table of the module after a step is that of the module before, except for what the step changed. Users may edit
their modules, so those are known by a digest.
"""

from __future__ import annotations

import hashlib
import io
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from mlir import ir

from tir_mlir.dialect.incremental.contents import (
    ChangedNests,
    FunctionContents,
    KnownModule,
    Run,
    gaps,
    read_function,
    signature,
)
from tir_mlir.dialect.ir import Func, QueryCache, attrs, clone_module, enter_context, funcs, top_of, visit, walk
from tir_mlir.dialect.ir.memo import Journal, open_journal
from tir_mlir.dialect.ir.op_traits import AFFINE_LOOPS
from tir_mlir.dialect.ir.op_views import FuncOp

_HANDLED = AFFINE_LOOPS | FuncOp.names


@dataclass(frozen=True)
class ModuleContents:
    """The contents of the functions of a module.

    lost: the ids that the step to it consumed.
    runs: the ops that it left alone, by function. None if unknown.
    """

    functions: list[FunctionContents] = field(repr=False)
    lost: frozenset[int] | None = None
    runs: list[list[Run]] | None = field(default=None, repr=False)

    @cached_property
    def ids(self) -> frozenset[int]:
        numbers = {f.number for f in self.functions}
        return frozenset(numbers.union(*(f.nests_by_id for f in self.functions)))


_tables: WeakKeyDictionary[ir.Module, ModuleContents] = WeakKeyDictionary()


def known_table(module: ir.Module) -> ModuleContents | None:
    """The table of a module that was verified; None if it was not."""
    return _tables.get(module)


def journal_of(module: ir.Module) -> Journal:
    """A journal for a step that reads a module, so that lookups use its table."""
    table = _tables.get(module)
    return Journal() if table is None else KnownModule(module, table.functions)


def read(module: ir.Module) -> ModuleContents | None:
    """A new table of a module; None if two loops or blocks have the same id."""
    contents = [read_function(f) for f in funcs(module)]
    unique = [f for f in contents if f is not None]
    numbers = [n for f in unique for n in (f.number, *f.nests_by_id)]
    return ModuleContents(unique) if len(unique) == len(contents) and len(set(numbers)) == len(numbers) else None


def read_verified(module: ir.Module) -> None:
    """Make the table of a module that was verified."""
    table = read(module)
    if table is not None:
        _tables[module] = table


def record(module: ir.Module, old_module: ir.Module, changed: ChangedNests | None) -> None:
    """Make the table of a module that was verified after a step."""
    old = _tables.get(old_module)
    table = read(module) if changed is None or old is None else _contents_after_step(old, changed)
    if table is not None:
        _tables[module] = table


def _contents_after_step(old: ModuleContents, changed: ChangedNests) -> ModuleContents:
    """The table after a step."""
    moved_ids: set[int] = set()
    for old_function, new_function, runs in zip(old.functions, changed.contents, changed.runs, strict=True):
        kept = [(r.before, r.before + r.length) for r in runs]
        for start, end in gaps(kept, len(old_function.body)):
            moved_ids.update(
                n for nest in old_function.body[start:end] for n in nest.ids if n not in new_function.nests_by_id
            )
    lost = frozenset(n for n in moved_ids if all(n not in f.nests_by_id for f in changed.contents))
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


def find(module: ir.Module, number: int) -> ir.Operation | None:
    """The op of a module whose id is `number`; while a step runs, of one that it has not edited yet."""
    current, table = open_journal(), _tables.get(module)
    if isinstance(current, KnownModule) and current.module is module:
        functions, bodies = current.contents, current.bodies
    elif table is not None:
        functions, bodies = table.functions, [f.op for f in funcs(module)]
    else:
        return walk.find(module, number)
    for function, op in zip(functions, bodies, strict=True):
        nest = function.nests_by_id.get(number)
        if nest is not None:
            return walk.find(Func(op).body.operations[function.body.index(nest)].operation, number)
    return next((op for op in bodies if attrs.get(op, attrs.ID) == number), None)


def infos_with(module: ir.Module, number: int) -> dict[int, Any]:
    """Where snapshots are kept of the loops and blocks in the nest of one; they hold in all versions with the nest."""
    table = _tables.get(module)
    nests = () if table is None else (f.nests_by_id.get(number) for f in table.functions)
    return next((nest.infos for nest in nests if nest is not None), {})


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


_WHOLE = 16
"""Of versions that are made again one after the other, one in so many gets a module of its own."""
_ARGUMENT = -1
Key = tuple[int, int]
"""A value in the body of a function: the position of its op and the number of the result, or _ARGUMENT and a number."""
_lock = threading.RLock()
"""Held while a version gives its module away, or gets one."""


class Version:
    """A version of a program. `before`: the one that a step was applied to. `cache`: of queries about its module.

    Its module is only made into that of another version if nobody else has it. shared: several schedules have the
    version, or a user its module (an op does not keep its module alive, so references do not tell).
    """

    smallest = 32
    """With fewer ops in the bodies of functions, it is faster to copy them all."""

    def __init__(self, module: ir.Module, before: Version | None = None, cache: QueryCache | None = None):
        self.shared = False
        self._module: ir.Module | None = module
        self._cache = cache
        self._before = None if before is None else weakref.ref(before)
        if before is not None:
            before._cache = None  # lookups ask of the new version from now on
        self._difference: _Difference | None = None

    @property
    def module(self) -> ir.Module:
        with _lock:
            return self._rebuild_module() if self._module is None else self._module

    def share_module(self) -> ir.Module:
        """The module, for a user to keep."""
        self.shared, self._cache = True, None
        return self.module

    def __reduce__(self) -> tuple[Callable[[str], Version], tuple[str]]:
        with enter_context():
            return _parse_version, (str(self.module.operation.get_asm(enable_debug_info=True)),)

    def query_cache(self) -> QueryCache:
        """The cache of queries about the module; a new one if others may edit it, or ask as well."""
        if self.shared:
            return QueryCache()
        if self._cache is None:
            self._cache = QueryCache()
        return self._cache

    def copy_module(self) -> ir.Module:
        """A copy of the module, for a step to edit."""
        previous = None if self._before is None or self.shared else self._before()
        copy = None if previous is None or previous.shared else previous._convert_to_later(self)
        return clone_module(self.module) if copy is None else copy

    def _convert_to_later(self, later: Version) -> ir.Module | None:
        """The module of this version, made into a copy of the next one. None if someone has it, or if it is not
        clear what differs."""
        with _lock:
            if self._module is None or sys.getrefcount(self._module) > 2:
                return None
            parts = self._parts(later.module)
            if parts is None:
                return None
            self._difference = _Difference(
                later, [part.extract_removed_ops() for part in parts], _attributes(self._module)
            )
            module, self._module, self._cache = self._module, None, None
        _tables.pop(module, None)
        for part in parts:
            part.renew()
        _set_attributes(module, _attributes(later.module))
        return module

    def _parts(self, later: ir.Module) -> list[_Part] | None:
        assert self._module is not None
        old, new = known_table(self._module), known_table(later)
        if old is None or new is None or new.runs is None or sum(len(f.body) for f in new.functions) < self.smallest:
            return None
        both = zip(funcs(self._module), funcs(later), old.functions, new.functions, new.runs, strict=True)
        parts = [_Part(*fields) for fields in both]
        return parts if all(part.is_separable() for part in parts) else None

    def _rebuild_module(self) -> ir.Module:
        waiting: list[tuple[Version, _Difference]] = []
        version = self
        while version._module is None:
            assert version._difference is not None
            waiting.append((version, version._difference))
            version = version._difference.later
        with enter_context():
            module = clone_module(version._module)
            for number, (old, difference) in enumerate(reversed(waiting)):
                difference.apply(module)
                if old is self or number % _WHOLE == _WHOLE - 1:
                    read_verified(module)
                    old._module, old._difference = module, None
                    module = module if old is self else clone_module(module)
        return module


def _parse_version(text: str) -> Version:
    """Unpickle a version."""
    with enter_context():
        return Version(ir.Module.parse(text))


class _Part:
    """A function in a version and in the next one: the ops that differ."""

    def __init__(self, old: Func, new: Func, before: FunctionContents, after: FunctionContents, runs: Sequence[Run]):
        self.body, self.new_body = old.body, new.body
        self.before, self.after, self.runs = before, after, runs
        self.gone = _ops_outside(old.body, [(r.before, r.length) for r in runs], len(before.body))
        self.made = _ops_outside(new.body, [(r.after, r.length) for r in runs], len(after.body))

    def is_separable(self) -> bool:
        """Whether no other op uses a result of the ones that differ."""
        return all(
            top_of(use.owner.operation) in tops
            for tops in (self.gone, self.made)
            for op in tops
            for result in op.results
            for use in result.uses
        )

    def extract_removed_ops(self) -> _Nests:
        """The ops that the next version has not, in a module of their own."""
        storage, keys = ir.Module.create(ir.Location.unknown()), []

        def argument(value: ir.Value) -> ir.Value:
            keys.append(_key(value, self.before))
            return storage.body.add_argument(value.type, ir.Location.unknown())

        _copy_ops(self.gone, self.body, storage.body, argument)
        return _Nests(storage, keys, [Run(r.after, r.before, r.length) for r in self.runs])

    def renew(self) -> None:
        """Make the function as it is in the next version."""
        if self.gone or self.made:
            _replace(self.body, self.runs, self.made, self.new_body, lambda value: _key(value, self.after))


@dataclass(frozen=True)
class _Nests:
    """Ops in the body of a function of a version, in a module of their own.

    keys: what the arguments of its body stand for. runs: the other ops, from the next version to this one.
    """

    storage: ir.Module
    keys: list[Key]
    runs: list[Run]

    def put_back(self, func: Func) -> None:
        """Make a function of the next version as it is in this one."""
        stored = [op.operation for op in self.storage.body.operations]
        _replace(func.body, self.runs, stored, self.storage.body, lambda v: self.keys[ir.BlockArgument(v).arg_number])


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


def _ops_outside(body: ir.Block, kept: Sequence[tuple[int, int]], total: int) -> list[ir.Operation]:
    """The ops of a body that are not in intervals, which are given as starts and lengths."""
    listed = body.operations
    ends = [(start, start + length) for start, length in kept]
    return [listed[n].operation for start, end in gaps(ends, total) for n in range(start, end)]


def _replace(
    body: ir.Block,
    runs: Sequence[Run],
    ops: Sequence[ir.Operation],
    source: ir.Block,
    key: Callable[[ir.Value], Key],
) -> None:
    """Replace the ops of a body outside runs by copies of those of another, which are in `source`.

    key: of a value there, of what stands for it in the other one.
    """
    listed = body.operations
    gone = _ops_outside(body, [(r.before, r.length) for r in runs], len(listed))
    anchors = [listed[run.before].operation for run in runs]
    copies = iter(_copy_ops(ops, source, body, lambda value: _value(body, key(value), runs)))
    index = 0
    for run, anchor in zip(runs, anchors, strict=True):
        for _ in range(run.after - index):
            next(copies).move_before(anchor)
        index = run.after + run.length
    for op in reversed(gone):
        op.erase()


def _copy_ops(
    ops: Sequence[ir.Operation], source: ir.Block, body: ir.Block, mapped: Callable[[ir.Value], ir.Value]
) -> list[ir.Operation]:
    """Copy ops in `source` to the end of another body, before its terminator.

    mapped: what stands there for a value in `source` that none of them defines.
    """
    copies: list[ir.Operation] = []
    values: dict[ir.Value, ir.Value] = {}

    def connect(op: ir.Operation) -> ir.WalkResult:
        operands = op.operands
        for number, value in enumerate(operands):
            to = values.get(value)
            if to is None:
                to = values[value] = mapped(value) if _owner_block(value) == source else value
            if to is not value:
                operands[number] = to
        return ir.WalkResult.ADVANCE

    listed = body.operations
    count = len(listed)
    point = ir.InsertionPoint(listed[count - 1] if count else body)
    try:
        for op in ops:
            copies.append(op.clone(point).operation)
            values.update(zip(op.results, copies[-1].results, strict=True))
        for copy in copies:
            visit(copy, connect)
    except BaseException:  # an interrupt leaves no uses of the values of another version, nor one before it is listed
        first, last = max(count - 1, 0), len(listed) - (1 if count else 0)
        for copy in reversed(list(listed)[first:last]):
            copy.operation.erase()
        raise
    return copies


def _owner_block(value: ir.Value) -> ir.Block:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _key(value: ir.Value, contents: FunctionContents) -> Key:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _ARGUMENT, ir.BlockArgument(value).arg_number
    op = owner.operation
    nest = contents.signed.get(signature(op))
    position = walk.position(op) if nest is None else contents.body.index(nest)
    return position, ir.OpResult(value).result_number


def _value(body: ir.Block, key: Key, runs: Sequence[Run]) -> ir.Value:
    """The value in a body before a step that stands for one after it."""
    position, number = key
    if position == _ARGUMENT:
        return body.arguments[number]
    run = next(r for r in runs if r.after <= position < r.after + r.length)
    return body.operations[position - run.after + run.before].operation.results[number]


def _attributes(module: ir.Module) -> dict[str, ir.Attribute]:
    facts = module.operation.attributes
    return {name: facts[name] for name in facts}


def _set_attributes(module: ir.Module, wanted: dict[str, ir.Attribute]) -> None:
    facts = module.operation.attributes
    for name in [n for n in facts if n not in wanted]:
        del facts[name]
    for name, value in wanted.items():
        facts[name] = value
