"""Legality of vectorization: which loops can run as vector lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Index, Loop, dtypes, owner_op, step, walk
from tir_mlir.passes.lower.memory.strides import has_contiguous_rows, is_padded
from tir_mlir.passes.lower.vector.reductions import LaneReduction, find_reductions

LOADS = ("affine.load", "memref.load")
ELEMENTWISE = ("arith", "math")
DIVISIONS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
MASKED_BITS = 32
"""Most CPUs have no masked loads of narrower elements: LLVM scalarizes them."""


class NotVectorizable(Exception):
    """The reason why a loop cannot be vectorized."""


@dataclass
class Lanes:
    """A vectorizable loop: `varying` values differ between lanes, `stored` buffers are written, `sums` are its
    reductions.
    """

    loop: Loop
    sums: list[LaneReduction] = field(default_factory=list)
    varying: set[ir.Value] = field(default_factory=set)
    stored: set[ir.Value] = field(default_factory=set)

    @property
    def var(self) -> ir.Value:
        return self.loop.var

    def step(self, index: Index) -> int | None:
        """The constant difference of an expression between adjacent lanes; None if there is none."""
        return step(index, self.var)


def analyse(loop: Loop) -> Lanes:
    """Check that running each op for all lanes computes the same as running lane after lane.

    Errors: NotVectorizable.
    """
    sums = find_reductions(loop)
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
            raise NotVectorizable(f"{name} depends on the lane")
    elif name in ("affine.store", *LOADS, "affine.apply") or name.split(".")[0] in ELEMENTWISE:
        if varies:
            lanes.varying.update(op.results)
    else:
        raise NotVectorizable(f"{name} has no vector form")
    for value in (*op.results, *(op.operands if name == "affine.store" else ())):
        _check_type(value.type)


def _check_type(type_: ir.Type) -> None:
    if isinstance(type_, ir.MemRefType):
        type_ = type_.element_type
        if isinstance(type_, ir.IntegerType) and type_.width == 1:
            raise NotVectorizable("a vector of bool is packed in memory, a buffer of bool is not")
    if not isinstance(type_, ir.IntegerType | ir.IndexType | ir.FloatType):
        raise NotVectorizable(f"{type_} has no vector form")


def _check_memory(inner: list[ir.Operation], lanes: Lanes) -> None:
    """Check that a buffer that is written is partitioned among the lanes along one dimension."""
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
            raise NotVectorizable("a buffer is written here and also accessed through a view or a gather")
        own.setdefault(root, []).append(walk.access_indices(op))
    for indices in own.values():
        if not any(_is_partitioned(list(d), lanes) for d in zip(*indices, strict=True)):
            raise NotVectorizable("lanes write where other lanes read or write")


def _is_partitioned(column: list[Index], lanes: Lanes) -> bool:
    """Whether the indices of one dimension are equal in all accesses, distinct between lanes, and otherwise
    invariant.
    """
    first = column[0]
    if not lanes.step(first) or any(not first.same(i) for i in column[1:]):
        return False
    for value in first.values:
        if value != lanes.var and walk.is_inside(owner_op(value), lanes.loop.op):
            return False
    return True


def is_contiguous(lanes: Lanes, memref: ir.Value, indices: Sequence[Index]) -> bool:
    """Whether adjacent lanes access adjacent elements."""
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    steps = [lanes.step(i) for i in indices]
    if is_padded(memref):
        return has_contiguous_rows(memref) and bool(steps) and steps[-1] == 1 and not any(steps[:-1])
    return bool(steps) and strides[-1] == 1 and steps[-1] == 1 and not any(steps[:-1]) and None not in steps


def lane_stride(lanes: Lanes, memref: ir.Value, indices: Sequence[Index]) -> int | None:
    """The constant distance in a row between adjacent lanes, if it is not 0 or 1; else None."""
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    steps = [lanes.step(i) for i in indices]
    if not steps or strides[-1] != 1 or is_padded(memref) or None in steps or any(steps[:-1]) or steps[-1] in (0, 1):
        return None
    return steps[-1]


def can_mask(lanes: Lanes) -> bool:
    """Whether lanes may be masked off: everything that varies is in vectors that a CPU can mask, and no op traps on the
    zeros in inactive lanes.
    """
    shared = [op for s in lanes.sums for op in (s.load, s.store)]
    for op in walk.ops(lanes.loop.op)[1:]:
        if op in shared:
            continue
        varies = any(r in lanes.varying for r in op.results)
        if op.name == "affine.store" or (op.name == "affine.load" and varies):
            memref = walk.accessed(op)
            if dtypes.bits(Buffer(memref).dtype) < MASKED_BITS or not is_contiguous(
                lanes, memref, walk.access_indices(op)
            ):
                return False
        elif varies and (op.name == "memref.load" or op.name.removeprefix("arith.") in DIVISIONS):
            return False
    return True
