"""What may run as lanes of a vector: the check before a loop is vectorised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Index, Loop, dtypes, owner_op, step, walk
from tir_mlir.passes.lower.memory.strides import is_row, padded
from tir_mlir.passes.lower.vector.reductions import Sum, find

LOADS = ("affine.load", "memref.load")
ELEMENTWISE = ("arith", "math")
DIVISIONS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
MASKED_BITS = 32
"""Narrower elements have no masked loads on most CPUs: LLVM takes them one by one."""


class NotVector(Exception):
    """A loop that stays scalar; says why."""


@dataclass
class Lanes:
    """A loop whose body can be run for all values of its variable at once; `varying` values differ between lanes,
    `stored` buffers are written, `sums` run over the lanes."""

    loop: Loop
    sums: list[Sum] = field(default_factory=list)
    varying: set[ir.Value] = field(default_factory=set)
    stored: set[ir.Value] = field(default_factory=set)

    @property
    def var(self) -> ir.Value:
        return self.loop.var

    def step(self, index: Index) -> int | None:
        """How much an expression grows from lane to lane; None when that is not the same everywhere."""
        return step(index, self.var)


def analyse(loop: Loop) -> Lanes:
    """Check that op by op for all lanes computes what lane by lane does. NotVector says what stands against it."""
    sums = find(loop)
    lanes = Lanes(loop, sums, {loop.var, *(s.load.results[0] for s in sums)})
    inner = walk.ops(loop.op)[1:]
    for op in inner:
        _check_op(op, lanes)
    _check_memory(inner, lanes)
    return lanes


def _check_op(op: ir.Operation, lanes: Lanes) -> None:
    name = op.name
    if name == "affine.yield":
        return
    varies = any(v in lanes.varying for v in op.operands)
    if name in ("affine.for", "affine.if"):
        if varies or len(op.results):
            raise NotVector(f"{name} depends on the lane")
    elif name in ("affine.store", *LOADS, "affine.apply") or name.split(".")[0] in ELEMENTWISE:
        if varies:
            lanes.varying.update(op.results)
    else:
        raise NotVector(f"{name} has no vector form")
    for value in (*op.results, *(op.operands if name == "affine.store" else ())):
        _check_type(value.type)


def _check_type(type_: ir.Type) -> None:
    if isinstance(type_, ir.MemRefType):
        type_ = type_.element_type
        if isinstance(type_, ir.IntegerType) and type_.width == 1:
            raise NotVector("a vector of bool is packed in memory, a buffer of bool is not")
    if not isinstance(type_, ir.IntegerType | ir.IndexType | ir.FloatType):
        raise NotVector(f"{type_} has no vector form")


def _check_memory(inner: list[ir.Operation], lanes: Lanes) -> None:
    """A buffer that is written must be split among the lanes: each lane has its own part of one dimension."""
    stored = lanes.stored = {Buffer(op.operands[1]).root.value for op in inner if op.name == "affine.store"}
    shared = [op for s in lanes.sums for op in (s.load, s.store)]
    own: dict[ir.Value, list[list[Index]]] = {}
    for op in inner:
        if op.name not in ("affine.store", *LOADS) or op in shared:
            continue
        memref = walk.accessed(op)
        root = Buffer(memref).root.value
        if root not in stored:
            continue
        if memref != root or op.name == "memref.load":
            raise NotVector("a buffer is written here and also used through a view or a gather")
        own.setdefault(root, []).append(walk.access_indices(op))
    for indices in own.values():
        if not any(_splits(list(d), lanes) for d in zip(*indices, strict=True)):
            raise NotVector("lanes write where other lanes read or write")


def _splits(column: list[Index], lanes: Lanes) -> bool:
    """Whether one dimension's indices are equal in all accesses, differ from lane to lane, and are fixed otherwise."""
    first = column[0]
    if not lanes.step(first) or any(not first.same(i) for i in column[1:]):
        return False
    for value in first.values:
        if value != lanes.var and walk.is_inside(owner_op(value), lanes.loop.op):
            return False
    return True


def contiguous(lanes: Lanes, memref: ir.Value, indices: Sequence[Index]) -> bool:
    """Whether neighbouring lanes access neighbouring elements."""
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    steps = [lanes.step(i) for i in indices]
    if padded(memref):
        return is_row(memref) and bool(steps) and steps[-1] == 1 and not any(steps[:-1])
    return bool(steps) and strides[-1] == 1 and steps[-1] == 1 and not any(steps[:-1]) and None not in steps


def strided(lanes: Lanes, memref: ir.Value, indices: Sequence[Index]) -> int | None:
    """How many elements of one row lie from lane to lane, where that is not 0 or 1; None for all else."""
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    steps = [lanes.step(i) for i in indices]
    if not steps or strides[-1] != 1 or padded(memref) or None in steps or any(steps[:-1]) or steps[-1] in (0, 1):
        return None
    return steps[-1]


def can_mask(lanes: Lanes) -> bool:
    """Whether lanes may be left out: all that differs between them is in vectors that a CPU can mask, and nothing fails
    on the zeros in the lanes left out."""
    shared = [op for s in lanes.sums for op in (s.load, s.store)]
    for op in walk.ops(lanes.loop.op)[1:]:
        if op in shared:
            continue
        varies = any(r in lanes.varying for r in op.results)
        if op.name == "affine.store" or (op.name == "affine.load" and varies):
            memref = walk.accessed(op)
            if dtypes.bits(Buffer(memref).dtype) < MASKED_BITS or not contiguous(
                lanes, memref, walk.access_indices(op)
            ):
                return False
        elif varies and (op.name == "memref.load" or op.name.removeprefix("arith.") in DIVISIONS):
            return False
    return True
