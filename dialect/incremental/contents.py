"""What the functions of a module contain, by the ops in their bodies (ids, names, sizes), and what a step changed.

A verified version of a module has such a table. A step carries it over to its result except for what it changed, so
that neither steps nor lookups walk all of a large program. Changed are the nests that a step edits, and those whose
properties depend on them through a buffer. A step works on a clone of a verified module: all else is as it was, so the
rules hold there without looking. What was not edited keeps its order, and none of it is lost. So where two ops are as
far apart as before, all between them is as before: the signatures of a few ops show which runs of ops were left alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from mlir import ir

from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    attrs,
    cache_while_frozen,
    direct_ops,
    funcs,
    is_data_loop,
    is_program,
    is_size,
    ops,
    sizes_of,
    top_of,
    users,
)
from tir_mlir.dialect.ir.annotation_keys import prefetched_buffers
from tir_mlir.dialect.ir.memo import Journal, open_journal
from tir_mlir.dialect.ir.op_traits import (
    AFFINE_ACCESSES,
    AFFINE_LOOPS,
    ALLOCS,
    DATA_LOOPS,
    FOLDED,
    NO_ACCESS,
    READING,
    YIELDS,
    accessed_memref,
    takes_no_memref,
)
from tir_mlir.dialect.ir.op_views import AffineParallelOp, BodyOp, IfOp, MulIOp, ReturnOp, isa

_HEAD = NO_ACCESS | FOLDED | {"arith.index_cast", "memref.get_global"}
ARGUMENT = "argument"
"""With a number, what names a parameter in `Nest.uses`."""
_NARROW = AFFINE_ACCESSES | YIELDS
"""Ops that declare no type of an index."""


@dataclass(frozen=True, eq=False)
class NestSummary:
    """What is known of one op in the body of a function. Shared by all versions in which that op is the same.

    signature: its id, or name of its buffer; None if it has neither.
    ids: of the loops and blocks in it.
    blocks: their names, also of those in inits.
    declared: the buffers that declared regions and annotations name.
    buffers: names of what is allocated or viewed in it.
    sizes: the shape variables that it defines.
    uses: the buffers from outside that are used in it, and whether they may be written: parameters by number, others by
        the signature of their ops; None if one has none.
    is_head: whether allocations may come after it at the start of a body.
    name: of the op.
    has_results: whether it has.
    is_wide: whether an index or an extent in it may be declared as int64.
    infos: snapshots of the loops and blocks in it, by id, as they are asked for.
    """

    signature: Hashable
    ids: frozenset[int]
    blocks: frozenset[str]
    declared: frozenset[str]
    buffers: tuple[str, ...]
    sizes: frozenset[str]
    uses: dict[Hashable, bool] | None
    has_data_loop: bool
    is_head: bool
    name: str
    has_results: bool
    is_wide: bool
    infos: dict[int, Any] = field(default_factory=dict, repr=False)


NestsByName = dict[str, tuple[NestSummary, ...]]


class Run(NamedTuple):
    """Ops in the body of a function that a step left alone: the first position before and after it, and their
    number."""

    before: int
    after: int
    length: int


@dataclass(frozen=True)
class FunctionContents:
    """The ops in the body of a function, in order, and where to find what they contain.

    signed: by signature; None where several ops have the same.
    nests_by_id: by the id of a loop or block.
    blocks: by the name of one.
    declared: by the name of a buffer that one names.
    buffers: how many ops are a buffer of that name.
    """

    number: int
    body: list[NestSummary] = field(repr=False)
    signed: dict[Hashable, NestSummary | None] = field(repr=False)
    nests_by_id: dict[int, NestSummary] = field(repr=False)
    blocks: NestsByName = field(repr=False)
    declared: NestsByName = field(repr=False)
    buffers: dict[str, int] = field(repr=False)
    sizes: frozenset[str]
    data_loops: int
    wide_arguments: bool
    wide_nests: int

    @property
    def is_wide(self) -> bool:
        """Whether an index or an extent in the function may be declared as int64."""
        return self.wide_arguments or self.wide_nests > 0

    @cached_property
    def heads(self) -> int:
        """The number of ops before the first that is not an allocation, view, size or constant."""
        return next((n for n, nest in enumerate(self.body) if not nest.is_head), len(self.body))

    def lookup(self, op: ir.Operation) -> tuple[NestSummary | None, bool]:
        """What is known of an op in the body of the function, if its signature is its own, and whether it is new."""
        mark = signature(op)
        return self.signed.get(mark), mark is not None and mark not in self.signed

    def has_signature(self, position: int) -> bool:
        """Whether the op at a position in the body has a signature that is its own."""
        nest = self.body[position]
        return self.signed.get(nest.signature) is nest

    def unsigned_positions(self) -> list[int]:
        """The positions of the ops without a signature of their own."""
        return [n for n in range(len(self.body)) if not self.has_signature(n)]

    def removed_nests(self, runs: Sequence[Run]) -> list[NestSummary]:
        """The ops outside runs, before the step."""
        spans = [(run.before, run.before + run.length) for run in runs]
        return [nest for start, end in gaps(spans, len(self.body)) for nest in self.body[start:end]]

    def contents_after(self, runs: Sequence[Run], new_nests: Sequence[NestSummary]) -> FunctionContents | None:
        """The contents after a step; `new_nests`: the ops outside runs, in order. None if two ops have the same id or
        buffer name, so that runs may be mistaken."""
        waiting, body = iter(new_nests), []
        for run in runs:
            body += [next(waiting) for _ in range(run.after - len(body))]
            body += self.body[run.before : run.before + run.length]
        body += waiting
        gone = self.removed_nests(runs)
        free = {nest.signature for nest in gone}
        if any(nest.signature in self.signed and nest.signature not in free for nest in new_nests):
            return None
        return self._replace_nests(body, gone, new_nests)

    def _replace_nests(
        self, body: list[NestSummary], gone: Sequence[NestSummary], fresh: Sequence[NestSummary]
    ) -> FunctionContents | None:
        signed, nest_of_id, buffers = dict(self.signed), dict(self.nests_by_id), dict(self.buffers)
        for nest in gone:
            if signed.get(nest.signature) is nest:
                del signed[nest.signature]
            for number in nest.ids:
                del nest_of_id[number]
            for name in nest.buffers:
                buffers[name] -= 1
        for nest in fresh:
            if not nest_of_id.keys().isdisjoint(nest.ids):
                return None
            if nest.signature is not None:
                signed[nest.signature] = None if nest.signature in signed else nest
            nest_of_id.update(dict.fromkeys(nest.ids, nest))
            for name in nest.buffers:
                buffers[name] = buffers.get(name, 0) + 1
        blocks = _update_nests_by_name(self.blocks, [(n, n.blocks) for n in gone], [(n, n.blocks) for n in fresh])
        declared = _update_nests_by_name(
            self.declared, [(n, n.declared) for n in gone], [(n, n.declared) for n in fresh]
        )
        sizes = self.sizes
        if any(n.sizes for n in (*gone, *fresh)):
            sizes = frozenset(s for nest in body for s in nest.sizes)
        loops = self.data_loops + sum(n.has_data_loop for n in fresh) - sum(n.has_data_loop for n in gone)
        wide = self.wide_nests + sum(n.is_wide for n in fresh) - sum(n.is_wide for n in gone)
        named = signed, nest_of_id, blocks, declared, buffers, sizes
        return FunctionContents(self.number, body, *named, loops, self.wide_arguments, wide)


def gaps(spans: Iterable[tuple[int, int]], total: int) -> list[tuple[int, int]]:
    """The intervals of [0, total) between increasing ones."""
    result, position = [], 0
    for start, end in (*spans, (total, total)):
        if position < start:
            result.append((position, start))
        position = end
    return result


def _update_nests_by_name(
    nests: NestsByName,
    gone: Sequence[tuple[NestSummary, frozenset[str]]],
    fresh: Sequence[tuple[NestSummary, frozenset[str]]],
) -> NestsByName:
    """A table of nests by name, with the nests of `gone` removed and those of `fresh` added."""
    result = dict(nests)
    for nest, names in gone:
        for name in names:
            result[name] = tuple(n for n in result[name] if n is not nest)
    for nest, names in fresh:
        for name in names:
            result[name] = (*result.get(name, ()), nest)
    return result


def signature(op: ir.Operation) -> Hashable:
    """What tells an op in the body of a function from the others; None for constants and the like."""
    facts = op.attributes
    if attrs.ID in facts:
        return ir.IntegerAttr(facts[attrs.ID]).value
    if attrs.NAME in facts:
        return ir.StringAttr(facts[attrs.NAME]).value
    if isa(op, IfOp):
        inner = signature(op.regions[0].blocks[0].operations[0].operation)
        return None if inner is None else (op.name, inner)
    return op.name if isa(op, ReturnOp) else None


def is_head(op: ir.Operation) -> bool:
    """Whether an op is an allocation, view, size or constant."""
    name = op.name
    return is_size(op) or name in _HEAD


def _declared_buffers(facts: ir.OpAttributeMap) -> list[str]:
    """The buffers of the declared regions of a block."""
    entries = [region for key in (attrs.READS, attrs.WRITES) if key in facts for region in ir.ArrayAttr(facts[key])]
    return [ir.StringAttr(ir.DictAttr(region)["buffer"]).value for region in entries]


@cache_while_frozen
def used_buffers(top: ir.Operation) -> dict[ir.Value, bool]:
    """The parameters and allocations outside an op that are used in it, and whether they may be written."""
    result: dict[ir.Value, bool] = {}
    for op in ops(top):
        name = op.name
        if takes_no_memref(name):
            continue
        for value in [accessed_memref(op)] if name in AFFINE_ACCESSES else op.operands:
            if isinstance(value.type, ir.MemRefType):
                root = Buffer(value).root.value
                result[root] = result.get(root, False) or name not in READING
    return result


def _uses(top: ir.Operation) -> dict[Hashable, bool] | None:
    """`used_buffers` by what names them in other versions of the module; without those allocated in the op."""
    result: dict[Hashable, bool] = {}
    for value, written in used_buffers(top).items():
        owner = value.owner
        if isinstance(owner, ir.Block):
            result[ARGUMENT, ir.BlockArgument(value).arg_number] = written
        elif owner.operation.block == top.block:
            mark = signature(owner.operation)
            if mark is None:
                return None
            result[mark] = written
    return result


def read_nest(top: ir.Operation) -> NestSummary:
    """Look an op in the body of a function over."""
    ids: list[int] = []
    blocks: list[str] = []
    declared: list[str] = []
    buffers: list[str] = []
    has_data_loop = is_wide = False
    for op in ops(top):
        name = op.name
        if name not in _NARROW and not is_wide:
            facts = op.attributes
            is_wide = attrs.DTYPE in facts or attrs.DTYPES in facts or attrs.EXTENT_DTYPE in facts
        if name in AFFINE_LOOPS:
            facts = op.attributes
            if attrs.ID in facts:
                ids.append(ir.IntegerAttr(facts[attrs.ID]).value)
            if name in AffineParallelOp.names and attrs.BLOCK in facts:
                blocks.append(ir.StringAttr(facts[attrs.BLOCK]).value)
                declared.extend(_declared_buffers(facts))
            elif attrs.ANNOTATIONS in facts:
                declared.extend(prefetched_buffers(attrs.get(op, attrs.ANNOTATIONS)))
            has_data_loop = has_data_loop or (attrs.BIND in facts and is_data_loop(op))
        elif name.startswith("memref.") and attrs.NAME in op.attributes:
            buffers.append(ir.StringAttr(op.attributes[attrs.NAME]).value)
        has_data_loop = has_data_loop or name in DATA_LOOPS
    sizes = frozenset(name for name, _ in sizes_of(top))
    names = signature(top), frozenset(ids), frozenset(blocks), frozenset(declared), tuple(buffers), sizes
    return NestSummary(*names, _uses(top), has_data_loop, is_head(top), top.name, len(top.results) > 0, is_wide)


def read_function(func: Func) -> FunctionContents | None:
    """Look a function over; None if two of its loops and blocks have one id."""
    body = [read_nest(op) for op in direct_ops(func.op)]
    wide = any(attrs.DTYPE in a or attrs.EXTENT_DTYPE in a for a in attrs.argument_attrs(func.op))
    empty = FunctionContents(func.id, [], {}, {}, {}, {}, {}, frozenset(), 0, wide, 0)
    return empty._replace_nests(body, [], body)


class KnownModule(Journal):
    """A module with the contents of its functions, while entered: lookups use them (see `contents_of`)."""

    def __init__(self, module: ir.Module, contents: Sequence[FunctionContents]):
        super().__init__()
        self.module = module
        self.functions = direct_ops(module.operation)
        self.bodies = [op for op in self.functions if is_program(op)]
        self.contents = contents
        self._numbers = {op: number for number, op in enumerate(self.bodies)}

    def function(self, op: ir.Operation) -> int | None:
        """The number of a function among those with a body."""
        return self._numbers.get(op)

    def size_names(self, func: ir.Operation) -> set[str] | None:
        number = self.function(func)
        return None if number is None else {*self.contents[number].sizes, *self.sizes}


class StepJournal(KnownModule):
    """A module that a step edits, and which ops in the bodies of its functions were edited, erased or use an edited
    buffer. `contents`: those before the step.

    edited: them, by function. blind: the functions where such an op has no signature that is its own; then all those
    count. whole: something outside the body of a function was edited, so nothing is known to be unchanged.
    """

    def __init__(self, module: ir.Module, contents: Sequence[FunctionContents]):
        super().__init__(module, contents)
        self.edited: list[set[NestSummary]] = [set() for _ in self.bodies]
        self.blind: set[int] = set()
        self.whole = False

    def add(self, op: ir.Operation) -> None:
        top = top_of(op)
        function = top.parent
        if function is None:
            self.whole |= isa(top, BodyOp)  # else it is in no module yet
            return
        number = self.function(function.operation)
        if number is None:
            return
        nest, is_new = self.contents[number].lookup(top)
        if is_new or nest in self.edited[number]:
            return
        if nest is None:
            self.blind.add(number)
        else:
            self.edited[number].add(nest)
        for result in top.results:
            self.add_users(result)

    def add_users(self, value: ir.Value) -> None:
        for use in value.uses:
            self.add(use.owner.operation)


def contents_of(func: ir.Operation) -> FunctionContents | None:
    """The contents of a function: as they were before the step, while one runs. None if they are not known."""
    current = open_journal()
    if not isinstance(current, KnownModule):
        return None
    number = current.function(func)
    return None if number is None else current.contents[number]


def is_untouched(func: ir.Operation) -> bool:
    """Whether `contents_of` a function are those it has: no step runs that may edit it."""
    current = open_journal()
    return (
        isinstance(current, KnownModule) and not isinstance(current, StepJournal) and current.function(func) is not None
    )


_FREE = ALLOCS | FOLDED
"""Ops with results at the top of a function of which only the nests that use them depend."""
_PRODUCT = "arith.muli"
"""Of sizes, as a new one (`m * n`): nothing refers to its name yet."""


@dataclass(frozen=True)
class ChangedNests:
    """The ops in the bodies of functions that differ from those before a step.

    edited: those that were edited or created.
    affected: these, and those that share a buffer with an edited one, now or before.
    runs: by function, all others.
    contents: of each function after the step.
    """

    edited: list[ir.Operation]
    affected: list[ir.Operation]
    runs: list[list[Run]]
    contents: list[FunctionContents]


def changed_nests(module: ir.Module, touched: StepJournal) -> ChangedNests | None:
    """What a step changed; None if that may be anything: a function, its arguments, shape variables.

    `touched`: made of the clone that the step made `module` of.
    """
    if touched.whole or direct_ops(module.operation) != touched.functions:
        return None
    runs: list[list[Run]] = []
    contents: list[FunctionContents] = []
    edited: list[ir.Operation] = []
    shared: dict[ir.Value, bool] = {}
    for number, (func, old_contents) in enumerate(zip(funcs(module), touched.contents, strict=True)):
        function = _Function(func.body, old_contents)
        if not function.match(touched, number):
            return None
        new_ops = function.created_ops()
        fresh, gone = [read_nest(op) for op in new_ops], old_contents.removed_nests(function.runs)
        new_contents = old_contents.contents_after(function.runs, fresh)
        if new_contents is None or not all(_is_free(nest) for nest in gone):
            return None
        if not all(_is_free(nest) or nest.name in MulIOp.names for nest in fresh):
            return None
        if not function.add_buffers(new_ops, gone, new_contents, shared):
            return None
        runs.append(function.runs)
        contents.append(new_contents)
        edited += new_ops
    return ChangedNests(edited, _with_users(edited, shared), runs, contents)


def _is_free(nest: NestSummary) -> bool:
    """Whether what other nests depend on in an op is at most its buffer."""
    return not nest.has_results or nest.name in _FREE


class _Function:
    """The body of a function after a step, and its contents before."""

    def __init__(self, body: ir.Block, contents: FunctionContents):
        self.body, self.contents = body, contents
        self.runs: list[Run] = []

    def match(self, touched: StepJournal, number: int) -> bool:
        """Find what the step left alone. False if that is not clear."""
        contents = self.contents
        untouched = not touched.edited[number] and number not in touched.blind
        if untouched and len(self.body.operations) == len(contents.body):
            self.runs = [Run(0, 0, len(contents.body))]
            return True
        positions = {contents.body.index(nest) for nest in touched.edited[number]}
        if number in touched.blind:
            positions.update(contents.unsigned_positions())
        runs = kept_runs(contents, sorted(positions), self.body)
        self.runs = runs or []
        return runs is not None

    def created_ops(self) -> list[ir.Operation]:
        """The ops outside runs, after the step."""
        listed = self.body.operations
        spans = [(r.after, r.after + r.length) for r in self.runs]
        return [listed[n].operation for start, end in gaps(spans, len(listed)) for n in range(start, end)]

    def add_buffers(
        self,
        new_ops: Sequence[ir.Operation],
        gone: Sequence[NestSummary],
        new_contents: FunctionContents,
        shared: dict[ir.Value, bool],
    ) -> bool:
        """Collect the buffers that changed ops use, now or before, and whether they may be written. False if the name
        of one is not its own."""
        by_mark: dict[Hashable, bool] = {}
        for nest in gone:
            if nest.uses is None:
                return False
            for mark, written in nest.uses.items():
                by_mark[mark] = by_mark.get(mark, False) or written
        values = [item for op in new_ops for item in used_buffers(op).items()]
        for mark, written in by_mark.items():
            if isinstance(mark, tuple) and mark[0] == ARGUMENT:
                values.append((self.body.arguments[int(mark[1])], written))
                continue
            former = self.contents.signed.get(mark)
            if former is None:
                return False
            if new_contents.signed.get(mark) is former:  # else it was edited or erased
                values.append((self.body.operations[new_contents.body.index(former)].operation.results[0], written))
        for value, written in values:
            shared[value] = shared.get(value, False) or written
        return True


def _with_users(edited: Sequence[ir.Operation], shared: dict[ir.Value, bool]) -> list[ir.Operation]:
    """Nests, and those that use one of the buffers. A parameter that none of the edited ones writes does not count."""
    nests = dict.fromkeys(edited)
    for buffer, written in shared.items():
        if written or not isinstance(buffer.owner, ir.Block):
            nests.update(dict.fromkeys(users(buffer)))
    return list(nests)


def kept_runs(contents: FunctionContents, edited: Sequence[int], body: ir.Block) -> list[Run] | None:
    """The ops that are as before in a body after a step; None if that is not clear.

    `edited`: the positions before the step of the ops that were edited, moved or erased, in order. An op without a
    signature between two others that were moved apart may be left out.
    """
    matcher = _Matcher(contents, body)
    segments = gaps([(n, n + 1) for n in edited], len(contents.body))
    return matcher.runs if all(matcher.match(start, end) for start, end in segments) else None


class _Matcher:
    """Matches the body of a function after a step with that before, by the signatures of a few ops."""

    def __init__(self, contents: FunctionContents, body: ir.Block):
        self.contents = contents
        self.listed = body.operations
        self.total = len(self.listed)
        self.at = 0  # the first position after all runs
        self.runs: list[Run] = []

    def match(self, start: int, end: int) -> bool:
        """Find the ops at some positions before the step; they are in order, but others may be between them."""
        while start < end:
            anchor = next((n for n in range(start, end) if self.contents.has_signature(n)), None)
            if anchor is None:
                return True
            position = self._find(anchor, self.at + anchor - start)
            if position is None:
                return False
            if position - self.at == anchor - start:
                anchor, position = start, self.at  # as many as were there, so none is between them
            last = self._find_last_shifted(anchor, end, position - anchor)
            self.runs.append(Run(anchor, position, last + 1 - anchor))
            start, self.at = last + 1, last + 1 - anchor + position
        return True

    def _find(self, old: int, guess: int) -> int | None:
        """The position of an op now, behind all runs."""
        if self._is_at(old, guess):
            return guess
        return next((n for n in range(self.at, self.total) if self._is_at(old, n)), None)

    def _is_at(self, old: int, position: int) -> bool:
        old_signature = self.contents.body[old].signature
        return position < self.total and signature(self.listed[position].operation) == old_signature

    def _find_last_shifted(self, first: int, end: int, shift: int) -> int:
        """The last op before `end` that, like all from `first` on, moved by `shift`."""
        low, high, probe = first, end, end - 1
        while (position := self._nearest_signed_position(low, probe, high)) is not None:
            if self._is_at(position, position + shift):
                low = position
            else:
                high = position
            probe = (low + high) // 2
        return low

    def _nearest_signed_position(self, low: int, probe: int, high: int) -> int | None:
        """A position between `low` and `high` whose op has a signature, as near to `probe` as is found soon."""
        positions = chain(range(probe, low, -1), range(max(probe, low) + 1, high))
        return next((n for n in positions if self.contents.has_signature(n)), None)
