"""What the functions of a module contain, by the ops in their bodies: ids, names, sizes.

A verified version of a module has such a table. A step carries it over to its result except for what it changed, so
that neither steps nor lookups walk all of a large program.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from mlir import ir

from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    attrs,
    direct_ops,
    is_data_loop,
    is_size,
    ops,
    remembered,
    sizes_of,
)
from tir_mlir.dialect.ir.annotation_keys import prefetched
from tir_mlir.dialect.ir.op_traits import (
    AFFINE_ACCESSES,
    AFFINE_LOOPS,
    FOLDED,
    IFS,
    NO_ACCESS,
    READING,
    accessed,
    takes_no_memref,
)

_HEAD = NO_ACCESS | FOLDED | {"arith.index_cast", "memref.get_global"}
ARGUMENT = "argument"
"""With a number, what names a parameter in `Nest.uses`."""
_ONCE = ("func.return",)


@dataclass(frozen=True, eq=False)
class Nest:
    """What is known of one op in the body of a function. Shared by all versions in which that op is the same.

    signature: its id, or name of its buffer; None if it has neither. ids: of the loops and blocks in it. blocks: their
    names, also of those in inits. declared: the buffers that declared regions and annotations name. buffers: names of
    what is allocated or viewed in it. sizes: the shape variables that it defines. uses: the buffers from outside that
    are used in it, and whether they may be written: parameters by number, others by the signature of their ops; None if
    one has none. is_head: whether allocations may come after it at the start of a body. name: of the op. has_results:
    whether it has.
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


NestsByName = dict[str, tuple[Nest, ...]]


class Run(NamedTuple):
    """Ops in the body of a function that a step left alone: the first place before and after it, and their number."""

    before: int
    after: int
    length: int


@dataclass(frozen=True)
class FunctionContents:
    """The ops in the body of a function, in order, and where to find what they contain.

    signed: by signature; None where several ops have the same. homes: by the id of a loop or block. blocks: by the name
    of one. declared: by the name of a buffer that one names. buffers: how many ops are a buffer of that name.
    """

    number: int
    body: list[Nest] = field(repr=False)
    signed: dict[Hashable, Nest | None] = field(repr=False)
    homes: dict[int, Nest] = field(repr=False)
    blocks: NestsByName = field(repr=False)
    declared: NestsByName = field(repr=False)
    buffers: dict[str, int] = field(repr=False)
    sizes: frozenset[str]
    data_loops: int

    @cached_property
    def heads(self) -> int:
        """The number of ops before the first that is no allocation, view, size or constant."""
        return next((n for n, nest in enumerate(self.body) if not nest.is_head), len(self.body))

    def lookup(self, op: ir.Operation) -> tuple[Nest | None, bool]:
        """What is known of an op in the body of the function, if its signature is its own, and whether it is new."""
        mark = signature(op)
        return self.signed.get(mark), mark is not None and mark not in self.signed

    def has_signature(self, position: int) -> bool:
        """Whether the op at a place in the body has a signature that is its own."""
        nest = self.body[position]
        return self.signed.get(nest.signature) is nest

    def blind_places(self) -> list[int]:
        """The places of the ops without a signature of their own."""
        return [n for n in range(len(self.body)) if not self.has_signature(n)]

    def gone(self, runs: Sequence[Run]) -> list[Nest]:
        """The ops outside runs, before the step."""
        spans = [(run.before, run.before + run.length) for run in runs]
        return [nest for start, end in gaps(spans, len(self.body)) for nest in self.body[start:end]]

    def after(self, runs: Sequence[Run], new_nests: Sequence[Nest]) -> FunctionContents | None:
        """The contents after a step; `new_nests`: the ops outside runs, in order. None if two ops have the same id or
        buffer name, so that runs may be mistaken."""
        waiting, body = iter(new_nests), []
        for run in runs:
            body += [next(waiting) for _ in range(run.after - len(body))]
            body += self.body[run.before : run.before + run.length]
        body += waiting
        gone = self.gone(runs)
        free = {nest.signature for nest in gone}
        if any(nest.signature in self.signed and nest.signature not in free for nest in new_nests):
            return None
        return self._changed(body, gone, new_nests)

    def _changed(self, body: list[Nest], gone: Sequence[Nest], fresh: Sequence[Nest]) -> FunctionContents | None:
        signed, homes, buffers = dict(self.signed), dict(self.homes), dict(self.buffers)
        for nest in gone:
            if signed.get(nest.signature) is nest:
                del signed[nest.signature]
            for number in nest.ids:
                del homes[number]
            for name in nest.buffers:
                buffers[name] -= 1
        for nest in fresh:
            if not homes.keys().isdisjoint(nest.ids):
                return None
            if nest.signature is not None:
                signed[nest.signature] = None if nest.signature in signed else nest
            homes.update(dict.fromkeys(nest.ids, nest))
            for name in nest.buffers:
                buffers[name] = buffers.get(name, 0) + 1
        blocks = _updated(self.blocks, [(n, n.blocks) for n in gone], [(n, n.blocks) for n in fresh])
        declared = _updated(self.declared, [(n, n.declared) for n in gone], [(n, n.declared) for n in fresh])
        sizes = self.sizes
        if any(n.sizes for n in (*gone, *fresh)):
            sizes = frozenset(s for nest in body for s in nest.sizes)
        loops = self.data_loops + sum(n.has_data_loop for n in fresh) - sum(n.has_data_loop for n in gone)
        return FunctionContents(self.number, body, signed, homes, blocks, declared, buffers, sizes, loops)


def gaps(spans: Iterable[tuple[int, int]], total: int) -> list[tuple[int, int]]:
    """The intervals of [0, total) between increasing ones."""
    result, position = [], 0
    for start, end in (*spans, (total, total)):
        if position < start:
            result.append((position, start))
        position = end
    return result


def _updated(
    nests: NestsByName,
    gone: Sequence[tuple[Nest, frozenset[str]]],
    fresh: Sequence[tuple[Nest, frozenset[str]]],
) -> NestsByName:
    """Nests by name, without some and with others."""
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
    if op.name in IFS:
        inner = signature(op.regions[0].blocks[0].operations[0].operation)
        return None if inner is None else (op.name, inner)
    return op.name if op.name in _ONCE else None


def is_head(op: ir.Operation) -> bool:
    """Whether an op is an allocation, view, size or constant."""
    name = op.name
    return is_size(op) or name in _HEAD


def _declared(facts: ir.OpAttributeMap) -> list[str]:
    """The buffers of the declared regions of a block."""
    entries = [region for key in (attrs.READS, attrs.WRITES) if key in facts for region in ir.ArrayAttr(facts[key])]
    return [ir.StringAttr(ir.DictAttr(region)["buffer"]).value for region in entries]


@remembered
def used_buffers(top: ir.Operation) -> dict[ir.Value, bool]:
    """The parameters and allocations outside an op that are used in it, and whether they may be written."""
    result: dict[ir.Value, bool] = {}
    for op in ops(top):
        name = op.name
        if takes_no_memref(name):
            continue
        for value in [accessed(op)] if name in AFFINE_ACCESSES else op.operands:
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


def read_nest(top: ir.Operation) -> Nest:
    """Look an op in the body of a function over."""
    ids: list[int] = []
    blocks: list[str] = []
    declared: list[str] = []
    buffers: list[str] = []
    has_data_loop = False
    for op in ops(top):
        name = op.name
        if name in AFFINE_LOOPS:
            facts = op.attributes
            if attrs.ID in facts:
                ids.append(ir.IntegerAttr(facts[attrs.ID]).value)
            if name == "affine.parallel" and attrs.BLOCK in facts:
                blocks.append(ir.StringAttr(facts[attrs.BLOCK]).value)
                declared.extend(_declared(facts))
            elif attrs.ANNOTATIONS in facts:
                declared.extend(prefetched(attrs.get(op, attrs.ANNOTATIONS)))
        elif name.startswith("memref.") and attrs.NAME in op.attributes:
            buffers.append(ir.StringAttr(op.attributes[attrs.NAME]).value)
        has_data_loop = has_data_loop or is_data_loop(op)
    sizes = frozenset(name for name, _ in sizes_of(top))
    names = signature(top), frozenset(ids), frozenset(blocks), frozenset(declared), tuple(buffers), sizes
    return Nest(*names, _uses(top), has_data_loop, is_head(top), top.name, len(top.results) > 0)


def read_function(func: Func) -> FunctionContents | None:
    """Look a function over; None if two of its loops and blocks have one id."""
    body = [read_nest(op) for op in direct_ops(func.op)]
    empty = FunctionContents(func.id, [], {}, {}, {}, {}, {}, frozenset(), 0)
    return empty._changed(body, [], body)
