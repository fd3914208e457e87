"""What the functions of a module contain, by the ops in their bodies: ids, names, sizes, buffers.

A verified version of a module has such a table, so that neither steps nor lookups walk all of a large program. A step
carries it over to its result, except for the nests that it edits (see `versions`): a summary stands for one op of a
body in every version in which that op is the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Func, attrs, cache_while_frozen, is_data_loop, is_size, ops, sizes_of
from tir_mlir.dialect.ir.annotation_keys import prefetched_buffers
from tir_mlir.dialect.ir.op_traits import (
    FOLDED,
    MEMREF_OPERAND,
    NO_ACCESS,
    has_no_memref,
)
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    AffineLoopOp,
    AffineParallelOp,
    AllocLikeOp,
    DataLoopOp,
    GetGlobalOp,
    IndexCastSIOp,
    ReadOp,
    YieldOp,
)

if TYPE_CHECKING:
    from tir_mlir.dialect.incremental.versions import SavedNest

_HEAD = NO_ACCESS | FOLDED | IndexCastSIOp.names | GetGlobalOp.names
_FREE = AllocLikeOp.names | FOLDED
"""Ops with results at the top of a function of which only the nests that use them depend."""
_NARROW = AffineAccessOp.names | YieldOp.names
"""Ops that declare no type of an index."""
BLOCK, DECLARED, BUFFER, SIZE = "block", "declared", "buffer", "size"
DATA_LOOP, WIDE, KIND = "data loop", "wide", "kind"
"""The kinds of keys of nests, besides the ids of loops and blocks."""


@dataclass(frozen=True, eq=False)
class NestSummary:
    """What is known of one op in the body of a function.

    labels: by the id of each loop and block in it, whether it is a block, and its name.
    blocks: the names of its blocks, in order, also of those in inits.
    sizes: the shape variables that it defines.
    keys: under which the table of its function has it: ids; with a kind, names of its blocks, of the buffers that its
        declared regions and annotations name, of what it allocates or views; DATA_LOOP if it has a loop over data, WIDE
        if an index or an extent in it may be declared as int64, KIND if a loop has one, SIZE if it defines sizes.
    uses: the buffers from outside that it uses, as numbers of parameters or nests, and whether it may write them. None
        if one is neither.
    is_head: whether allocations may come after it at the start of a body.
    is_free: whether what other nests depend on in it is at most its buffer.
    name: of the op.
    infos: snapshots of the loops and blocks in it, by id, as they are asked for.
    saved: a copy, made before a step edits the op.
    """

    labels: Mapping[int, tuple[bool, str]]
    blocks: Sequence[str]
    sizes: Sequence[str]
    keys: Sequence[Hashable]
    uses: Mapping[int | NestSummary, bool] | None
    is_head: bool
    is_free: bool
    name: str
    infos: dict[int, object] = field(default_factory=dict, repr=False)
    saved: list[SavedNest] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class FunctionContents:
    """The ops in the body of a function, in order, and where to find what they contain.

    number: its id. index: the nests by each of their keys. has_wide_arguments: whether a parameter is of int64.
    """

    number: int
    has_wide_arguments: bool
    body: list[NestSummary] = field(repr=False)
    index: dict[Hashable, tuple[NestSummary, ...]] = field(repr=False)

    @property
    def is_wide(self) -> bool:
        """Whether an index or an extent in the function may be declared as int64."""
        return self.has_wide_arguments or WIDE in self.index

    @property
    def sizes(self) -> set[str]:
        """The shape variables that ops of the body define."""
        return {name for nest in self.index.get(SIZE, ()) for name in nest.sizes}

    @cached_property
    def heads(self) -> int:
        """The number of ops before the first that is not an allocation, view, size or constant."""
        return next((n for n, nest in enumerate(self.body) if not nest.is_head), len(self.body))

    def nests(self, kind: str, name: str) -> tuple[NestSummary, ...]:
        """The nests with a block of a name, or one that declares or is a buffer of a name."""
        return self.index.get((kind, name), ())

    def with_nests(
        self, body: list[NestSummary], gone: Sequence[NestSummary], fresh: Sequence[NestSummary]
    ) -> FunctionContents | None:
        """The contents with another body; None if two ops in it have the same id."""
        index = dict(self.index)
        for nest in gone:
            for key in nest.keys:
                left = tuple(n for n in index[key] if n is not nest)
                if left:
                    index[key] = left
                else:
                    del index[key]
        for nest in fresh:
            for key in nest.keys:
                if key in index and isinstance(key, int):
                    return None
                index[key] = (*index.get(key, ()), nest)
        return FunctionContents(self.number, self.has_wide_arguments, body, index)


def is_head(op: ir.Operation) -> bool:
    """Whether an op is an allocation, view, size or constant."""
    return op.name in _HEAD or is_size(op)


@cache_while_frozen
def used_buffers(top: ir.Operation) -> dict[ir.Value, bool]:
    """The parameters and allocations outside an op that are used in it, and whether they may be written."""
    result: dict[ir.Value, bool] = {}
    roots: dict[ir.Value, ir.Value | None] = {}  # None: not a buffer
    for op in ops(top):
        if has_no_memref(op):
            continue
        name = op.name
        for value in [op.operands[MEMREF_OPERAND[name]]] if name in AffineAccessOp.names else op.operands:
            if value not in roots:
                roots[value] = Buffer(value).root.value if isinstance(value.type, ir.MemRefType) else None
            root = roots[value]
            if root is not None:
                result[root] = result.get(root, False) or name not in ReadOp.names
    return result


def _uses(
    top: ir.Operation, nest_of: Mapping[ir.Operation, NestSummary], fresh: Mapping[ir.Operation, NestSummary]
) -> dict[int | NestSummary, bool] | None:
    result: dict[int | NestSummary, bool] = {}
    for value, written in used_buffers(top).items():
        owner = value.owner
        if isinstance(owner, ir.Block):
            result[ir.BlockArgument(value).arg_number] = written
        elif owner.operation.block == top.block:
            nest = nest_of.get(owner.operation) or fresh.get(owner.operation)
            if nest is None:
                return None
            result[nest] = written
    return result


def _is_wide(facts: ir.OpAttributeMap | Mapping[str, ir.Attribute]) -> bool:
    """Whether an index or the extents of a buffer are of int64; `uint8` declares how values are printed."""
    types = (facts[key] for key in (attrs.DTYPE, attrs.EXTENT_DTYPE) if key in facts)
    return any(ir.StringAttr(type_).value == attrs.WIDE for type_ in types)


def _declared_buffers(facts: ir.OpAttributeMap) -> list[str]:
    """The buffers of the declared regions of a block."""
    entries = [region for key in (attrs.READS, attrs.WRITES) if key in facts for region in ir.ArrayAttr(facts[key])]
    return [ir.StringAttr(ir.DictAttr(region)["buffer"]).value for region in entries]


def read_nest(
    top: ir.Operation, nest_of: Mapping[ir.Operation, NestSummary], fresh: Mapping[ir.Operation, NestSummary]
) -> NestSummary:
    """Look an op in the body of a function over. `nest_of`, `fresh`: the summaries of the ops before it."""
    labels: dict[int, tuple[bool, str]] = {}
    names: list[tuple[str, str]] = []
    marks: set[Hashable] = set()
    for op in ops(top):
        name = op.name
        if name in AffineLoopOp.names:
            _read_loop(op, name in AffineParallelOp.names, labels, names, marks)
        else:
            if name not in _NARROW:
                facts = op.attributes
                if _is_wide(facts):
                    marks.add(WIDE)
                if name.startswith("memref.") and attrs.NAME in facts:
                    names.append((BUFFER, ir.StringAttr(facts[attrs.NAME]).value))
            if name in DataLoopOp.names:
                marks.add(DATA_LOOP)
    sizes = [size for size, _ in sizes_of(top)]
    if sizes:
        marks.add(SIZE)
    blocks = [name for kind, name in names if kind == BLOCK]
    free = top.name in _FREE or not len(top.results)
    keys = (*labels, *dict.fromkeys(names), *marks)
    return NestSummary(labels, blocks, sizes, keys, _uses(top, nest_of, fresh), is_head(top), free, top.name)


def _read_loop(
    op: ir.Operation,
    is_block: bool,
    labels: dict[int, tuple[bool, str]],
    names: list[tuple[str, str]],
    marks: set[Hashable],
) -> None:
    """Add what is known of a loop or block."""
    facts = op.attributes
    name = attrs.BLOCK if is_block else attrs.LOOP
    text = ir.StringAttr(facts[name]).value if name in facts else ""
    if attrs.ID in facts:
        labels[ir.IntegerAttr(facts[attrs.ID]).value] = is_block, text
    if is_block:
        names.append((BLOCK, text))
        names += [(DECLARED, buffer) for buffer in _declared_buffers(facts)]
        if attrs.DTYPES in facts:
            marks.add(WIDE)
    else:
        if attrs.KIND in facts:
            marks.add(KIND)
        if attrs.ANNOTATIONS in facts:
            names += [(DECLARED, buffer) for buffer in prefetched_buffers(attrs.get(op, attrs.ANNOTATIONS))]
        if _is_wide(facts):
            marks.add(WIDE)
        if attrs.BIND in facts and is_data_loop(op):
            marks.add(DATA_LOOP)


def read_function(
    func: Func, tops: Sequence[ir.Operation], nest_of: dict[ir.Operation, NestSummary]
) -> FunctionContents | None:
    """Look a function over; None if two of its loops and blocks have one id. `tops`: the ops of its body, whose
    summaries are added to `nest_of`."""
    body = []
    for op in tops:
        nest_of[op] = nest = read_nest(op, nest_of, {})
        body.append(nest)
    wide = any(_is_wide(facts) for facts in attrs.argument_attrs(func.op))
    return FunctionContents(func.id, wide, [], {}).with_nests(body, [], body)
