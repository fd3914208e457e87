"""Emit the body of a loop as vector operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect.constants.dense import dense_attr
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    apply,
    at_end,
    attrs,
    create,
    defining_op,
    edit,
    emit_map,
    is_loop,
    owner_op,
    read_map,
    step,
    walk,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE, INTEGER_RING
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AffineIfOp,
    AffineLoadOp,
    AffineOp,
    AffineStoreOp,
    ApplyOp,
    CastBaseOp,
    IfOp,
    LoadOp,
    MemrefLoadOp,
    MemrefStoreOp,
    ScfIfOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.op_attrs import zero_vector
from tir_mlir.passes.lower.vector.gathers import (
    INTEGER_CASTS,
    LaneNumbers,
    gather_elements,
    is_indirect_row,
    may_gather,
    to_32_bits,
)
from tir_mlir.passes.lower.vector.legality import VectorizableLoop, has_adjacent_elements, is_contiguous, lane_stride
from tir_mlir.passes.lower.vector.reductions import Accumulator


class VectorEmitter:
    """Emits the body of a loop for `width` lanes from `base` on, at the insertion point. `counts`: only the first lanes
    are active, as many as the minimum. `sums`: the accumulators for the load and the store of each reduction.
    """

    def __init__(
        self,
        lanes: VectorizableLoop,
        base: Index,
        width: int,
        counts: Sequence[Index] = (),
        sums: Mapping[ir.Operation, Accumulator] | None = None,
    ):
        self.lanes = lanes
        self.sums = sums or {}
        self.base = base
        self.width = width
        bits = self._type(ir.IntegerType.get_signless(1))
        self.mask = _mask(lanes.loop, bits, counts) if counts else None
        self.scalars: dict[ir.Value, Index] = {}  # index values that are equal in all lanes
        self.guard: ir.Value | None = None  # the lanes that run what is emitted, if fewer than those of the mask
        self.values: dict[ir.Value, ir.Value] = {}  # copies: vectors of varying values, scalars of the others

    def run(self) -> None:
        self.body(self.lanes.loop.body)

    def body(self, block: ir.Block) -> None:
        for op in list(block.operations)[:-1]:
            with op.location:
                self.emit(op.operation)

    def emit(self, op: ir.Operation) -> None:
        if op in self.lanes.guards:
            self.emit_divergent_condition(op)
        elif isa(op, AffineForOp, IfOp):
            self.emit_uniform_choice(op) if len(op.results) else self.emit_uniform_control(op)
        elif op in self.sums:
            self.accumulate(op, self.sums[op])
        elif isa(op, AffineStoreOp):
            self.store(op)
        elif isa(op, MemrefStoreOp):
            self.store_row(op)
        elif not any(r in self.lanes.varying for r in op.results):
            self.uniform(op)
        elif isa(op, AffineLoadOp):
            self.load(op)
        elif isa(op, ApplyOp):
            index = read_map(attrs.map_of(op.attributes["map"]), list(op.operands))[0]
            self.values[op.results[0]] = self.spread_lanes(index, op)
        elif isa(op, MemrefLoadOp):
            self.gather(op)
        else:
            operands = [self.vector(v) for v in op.operands]
            vector_op = self._like(op, operands, [self._type(r.type) for r in op.results])
            self.values |= dict(zip(op.results, vector_op.results, strict=True))

    # --- operands ----------------------------------------------------------------------------------------------------

    def index_in_lane(self, index: Index, lane: int = 0) -> Index:
        """An index expression in one lane."""
        return index.substitute({self.lanes.var: self.base + lane, **self.scalars}).simplify()

    def vector(self, value: ir.Value) -> ir.Value:
        """A value as a vector, broadcast if it is uniform."""
        if value == self.lanes.var:
            return self.spread_lanes(Index.from_value(value))
        if value in self.lanes.varying:
            return self.values[value]
        return vector.broadcast(self._type(value.type), self.scalar(value))

    def scalar(self, value: ir.Value) -> ir.Value:
        if value in self.scalars:
            return apply(self.scalars[value])
        return self.values.get(value, value)

    def spread_lanes(self, index: Index, op: ir.Operation | None = None) -> ir.Value:
        """The values of an index expression in all lanes, as a vector of index; op: where it is computed."""
        type_ = self._type(ir.IndexType.get())
        grows = step(index, self.lanes.var)
        if grows is None:
            numbers = None if op is None else self._numbers(op)
            if numbers is not None and numbers.fits(index):
                return arith.index_cast(type_, numbers.emit_vector(index))
            return vector.from_elements(type_, [apply(self.index_in_lane(index, lane)) for lane in range(self.width)])
        numbers = np.arange(self.width, dtype=np.int64) * grows
        steps = arith.constant(type_, dense_attr(numbers, type_))
        return arith.addi(vector.broadcast(type_, apply(self.index_in_lane(index))), steps)

    # --- ops ---------------------------------------------------------------------------------------------------------

    def uniform(self, op: ir.Operation) -> None:
        if isa(op, AffineOp):
            start = 1 if isa(op, AffineLoadOp) else 0
            operands = list(op.operands)
            map_, map_operands = emit_map(
                [self.index_in_lane(i) for i in read_map(attrs.map_of(op.attributes["map"]), operands[start:])]
            )
            scalar_op = self._like(op, operands[:start] + map_operands, [r.type for r in op.results], map_)
        else:
            scalar_op = self._like(op, [self.scalar(v) for v in op.operands], [r.type for r in op.results])
        self.values |= dict(zip(op.results, scalar_op.results, strict=True))
        if isa(op, ApplyOp):
            index = read_map(attrs.map_of(op.attributes["map"]), list(op.operands))[0]
            self.scalars[op.results[0]] = self.index_in_lane(index)

    def load(self, op: ir.Operation) -> None:
        memref, indices = LoadOp(op).memref, walk.access_indices(op)
        type_ = self._type(op.results[0].type)
        mask = self.guard or self.mask
        stride = None if mask is not None else lane_stride(self.lanes, memref, indices)
        if stride is not None and abs(stride) <= MAX_STRIDE and self.width > 1:
            first = [self.index_in_lane(i, 0 if stride > 0 else self.width - 1) for i in indices]
            loaded = load_strided(
                lambda start: self._load_row(memref, [*first[:-1], first[-1] + start]), self.width, stride
            )
        elif not is_contiguous(self.lanes, memref, indices):
            loaded = self._load_scattered(op, indices)
        elif mask is None or self._may_read_all(memref, indices):
            loaded = self._load_row(memref, [self.index_in_lane(i) for i in indices])
        else:
            indices_of_lane = [apply(self.index_in_lane(i)) for i in indices]
            loaded = vector.maskedload(type_, memref, indices_of_lane, mask, zero_vector(type_))
        self.values[op.results[0]] = loaded

    def _numbers(self, op: ir.Operation) -> LaneNumbers:
        return LaneNumbers(self.lanes.var, self.index_in_lane, self.width, intervals.enclosing_ranges(op))

    def _load_scattered(self, op: ir.Operation, indices: Sequence[Index]) -> ir.Value:
        """Elements that are not all adjacent: loaded by equal runs of adjacent ones if these are known, gathered where
        their distances differ, else loaded one by one."""
        memref, numbers = LoadOp(op).memref, self._numbers(op)
        run = self._run_length(indices) if self.mask is None and has_adjacent_elements(memref) else 1
        if run > 1:
            return self._load_runs(memref, indices, run)
        uneven = [step(i, self.lanes.var) is None for i in indices]
        if any(uneven) and self.mask is None and may_gather(op, memref) and all(map(numbers.fits, indices)):
            indices_of_lane = [
                numbers.emit_vector(i) if i.uses(self.lanes.var) else self.index_in_lane(i) for i in indices
            ]
            return gather_elements(memref, indices_of_lane, self.width)
        elements = [self._load_one(memref, indices, k) for k in range(self.width)]
        return vector.from_elements(self._type(op.results[0].type), elements)

    def _run_length(self, indices: Sequence[Index]) -> int:
        """The elements of each run of adjacent ones, if all are as long; 1 if a distance of lanes is not constant."""
        places = [[self.index_in_lane(i, k) for i in indices] for k in range(self.width)]
        starts = [0]
        for lane, (here, after) in enumerate(pairwise(places), 1):
            moves = [(b - a).simplify().as_constant() for a, b in zip(here, after, strict=True)]
            if None in moves:
                return 1
            if moves[-1] != 1 or any(moves[:-1]):
                starts.append(lane)
        lengths = {b - a for a, b in pairwise([*starts, self.width])}
        return lengths.pop() if len(lengths) == 1 else 1

    def _load_runs(self, memref: ir.Value, indices: Sequence[Index], run: int) -> ir.Value:
        element, lanes = ir.MemRefType(memref.type).element_type, list[ir.Value]()
        for start in range(0, self.width, run):
            row = self._load_row(memref, [self.index_in_lane(i, start) for i in indices], run)
            lanes += ir.Operation.create("vector.to_elements", [element] * run, [row]).results
        return vector.from_elements(self._type(element), lanes)

    def _load_row(self, memref: ir.Value, indices: Sequence[Index], width: int = 0) -> ir.Value:
        map_, operands = emit_map(indices)
        type_ = ir.VectorType.get([width or self.width], ir.MemRefType(memref.type).element_type)
        return ir.Operation.create("affine.vector_load", [type_], [memref, *operands], {"map": _attr(map_)}).results[0]

    def _may_read_all(self, memref: ir.Value, indices: Sequence[Index]) -> bool:
        """Whether masked-off lanes are still inside the buffer, which is not written here and whose elements all have
        values: what is left in memory by chance may be denormal, and arithmetic on that takes a hundred times as long.
        """
        root = Buffer(memref).root
        if root.value in self.lanes.stored or root.is_alloc:
            return False
        shape, starts = list(ir.MemRefType(memref.type).shape), [self.index_in_lane(i) for i in indices]
        ends = [*(n - 1 for n in shape[:-1]), shape[-1] - self.width]
        if self.guard is None:  # at least the first lane is inside
            shape, starts, ends = shape[-1:], starts[-1:], ends[-1:]
        if ir.ShapedType.get_dynamic_size() in shape:
            return False
        spare = [Index.constant(end) - start for end, start in zip(ends, starts, strict=True)]
        box = intervals.body_ranges(ir.InsertionPoint.current.block.owner.operation)
        return all(intervals.at_least_zero(i, box) for i in (*spare, *(starts if self.guard is not None else ())))

    def _load_one(self, memref: ir.Value, indices: Sequence[Index], lane: int) -> ir.Value:
        map_, operands = emit_map([self.index_in_lane(i, lane) for i in indices])
        element = ir.MemRefType(memref.type).element_type
        return ir.Operation.create(AFFINE_LOAD, [element], [memref, *operands], {"map": _attr(map_)}).results[0]

    def gather(self, op: ir.Operation) -> None:
        memref, *indices = list(op.operands)
        if is_indirect_row(op, self.lanes.var, self.lanes.varying):
            first = [self.first_lane(i) for i in indices]
            self.values[op.results[0]] = vector.load(self._type(op.results[0].type), memref, first)
            return
        if self.mask is None and self.guard is None and may_gather(op, memref):
            indices_of_lane = [
                to_32_bits(i, self.vector) if i in self.lanes.varying else Index.from_value(self.scalar(i))
                for i in indices
            ]
            self.values[op.results[0]] = gather_elements(memref, indices_of_lane, self.width)
            return
        elements = []
        for lane in range(self.width):
            where = [self.extract_lane(i, lane) for i in indices]
            elements.append(self._like(op, [memref, *where], [op.results[0].type]).results[0])
        self.values[op.results[0]] = vector.from_elements(self._type(op.results[0].type), elements)

    def store_row(self, op: ir.Operation) -> None:
        value, memref, *indices = list(op.operands)
        vector.store(self.vector(value), memref, [self.first_lane(i) for i in indices])

    def first_lane(self, value: ir.Value) -> ir.Value:
        """An index of a row in the first lane, computed with scalars."""
        op = defining_op(value)
        if value in self.lanes.varying and op is not None and op.name in (*INTEGER_CASTS, *INTEGER_RING):
            return self._like(op, [self.first_lane(v) for v in op.operands], [op.results[0].type]).results[0]
        return self.extract_lane(value, 0)

    def extract_lane(self, value: ir.Value, lane: int) -> ir.Value:
        """A value in one lane. A loaded index is loaded as a scalar, which is faster than extracting it."""
        if value == self.lanes.var:
            return apply(self.index_in_lane(Index.from_value(value), lane))
        op = defining_op(value)
        if value not in self.lanes.varying or op is None:
            return self.scalar(value)
        if op.name in INTEGER_CASTS:
            return self._like(op, [self.extract_lane(CastBaseOp(op).source, lane)], [op.results[0].type]).results[0]
        if isa(op, AffineLoadOp) and self._is_input(op):
            return self._load_one(LoadOp(op).memref, walk.access_indices(op), lane)
        if isa(op, ApplyOp):
            return apply(self.index_in_lane(read_map(attrs.map_of(op.attributes["map"]), list(op.operands))[0], lane))
        return vector.extract(self.vector(value), [], [lane])

    def _is_input(self, load: ir.Operation) -> bool:
        """Whether the memory that an op loads is not written in the loop."""
        return Buffer(LoadOp(load).memref).root.value not in self.lanes.stored

    def store(self, op: ir.Operation) -> None:
        store = StoreOp(op)
        value, memref, indices = self.vector(store.value), store.memref, walk.access_indices(op)
        mask = self.guard or self.mask
        if mask is not None:
            vector.maskedstore(memref, [apply(self.index_in_lane(i)) for i in indices], mask, value)
            return
        if is_contiguous(self.lanes, memref, indices):
            map_, operands = emit_map([self.index_in_lane(i) for i in indices])
            ir.Operation.create("affine.vector_store", [], [value, memref, *operands], {"map": _attr(map_)})
            return
        for lane in range(self.width):
            map_, operands = emit_map([self.index_in_lane(i, lane) for i in indices])
            element = vector.extract(value, [], [lane])
            ir.Operation.create(AFFINE_STORE, [], [element, memref, *operands], {"map": _attr(map_)})

    def accumulate(self, op: ir.Operation, accumulator: Accumulator) -> None:
        """The load or store of a reduction, in the lane's own accumulator; masked-off lanes keep theirs."""
        if isa(op, AffineLoadOp):
            self.values[op.results[0]] = accumulator.load(self.width)
            return
        value = self.vector(StoreOp(op).value)
        if self.mask is not None:
            value = arith.select(self.mask, value, accumulator.load(self.width))
        accumulator.store(value)

    def emit_uniform_control(self, op: ir.Operation) -> None:
        """A loop or condition that is uniform across lanes."""
        shell = op.clone().operation
        for region in shell.regions:
            for block in region.blocks:
                for inner in reversed(list(block.operations)[:-1]):
                    inner.operation.erase()
        shell = self._rebase(shell)
        for old_region, new_region in zip(op.regions, shell.regions, strict=True):
            for old, new in zip(old_region.blocks, new_region.blocks, strict=True):
                self.scalars |= {a: Index.from_value(b) for a, b in zip(old.arguments, new.arguments, strict=True)}
                with at_end(new):
                    self.body(old)

    def emit_uniform_choice(self, op: ir.Operation) -> None:
        """A value chosen by a condition that is uniform across lanes: a vector on each side."""
        types = [self._type(r.type) for r in op.results]
        attributes = {n: op.attributes[n] for n in op.attributes}
        vector_op = ir.Operation.create(op.name, types, list(op.operands), attributes, regions=len(op.regions))
        for old, region in zip(op.regions, vector_op.regions, strict=True):
            side = region.blocks.append()
            with ir.InsertionPoint(side):
                self.body(old.blocks[0])
                end = list(old.blocks[0].operations)[-1]
                ir.Operation.create(end.name, operands=[self.vector(v) for v in end.operands])
        vector_op = self._rebase(vector_op)
        self.values |= dict(zip(op.results, vector_op.results, strict=True))

    def _rebase(self, op: ir.Operation) -> ir.Operation:
        """A loop or condition over the values of the lanes' base; returns its replacement."""
        if isa(op, ScfIfOp):
            edit.set_operand(op, 0, self.scalar(ScfIfOp(op).condition))
            return op
        mapping = {self.lanes.var: self.base, **self.scalars}
        if any(v in mapping for v in op.operands):
            return edit.rewrite_indices(op, lambda i: i.substitute(mapping).simplify())
        return op

    def emit_divergent_condition(self, op: ir.Operation) -> None:
        """A condition that differs between lanes: both sides run for all lanes, with accesses masked. Where it holds in
        all lanes, no mask is needed.
        """
        ends = self._in_all_lanes(op)
        if ends is None or self.mask is not None or self.guard is not None:
            self.values |= dict(zip(op.results, self._emit_masked_sides(op), strict=True))
            return
        types = [self._type(r.type) for r in op.results]
        choice = create.guard(ends, None, types, has_else=True)
        for region, emit in zip(choice.regions, (self._emit_side, self._emit_masked_sides), strict=True):
            body = region.blocks[0]
            with ir.InsertionPoint(body) if types else at_end(body):
                results = emit(op)
                if types:
                    ir.Operation.create("affine.yield", operands=results)
        self.values |= dict(zip(op.results, choice.results, strict=True))

    def _in_all_lanes(self, op: ir.Operation) -> list[Constraint] | None:
        """Constraints that hold if a condition holds in all lanes: at the lane where each is tightest."""
        constraints = []
        for c in walk.constraints(op) if isa(op, AffineIfOp) else ():
            grows = step(c.index, self.lanes.var)
            if grows is None or c.is_eq:
                return None
            constraints.append(Constraint(self.index_in_lane(c.index, self.width - 1 if grows < 0 else 0)))
        return constraints or None

    def _emit_side(self, op: ir.Operation, side: int = 0) -> list[ir.Value]:
        """One side of a condition, in all lanes; returns its results."""
        block = op.regions[side].blocks[0]
        self.body(block)
        return [self.vector(v) for v in list(block.operations)[-1].operands]

    def _emit_masked_sides(self, op: ir.Operation) -> list[ir.Value]:
        """Both sides of a condition, each in its lanes; returns the results."""
        condition, sides, outer_guard = self.condition(op), [], self.guard
        active = self.mask if outer_guard is None else outer_guard
        for side in [n for n, region in enumerate(op.regions) if len(region.blocks)]:
            runs = arith.xori(condition, self._all_lanes()) if side else condition
            self.guard = runs if active is None else arith.andi(runs, active)
            sides.append(self._emit_side(op, side))
        self.guard = outer_guard
        return [arith.select(condition, *values) for values in zip(*sides, strict=True)] if len(op.results) else []

    def condition(self, op: ir.Operation) -> ir.Value:
        """The condition of an `if` in all lanes."""
        if isa(op, ScfIfOp):
            return self.vector(ScfIfOp(op).condition)
        holds = [self._constraint(c) for c in walk.constraints(op)]
        return reduce(arith.andi, holds) if holds else self._all_lanes()

    def _constraint(self, c: Constraint) -> ir.Value:
        """Whether a constraint holds in each lane: a prefix of the lanes, or the rest, if its index counts them."""
        grows, bits = step(c.index, self.lanes.var), self._type(ir.IntegerType.get_signless(1))
        kind = arith.CmpIPredicate.eq if c.is_eq else arith.CmpIPredicate.sge
        first = self.index_in_lane(c.index)
        if grows == 0:
            return vector.broadcast(bits, arith.cmpi(kind, apply(first), apply(Index.constant(0))))
        if grows == -1 and not c.is_eq:
            return vector.create_mask(bits, [apply((first + 1).simplify())])
        if grows == 1 and not c.is_eq:
            return arith.xori(vector.create_mask(bits, [apply((first * -1).simplify())]), self._all_lanes())
        values = self.spread_lanes(c.index)
        return arith.cmpi(kind, values, zero_vector(ir.VectorType(values.type)))

    # --- helpers -----------------------------------------------------------------------------------------------------

    def _type(self, element: ir.Type) -> ir.VectorType:
        return ir.VectorType.get([self.width], element)

    def _all_lanes(self) -> ir.Value:
        type_ = self._type(ir.IntegerType.get_signless(1))
        return arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, ir.BoolAttr.get(True)))

    def _like(
        self,
        op: ir.Operation,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        map_: ir.AffineMap | None = None,
    ) -> ir.Operation:
        attributes = {n: op.attributes[n] for n in op.attributes}
        if map_ is not None:
            attributes["map"] = _attr(map_)
        return ir.Operation.create(op.name, list(results), list(operands), attributes)


def _attr(map_: ir.AffineMap) -> ir.Attribute:
    return ir.AffineMapAttr.get(map_)


def _mask(loop: Loop, type_: ir.VectorType, counts: Sequence[Index]) -> ir.Value:
    """A mask of the first lanes, as many as the minimum of some counts; hoisted as far as they allow."""
    anchor = loop.op
    owners = [owner_op(v) for c in counts for v in c.values]
    for parent in walk.parents(loop.op):
        if not is_loop(parent) or any(walk.is_inside(owner, parent) for owner in owners):
            break
        anchor = parent
    with ir.InsertionPoint(anchor):
        if len(counts) == 1:
            count = apply(counts[0])
        else:
            map_, values = emit_map(counts)
            count = ir.Operation.create("affine.min", [ir.IndexType.get()], values, {"map": _attr(map_)}).results[0]
        return vector.create_mask(type_, [count])


# --- load a strided vector as contiguous vectors and a shuffle -------------------------------------------------------


MAX_STRIDE = 4
"""Elements at larger distances are loaded as scalars."""


def load_strided(load: Callable[[int], ir.Value], width: int, stride: int) -> ir.Value:
    """`width` elements at distance `stride` (negative: backwards). `load(start)` gives a vector of contiguous elements,
    `start` elements after the lowest one.

        A[2 * j], j < 4   -->   vector.shuffle A[0:4], A[3:7] [0, 2, 5, 7]

    The last vector ends with the last element, so that nothing beyond it is read.
    """
    apart = abs(stride)
    length = (width - 1) * apart + 1
    starts = [*range(0, length - width, width), length - width]
    rows = [load(start) for start in starts]
    first, *other_rows = map(_as_bits, rows)
    lanes, offsets, done = first, [min(k * apart, width - 1) for k in range(width)], width
    for start, row in zip(starts[1:], other_rows, strict=True):
        for k in range(width):
            if k * apart >= done:
                offsets[k] = width + min(k * apart - start, width - 1)
        lanes, offsets, done = vector.shuffle(lanes, row, offsets), list(range(width)), start + width
    if stride < 0:
        lanes = vector.shuffle(lanes, lanes, offsets[::-1])
    elif not other_rows:
        lanes = vector.shuffle(lanes, lanes, offsets)
    return arith.bitcast(rows[0].type, lanes) if lanes.type != rows[0].type else lanes


def _as_bits(value: ir.Value) -> ir.Value:
    """bf16 as integers: LLVM scalarizes shuffles of bf16."""
    type_ = ir.VectorType(value.type)
    if not isinstance(type_.element_type, ir.BF16Type):
        return value
    return arith.bitcast(ir.VectorType.get(type_.shape, ir.IntegerType.get_signless(16)), value)
