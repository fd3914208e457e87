"""Versions of a program, and the journal of a step, from which those that it leaves behind are made again.

A step edits the module of a version in place. Before it edits a nest (an op in the body of a function) for the first
time, a copy of that is saved, so the nests of a version are where they were or saved:

    version 7: nests a b c   --a step edits b-->   version 8: nests a B c, with the module;   saved: b

Version 7 is made again when somebody asks for its module: of a copy of that of version 8, with b for B. That is what
undo, the history, and a step that is refused after its first edit do. What changed, and so is verified, are the nests
that were saved or created. If others have the module, the step edits a copy.

The code that edits tells of each edit by the functions of `dialect/ir/memo.py`; an edit that is not reported goes
unverified, and remains in the version before. `tools/fuzzing/untouched.py` looks for those.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir import ir
from mlir.dialects import builtin

from tir_mlir.dialect.incremental.nests import FunctionContents, NestSummary, read_function, read_nest
from tir_mlir.dialect.ir import (
    QueryCache,
    attrs,
    clone_module,
    direct_ops,
    enter_context,
    fresh_query_cache,
    funcs,
    is_declaration,
    is_program,
    ops,
    top_of,
    users,
    walk,
)
from tir_mlir.dialect.ir.memo import Journal, active_cache, open_journal
from tir_mlir.dialect.ir.op_views import AffineLoopOp, FuncOp, MulIOp

_HANDLED = AffineLoopOp.names | FuncOp.names
Key = tuple[NestSummary | None, int]
"""A value in the body of a function: a nest and the number of its result, or None and that of a parameter."""


class LiveModule:
    """A module, and its ops by summary. `lock`: held while a step edits it, or it is copied.

    functions: all ops in it. bodies: of its programs. tops: the ops in each body, in order, before the step that runs.
    nest_of: the summaries of those that it has not edited.
    """

    def __init__(self, module: ir.Module, tops: list[list[ir.Operation]] | None = None):
        self.module, self.lock = module, threading.RLock()
        self._list(tops)

    def _list(self, tops: list[list[ir.Operation]] | None = None) -> None:
        """List the functions, and the ops in their bodies, of which nothing is known yet."""
        self.functions = direct_ops(self.module.operation)
        self.programs = [op for op in self.functions if is_program(op)]
        self.bodies = [op.regions[0].blocks[0] for op in self.programs]
        self.tops = [_ops_of(body) for body in self.bodies] if tops is None else tops
        self.nest_of: dict[ir.Operation, NestSummary] = {}

    def read(self) -> list[FunctionContents] | None:
        """Look all over, as a step may have declared a function; None if two loops or blocks have the same id."""
        self._list()
        pairs = zip(funcs(self.module), self.tops, strict=True)
        contents = [c for func, tops in pairs if (c := read_function(func, tops, self.nest_of)) is not None]
        numbers = [n for c in contents for n in (c.number, *(key for key in c.index if isinstance(key, int)))]
        return contents if len(contents) == len(self.tops) and len(set(numbers)) == len(numbers) else None

    def has_its_functions(self) -> bool:
        """Whether no function was added, not even a declaration."""
        return direct_ops(self.module.operation) == self.functions

    def know(self, contents: Sequence[FunctionContents]) -> None:
        """Take over what is known of the ops, in order."""
        for tops, function in zip(self.tops, contents, strict=True):
            self.nest_of.update(zip(tops, function.body, strict=True))


def _ops_of(body: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in body.operations]


class Version:
    """A version of a program. `contents`: of its functions, if it was verified. lost: the ids that the step to it
    consumed; None if unknown.

    shared: several schedules have the version, or a user its module (an op does not keep its module alive, so
    references do not tell): no step edits that.
    """

    def __init__(self, module: ir.Module, is_verified: bool = False):
        self.shared = False
        self.lost: frozenset[int] | None = None
        self._live: LiveModule | None = LiveModule(module)
        self._later: Version | None = None  # the one that has the module, if this one has none
        self._attributes: dict[str, ir.Attribute] = {}  # of the module, then
        self._functions: frozenset[str] = frozenset()  # their names, then
        self.cache: QueryCache | None = None
        self.contents = self._live.read() if is_verified else None

    @property
    def is_moved(self) -> bool:
        """Whether a later version has the module."""
        return self._live is None

    @property
    def live(self) -> LiveModule:
        live = self._live  # once: another thread may begin a step
        return self._restore() if live is None else live

    @property
    def module(self) -> ir.Module:
        return self.live.module

    def share_module(self) -> ir.Module:
        """The module, for a user to keep."""
        self.shared, self.cache = True, None
        return self.module

    def __reduce__(self) -> tuple[Callable[[str], Version], tuple[str]]:
        with enter_context():
            return _parse_version, (str(self.module.operation.get_asm(enable_debug_info=True)),)

    def query_cache(self) -> QueryCache:
        """The cache of queries about the module; a new one if others may edit it, or ask as well."""
        if self.shared:
            return QueryCache()
        if self.cache is None:
            self.cache = QueryCache()
        return self.cache

    # --- what is in it ------------------------------------------------------------------------------------------------

    def nest(self, number: int) -> NestSummary | None:
        """The nest with the loop or block of an id, as far as it is known."""
        for function in self.contents or ():
            if number in function.index:
                return function.index[number][0]
        return None

    def __contains__(self, number: int) -> bool:
        """Whether it has a loop, block or function of an id."""
        if self.contents is None:
            return walk.find(self.module, number) is not None
        return any(number in c.index or number == c.number for c in self.contents)

    def find(self, number: int) -> ir.Operation | None:
        """The op whose id is `number`; while a step runs, of one that it has not edited yet."""
        if self.contents is None:
            return walk.find(self.module, number)
        for position, function in enumerate(self.contents):
            if number in function.index:
                return walk.find(self.live.tops[position][function.body.index(function.index[number][0])], number)
            if number == function.number:
                return self.live.programs[position]
        return None

    def ids(self) -> frozenset[int]:
        """The ids of all ops that can have a handle."""
        if self.contents is None:
            return _ids_in(self.module.operation)
        return frozenset(n for c in self.contents for n in (c.number, *c.index) if isinstance(n, int))

    # --- steps --------------------------------------------------------------------------------------------------------

    def begin(self) -> Version:
        """The version that a step makes of this one, with its module; with a copy, if others have that."""
        later = object.__new__(Version)
        later.__dict__ |= {
            "shared": False,
            "lost": None,
            "_later": None,
            "cache": None,
            "_attributes": {},
            "_functions": frozenset(),
        }
        later.contents, live = self.contents, self.live
        self.cache = None  # it has ops of the module
        if self.contents is None or self.shared or active_cache() is not None or sys.getrefcount(live.module) > 2:
            later._live = LiveModule(clone_module(live.module))
            if self.contents is not None:
                later._live.know(self.contents)
        else:
            self._attributes, self._functions = _attributes(live.module), frozenset(map(_name, live.functions))
            later._live, self._later, self._live = live, later, None
        return later

    def record(self, before: Version, changed: ChangedNests | None) -> None:
        """Know what is in a version that was verified after a step. changed: what the step changed, if known."""
        live = self.live
        if changed is None:
            before.keep()
            self.contents = live.read()
        else:
            self.contents, live.tops, self.lost = changed.contents, changed.tops, changed.lost
            live.functions = changed.functions
            live.nest_of.update(changed.nests)

    def take_back(self, later: Version) -> None:
        """Have the module again after a step that ended without an edit; after another one, it is made again."""
        live = later._live
        if later.contents is not self.contents:  # recorded: its nests are all known, but not those of this version
            return
        if self._later is later and live is not None and self.contents is not None and live.has_its_functions():
            bodies = zip(live.bodies, self.contents, strict=True)
            if len(live.nest_of) == sum(len(c.body) for c in self.contents) and all(
                len(body.operations) == len(contents.body) for body, contents in bodies
            ):
                _set_attributes(live.module, self._attributes)
                self._live, self._later = live, None

    def remake_from(self, later: LiveModule) -> LiveModule:
        """The module, made again of a later one. self.contents are known."""
        assert self.contents is not None
        live = copy_with(later, self.contents, self._functions)
        _set_attributes(live.module, self._attributes)
        return live

    def keep(self) -> None:
        """Make the module again, before a step edits more than nests."""
        if self._live is None:
            self._restore()

    def _restore(self) -> LiveModule:
        later = self._later
        while later is not None and later._live is None:
            later = later._later
        assert later is not None and later._live is not None and self.contents is not None
        with later._live.lock, enter_context(), fresh_query_cache():
            live = self.remake_from(later._live)
        self._live, self._later = live, None
        return live


def _parse_version(text: str) -> Version:
    """Unpickle a version."""
    with enter_context():
        return Version(ir.Module.parse(text))


def _ids_in(root: ir.Operation) -> frozenset[int]:
    """The ids of the loops, blocks and functions in an op."""
    facts = [op.attributes for op in ops(root) if op.name in _HANDLED]
    return frozenset(ir.IntegerAttr(f[attrs.ID]).value for f in facts if attrs.ID in f)


def _name(op: ir.Operation) -> str:
    """The name of an op of a module."""
    return attrs.get(op, "sym_name", "")


def _attributes(module: ir.Module) -> dict[str, ir.Attribute]:
    facts = module.operation.attributes
    return {name: facts[name] for name in facts}


def _set_attributes(module: ir.Module, wanted: dict[str, ir.Attribute]) -> None:
    facts = module.operation.attributes
    for name in [n for n in facts if n not in wanted]:
        del facts[name]
    for name, value in wanted.items():
        facts[name] = value


# --- saved nests ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedNest:
    """A copy of an op in the body of a function. `module`: that it is in, alone; keys: what the arguments of its body
    stand for."""

    module: ir.Module
    keys: list[Key]

    @staticmethod
    def copy_of(top: ir.Operation, nest: Callable[[ir.Operation], NestSummary]) -> SavedNest:
        """A copy of an op. nest: the summaries of those whose results it uses."""
        module, keys, source = ir.Module.create(top.location), list[Key](), top.block

        def argument(value: ir.Value) -> ir.Value:
            owner = value.owner
            if isinstance(owner, ir.Block):
                keys.append((None, ir.BlockArgument(value).arg_number))
            else:
                keys.append((nest(owner.operation), ir.OpResult(value).result_number))
            return module.body.add_argument(value.type, top.location)

        _copy_op(top, source, ir.InsertionPoint(module.body), argument)
        return SavedNest(module, keys)

    def copy_to(self, body: ir.Block, copies: Mapping[NestSummary, ir.Operation]) -> ir.Operation:
        """The op, at the start of a body, with the results of `copies`."""

        def value(argument: ir.Value) -> ir.Value:
            nest, number = self.keys[ir.BlockArgument(argument).arg_number]
            return body.arguments[number] if nest is None else copies[nest].results[number]

        source = self.module.body
        return _copy_op(source.operations[0].operation, source, ir.InsertionPoint.at_block_begin(body), value)


def _copy_op(
    op: ir.Operation, source: ir.Block, ip: ir.InsertionPoint, mapped: Callable[[ir.Value], ir.Value]
) -> ir.Operation:
    """A copy of an op of `source`. `mapped`: what stands there for a value that is defined there."""
    copy = op.clone(ip).operation
    values: dict[ir.Value, ir.Value] = {}

    try:
        for inner in ops(copy):
            operands = inner.operands
            for number, value in enumerate(operands):
                to = values.get(value)
                if to is None:
                    owner = value.owner
                    block = owner if isinstance(owner, ir.Block) else owner.operation.block
                    to = values[value] = mapped(value) if block == source else value
                if to is not value:
                    operands[number] = to
    except BaseException:  # an interrupt leaves no uses of the values of another module
        copy.erase()
        raise
    return copy


def copy_with(live: LiveModule, contents: Sequence[FunctionContents], functions: Collection[str]) -> LiveModule:
    """A copy of a module with other nests: its own ones, or saved ones. functions: the names of those that it has."""
    module, tops = clone_module(live.module), []
    for op in direct_ops(module.operation):
        if _name(op) not in functions:
            op.erase()
    for number, (func, function) in enumerate(zip(funcs(module), contents, strict=True)):
        body = func.body
        pairs = zip(_ops_of(live.bodies[number]), _ops_of(body), strict=True)
        found = {live.nest_of.get(old): new for old, new in pairs}
        copies: dict[NestSummary, ir.Operation] = {}
        for nest in function.body:
            copies[nest] = found.pop(nest, None) or nest.saved[0].copy_to(body, copies)
        tops.append(list(copies.values()))
        for op in tops[-1]:
            body.append(op)
        _erase_together(_ops_of(body)[: -len(tops[-1])], module)
    result = LiveModule(module, tops)
    result.know(contents)
    return result


def _erase_together(erased: Iterable[ir.Operation], module: ir.Module) -> None:
    """Erase ops that use each other's values, in any order. Until then they stay in their module: if an interrupt let
    that go before them, MLIR would abort, as they use its values."""
    grave = builtin.ModuleOp(loc=ir.Location.unknown(), ip=ir.InsertionPoint(module.body))
    for op in erased:
        grave.body.append(op)
    grave.operation.erase()


# --- the journal ------------------------------------------------------------------------------------------------------


class StepJournal(Journal):
    """The edits of a step on a version `before`, in the module of `later`; with `later` alone, of one that only reads.

    touched: the ops that were edited, by the version before.
    whole: something outside the body of a function was edited, so nothing is known to be unchanged.
    declares: functions without a body were added to the module.
    """

    def __init__(self, later: Version, before: Version | None = None):
        super().__init__()
        self.later, self.before, self.live = later, before, later.live
        self.contents = later.contents or []
        self.touched: dict[ir.Operation, NestSummary] = {}
        self.whole = self.declares = False

    def function(self, op: ir.Operation) -> FunctionContents | None:
        """The contents of a function, before the step."""
        programs = self.live.programs
        return self.contents[programs.index(op)] if self.contents and op in programs else None

    def size_names(self, func: ir.Operation) -> set[str] | None:
        contents = self.function(func)
        return None if contents is None else contents.sizes | self.sizes

    def nest(self, top: ir.Operation) -> NestSummary:
        """The summary, before the step, of an op in the body of a function."""
        return self.live.nest_of.get(top) or self.touched[top]

    def add(self, op: ir.Operation) -> None:
        if self.before is None or not self.contents or self.whole:
            return
        top = top_of(op)
        nest = self.live.nest_of.get(top)
        if nest is not None:
            if not nest.saved:
                nest.saved.append(SavedNest.copy_of(top, self.nest))
            self.touched[top] = nest
            for result in top.results:
                self.add_users(result)
            del self.live.nest_of[top]  # after its users: an interrupt leaves none that uses what is made again
        elif top.parent is None and top == self.live.module.operation:
            self.before.keep()
            self.whole = True

    def add_users(self, value: ir.Value) -> None:
        for use in value.uses:
            self.add(use.owner.operation)

    def add_declaration(self) -> None:
        self.declares = True


def step_journal() -> StepJournal | None:
    """The journal of the step, or the lookup, that runs, if it knows the contents of the module."""
    journal = open_journal()
    return journal if isinstance(journal, StepJournal) else None


def contents_of(func: ir.Operation, edited: bool = True) -> FunctionContents | None:
    """The contents of a function: as they were before the step, while one runs. None if they are not known, or, unless
    `edited`, if a step may have edited it."""
    journal = step_journal()
    return None if journal is None or not (edited or journal.before is None) else journal.function(func)


@dataclass
class ChangedNests:
    """What differs in the bodies of functions from before a step.

    nests: the summaries of the ops that were edited or created.
    affected: these ops, and those that share a buffer with an edited one, now or before.
    contents, tops: what each function contains, and the ops of its body, in order, after the step.
    lost: the ids that are gone.
    functions: all ops of the module; declares: some of them are new, and have no body.
    """

    nests: dict[ir.Operation, NestSummary] = field(default_factory=dict)
    affected: list[ir.Operation] = field(default_factory=list)
    contents: list[FunctionContents] = field(default_factory=list)
    tops: list[list[ir.Operation]] = field(default_factory=list)
    lost: frozenset[int] = frozenset()
    functions: list[ir.Operation] = field(default_factory=list)
    declares: bool = False


def changed_nests(journal: StepJournal) -> ChangedNests | None:
    """What a step changed; None if that may be anything: a function, its arguments, shape variables."""
    live = journal.live
    changed = ChangedNests(functions=direct_ops(live.module.operation), declares=journal.declares)
    if journal.whole or not journal.contents or _changes_functions(changed, live.functions):
        return None
    shared: dict[ir.Value, bool] = {}
    for number, old in enumerate(journal.contents):
        gone = [nest for nest in journal.touched.values() if nest in old.body]
        body, tops, function = live.bodies[number], live.tops[number], old
        if gone or len(body.operations) != len(tops):
            tops, nests, made = tops_after(tops, old.body, gone, body)
            for position in made:
                nests[position] = changed.nests[tops[position]] = read_nest(tops[position], live.nest_of, changed.nests)
            fresh = [nests[position] for position in made]
            function = old.with_nests(nests, gone, fresh)
            if function is None or not _are_free(gone, fresh):
                return None
            if not _add_buffers(shared, [*gone, *fresh], tops, nests, body):
                return None
        changed.contents.append(function)
        changed.tops.append(tops)
    affected = dict.fromkeys(changed.nests)
    for buffer, written in shared.items():
        if written or not isinstance(buffer.owner, ir.Block):  # a parameter that none of them writes is as before
            affected |= dict.fromkeys(users(buffer))
    changed.affected = list(affected)
    old_ids = [n for nest in journal.touched.values() for n in nest.labels]
    changed.lost = frozenset(n for n in old_ids if not any(n in c.index for c in changed.contents))
    return changed


def _changes_functions(changed: ChangedNests, functions: Sequence[ir.Operation]) -> bool:
    """Whether a step changed the list of functions by more than its declarations."""
    if not changed.declares:
        return changed.functions != functions
    kept = [op for op in changed.functions if op in functions]
    return kept != functions or not all(op in functions or is_declaration(op) for op in changed.functions)


def tops_after(
    tops: Sequence[ir.Operation], nests: Sequence[NestSummary], gone: Sequence[NestSummary], body: ir.Block
) -> tuple[list[ir.Operation], list[Any], list[int]]:
    """The ops of a body after a step, their summaries, and the positions of those that have none: they are new.

    What was not edited keeps its order, and none of it is lost. So where two ops are as far apart as before, all
    between them is as before.
    """
    listed, total = body.operations, len(body.operations)
    new_tops: list[ir.Operation] = []
    new_nests: list[Any] = []
    made: list[int] = []

    def add_made(end: int) -> None:
        made.extend(range(len(new_tops), end))
        new_nests.extend([None] * (end - len(new_tops)))
        new_tops.extend(listed[n].operation for n in range(len(new_tops), end))

    start = 0
    for end in (*sorted(nests.index(nest) for nest in gone), len(tops)):
        while start < end:
            add_made(next(n for n in range(len(new_tops), total) if listed[n] == tops[start]))
            shift = len(new_tops) - start
            moved = bisect_left(
                range(start, end), True, key=lambda n: n + shift >= total or listed[n + shift] != tops[n]
            )
            new_tops += tops[start : start + moved]
            new_nests += nests[start : start + moved]
            start += moved
        start = end + 1
    add_made(total)
    return new_tops, new_nests, made


def _are_free(gone: Iterable[NestSummary], fresh: Iterable[NestSummary]) -> bool:
    """Whether what other nests depend on in nests is at most their buffers. A new size may be a product of others
    (`m * n`): nothing refers to its name yet."""
    return all(n.is_free for n in gone) and all(n.is_free or n.name in MulIOp.names for n in fresh)


def _add_buffers(
    shared: dict[ir.Value, bool],
    changed: Iterable[NestSummary],
    tops: list[ir.Operation],
    nests: list[NestSummary],
    body: ir.Block,
) -> bool:
    """Collect the buffers that nests use, now or before, and whether they may be written. False if one is unknown."""
    for nest in changed:
        if nest.uses is None:
            return False
        for used, written in nest.uses.items():
            if isinstance(used, int):
                value = body.arguments[used]
            elif used in nests:  # else it was edited or erased
                value = tops[nests.index(used)].results[0]
            else:
                continue
            shared[value] = shared.get(value, False) or written
    return True
