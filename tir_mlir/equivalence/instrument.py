"""Instrumentation of checked programs: bounds checks, poison in allocations, recording of writers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Func, Loop, freeze_modules, is_loop, walk
from tir_mlir.dialect.ir.op_traits import (
    DIVISIONS,
    REMAINDERS,
    accessed_memref,
)
from tir_mlir.dialect.ir.op_views import (
    AllocLikeOp,
    AllocOp,
    BinaryOp,
    ConstantOp,
    ElementAccessOp,
    ElementStoreOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.equivalence.edits import OpBuilder, is_float
from tir_mlir.equivalence.field.field_functions import LOOPS, STATE, STATE_SIZE

ARENA = "tir.arena"
"""On an allocation: it holds elements of other types."""


@dataclass(frozen=True)
class Site:
    """An access, for messages: its block, its kind, its buffer, and the loops around it."""

    location: str
    what: str
    buffer: str
    loops: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.location} {self.what} {self.buffer}"


def site_of(op: ir.Operation, build: OpBuilder) -> Site:
    what = "writes" if isa(op, StoreOp) else "reads"
    return Site(
        build.origin_text(op), what, Buffer(accessed_memref(op)).name, tuple(lp.name for lp in enclosing_loops(op))
    )


def enclosing_loops(op: ir.Operation) -> list[Loop]:
    """All loops of the encoding around an op, outermost first."""
    return [Loop(p) for p in reversed(walk.parents(op)) if is_loop(p)]


# --- bounds -------------------------------------------------------------------------------------------------------


def clamp(everything: Sequence[ir.Operation], build: OpBuilder) -> list[Site]:
    """Clamp and count accesses that interval analysis does not show to be in bounds.

        affine.store %x, %A[%i + 1]   -->   %at = affine.apply (%i + 1); %in = clamp(%at, size, site)
                                            memref.store %x, %A[%in]

    Returns the sites, by number.
    """
    with freeze_modules():
        unsure = [op for op in everything if isa(op, ElementAccessOp) and not _is_in_bounds(op)]
    sites = [site_of(op, build) for op in unsure]
    for number, op in enumerate(unsure):
        _clamp(op, number, build)
    return sites


def _is_in_bounds(op: ir.Operation) -> bool:
    if not op.name.startswith("affine"):
        return False
    box = intervals.enclosing_ranges(op)
    for index, size in zip(walk.access_indices(op), ir.MemRefType(accessed_memref(op).type).shape, strict=True):
        low, high = intervals.interval(index, box)
        if low is None or high is None or low < 0 or high >= size or size < 0:
            return False
    return True


def size_of(memref: ir.Value, axis: int, build: OpBuilder) -> ir.Value:
    type_ = ir.MemRefType(memref.type)
    if not type_.is_dynamic_dim(axis):
        return build.index(type_.shape[axis])
    return ir.Operation.create("memref.dim", [ir.IndexType.get()], [memref, build.index(axis)]).results[0]


def _clamp(op: ir.Operation, number: int, build: OpBuilder) -> None:
    memref, store = accessed_memref(op), isa(op, StoreOp)
    with ir.InsertionPoint(op), op.location:
        site = build.number(number)
        indices = [
            build.call("clamp", index, size_of(memref, axis, build), site, result=ir.IndexType.get())
            for axis, index in enumerate(build.indices_of(op))
        ]
        if store:
            ir.Operation.create("memref.store", [], [StoreOp(op).value, memref, *indices])
        else:
            load = ir.Operation.create("memref.load", [op.results[0].type], [memref, *indices])
            op.results[0].replace_all_uses_with(load.results[0])
    op.erase()


def spread_rows(everything: Sequence[ir.Operation]) -> None:
    """Pad rows of allocations by a cache line: rows a power of two apart conflict in the cache.

    Indices are unchanged. Must run after `clamp`.
    """
    for op in [o for o in everything if isa(o, AllocOp) and not len(o.operands)]:
        type_ = ir.MemRefType(op.results[0].type)
        others = [u for u in op.results[0].uses if not isa(u.owner, ElementAccessOp)]
        if others or type_.rank < 2 or type_.shape[-1] % 64:
            continue
        shape = [*type_.shape[:-1], type_.shape[-1] + 8]
        op.results[0].set_type(ir.MemRefType.get(shape, type_.element_type))


# --- poison -------------------------------------------------------------------------------------------------------


def fill_allocations(everything: Sequence[ir.Operation], build: OpBuilder, floats: float | None = None) -> bool:
    """Fill every allocation with poison that differs per run (floats with `floats`, if given).

    Must run after loops are limited. Returns whether there is an allocation.
    """
    allocs = [op for op in everything if isa(op, AllocLikeOp)]
    for op in allocs:
        element = ir.MemRefType(op.results[0].type).element_type
        with ir.InsertionPoint.after(op), op.location:
            if floats is not None and is_float(element):
                value = build.constant(ir.FloatAttr.get(element, floats))
            elif floats is not None and ARENA in op.attributes:
                value = build.constant(ir.IntegerAttr.get(element, -1))  # the bytes of a NaN
            else:
                value = build.narrow(build.call("poison"), element)
            _fill(op.results[0], value, build)
    return bool(allocs)


def _fill(memref: ir.Value, value: ir.Value, build: OpBuilder) -> None:
    with each_element(memref, build) as variables:
        ir.Operation.create("memref.store", [], [value, memref, *variables])


@contextmanager
def each_element(memref: ir.Value, build: OpBuilder, *marks: str) -> Iterator[list[ir.Value]]:
    """Loops over all elements, for what is created inside; `linalg.fill` would load a dialect whose Python module takes
    0.1 s. Gives the variables."""
    zero, step, variables = build.index(0), build.index(1), []
    with ExitStack() as stack:
        for axis in range(ir.MemRefType(memref.type).rank):
            ends = [zero, size_of(memref, axis, build), step]
            loop = ir.Operation.create("scf.for", [], ends, dict.fromkeys(marks, ir.UnitAttr.get()), regions=1)
            body = loop.regions[0].blocks.append(ir.IndexType.get())
            with ir.InsertionPoint(body):
                end = ir.Operation.create("scf.yield")
            stack.enter_context(ir.InsertionPoint(end))
            variables.append(body.arguments[0])
        yield variables


# --- who wrote an element -----------------------------------------------------------------------------------------


def note_writers(func: Func, parameter: int, build: OpBuilder) -> list[Site]:
    """Make every store to a parameter record its site and loop variables if it writes the watched element."""
    memref = func.args[parameter]
    stores = [op for op in walk.ops(func.op) if isa(op, ElementStoreOp)]
    stores = [op for op in stores if StoreOp(op).memref == memref]
    sites = [site_of(op, build) for op in stores]
    for number, op in enumerate(stores):
        with ir.InsertionPoint(op), op.location:
            _note(op, memref, number + 1, build)
    return sites


def _note(op: ir.Operation, memref: ir.Value, number: int, build: OpBuilder) -> None:
    flat = build.index(0)
    for axis, index in enumerate(build.indices_of(op)):
        flat = build.plus(build.binary("arith.muli", flat, size_of(memref, axis, build)), index)
    bit = ir.IntegerType.get_signless(1)
    hit = build.call("wrote", flat, build.number(number), result=bit)
    branch = ir.Operation.create("scf.if", [], [hit], regions=2)
    with ir.InsertionPoint(branch.regions[0].blocks.append()):
        type_ = ir.MemRefType.get([STATE_SIZE], build.word())
        symbol = {"name": ir.FlatSymbolRefAttr.get(STATE)}
        state = ir.Operation.create("memref.get_global", [type_], [], symbol).results[0]
        for depth, loop in enumerate(enclosing_loops(op)[: STATE_SIZE - LOOPS]):
            value = build.widen(loop.var, "arith.extsi")
            ir.Operation.create("memref.store", [], [value, state, build.index(LOOPS + depth)])
        ir.Operation.create("scf.yield")


# --- what would trap ----------------------------------------------------------------------------------------------


def make_total(everything: Sequence[ir.Operation], build: OpBuilder) -> None:
    """Make integer division total: a / 0 is a, a / -1 is -a, the remainders are 0. Both would trap."""
    for op in [o for o in everything if o.name in DIVISIONS]:
        a, b = op.operands
        owner = b.owner
        if not isinstance(owner, ir.Block) and isa(owner, ConstantOp):
            continue  # a nonzero constant
        with ir.InsertionPoint(op), op.location:
            zero, unit, less = (build.constant(ir.IntegerAttr.get(b.type, n)) for n in (0, 1, -1))
            signed = "ui" not in op.name
            none = build.cmpi("eq", b, zero)
            minus = build.cmpi("eq", b, less) if signed else build.bit(False)
            safe = build.select(build.binary("arith.ori", none, minus), unit, b)
            BinaryOp(op).rhs = safe
        if signed and op.name not in REMAINDERS:
            uses = [(u.owner.operation, u.operand_number) for u in op.results[0].uses]
            with ir.InsertionPoint.after(op), op.location:
                negated = build.binary("arith.subi", zero, a)
                quotient = build.select(minus, negated, op.results[0])
            for owner, number in uses:
                owner.operands[number] = quotient
