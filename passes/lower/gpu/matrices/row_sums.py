"""Sums (maxima, ..) along the rows or columns of fragments: of a lane's own elements, then over lanes by shuffles."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Index,
    Loop,
    access_indices,
    constraints,
    create,
    defining_op,
    edit,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.index import same_indices
from tir_mlir.dialect.ir.op_traits import MAXIMA, MINIMA, SUMS, accessed_memref
from tir_mlir.dialect.ir.op_views import AccessOp, AffineIfOp, AffineStoreOp, ConstantOp, IfOp, StoreOp, isa
from tir_mlir.passes.lower.gpu.combinations import OperatorCombination, Update, update_of
from tir_mlir.passes.lower.gpu.matrices.owners import FragmentAccess, Owners, any_lane_bit
from tir_mlir.passes.lower.gpu.shuffles import shuffle
from tir_mlir.passes.lower.registry import location_text

WARP = 32


@dataclass
class LaneSum:
    """An update of one element of a vector that lanes hold in copies, by iterations that they share.

    top: around which each element is complete, before and after. spatial: the loops in it that select an element.
    bits: those of the lane that its iterations differ in.
    """

    update: Update
    access: FragmentAccess
    top: ir.Operation
    spatial: list[Loop]
    bits: set[int]

    @property
    def store(self) -> ir.Operation:
        return self.update.stores[0]

    @property
    def combination(self) -> OperatorCombination:
        assert isinstance(self.update.combination, OperatorCombination)
        return self.update.combination

    @property
    def repeats(self) -> bool:
        """Whether combining with a value twice is combining with it once."""
        return self.combination.op.name in MAXIMA | MINIMA


def combine_over_lanes(root: ir.Operation, owners: Owners, lane: Index) -> bool:
    """Let each lane reduce its own elements, and combine what the lanes have. Returns whether anything was rewritten.

        for %i { for %j {                         for %i {
          %M[%i] = max(%M[%i], %S[%i, %j])          for %j { %M[%i] = max(%M[%i], %S[%i, %j]) }
        }}                                  -->     %a = max(%M[%i], gpu.shuffle xor %M[%i], 1)
                                                    %M[%i] = max(%a, gpu.shuffle xor %a, 2)
                                                  }

    A sum starts from 0 in all lanes but the first of those that share an element. lane: the number of the lane.
    Errors: LoweringError for other writes to one element by several lanes, and for uses of what is not complete.
    """
    sums = [s for access in owners.accesses if (s := _lane_sum(root, access, owners)) is not None]
    for lane_sum in sums:
        _require_alone(lane_sum)
    for lane_sum in sums:
        _rewrite(lane_sum, lane)
    return bool(sums)


def _lane_sum(root: ir.Operation, access: FragmentAccess, owners: Owners) -> LaneSum | None:
    """The reduction that a store belongs to; None for a load, or if each lane has an element of its own."""
    copies = {int(bit[1:]) for bit in access.layout.copies}
    bits = owners.lanes_decided(access.loops) & copies
    if not isa(access.op, AffineStoreOp) or not bits or _is_first_write(access, owners, copies):
        return None
    update = update_of(access.op)
    if update is None or not isinstance(update.combination, OperatorCombination):
        raise LoweringError(
            f"{location_text(access.op)}: several lanes write one element of {access.name}, in scope "
            f"{Buffer(accessed_memref(access.op)).scope}; they can combine a sum, product, maximum or minimum of a "
            "block that declares its iters as reductions; fix: T.axis.reduce, or store it outside of the loop"
        )
    selecting = {value for index in access.indices for value in index.values}
    chain = [p for p in walk.parents(access.op)[::-1] if p == root or walk.is_inside(p, root)] + [access.op]
    sharing = next(n for n, p in enumerate(chain) if is_loop(p) and owners.lanes_decided([Loop(p)]) & copies)
    outside = [n for n, p in enumerate(chain[:sharing]) if is_loop(p) and Loop(p).var in selecting]
    first = outside[-1] + 1 if outside else 0
    top = first if outside else sharing
    conditional = [n for n, p in enumerate(chain[:sharing]) if isa(p, IfOp) and _differs(p, owners)]
    if conditional:
        top = min(top, conditional[0])
    if conditional and conditional[0] < first:
        raise LoweringError(
            f"{location_text(access.op)}: lanes combine {access.name} under a condition that they do not share; fix: "
            "put the condition into the value (T.if_then_else)"
        )
    spatial = [Loop(p) for p in chain[top:] if is_loop(p) and Loop(p).var in selecting]
    return LaneSum(update, access, chain[top], spatial, bits)


def _differs(op: ir.Operation, owners: Owners) -> bool:
    """Whether the lanes of a warp may take different ways at a condition: all that is not known to be alike."""
    carrying = {var for var, _ in owners.lanes}
    return not isa(op, AffineIfOp) or any(v in carrying for c in constraints(op) for v in c.index.values)


def _is_first_write(access: FragmentAccess, owners: Owners, copies: set[int]) -> bool:
    """Whether a store is under the condition that the loops that share its element are at their first iteration."""
    sharing = {loop.var for loop in access.loops if owners.lanes_decided([loop]) & copies}
    first: set[ir.Value] = set()
    for parent in walk.parents(access.op):
        if isa(parent, AffineIfOp):
            for c in constraints(parent):
                for loop in access.loops:
                    if c.is_eq and c.index.is_equal_to(Index.from_value(loop.var) - loop.lower):
                        first.add(loop.var)
    return sharing <= first


def _require_alone(lane_sum: LaneSum) -> None:
    """Nothing but the update, and a first write before it, uses the elements while they are incomplete."""
    buffer, update = accessed_memref(lane_sum.store), lane_sum.update
    for op in walk.ops(lane_sum.top):
        if isa(op, AccessOp) and accessed_memref(op) == buffer and op not in (*update.stores, *update.loads):
            same = isa(op, AffineStoreOp) and same_indices(access_indices(op), lane_sum.access.indices)
            common = walk.common_parent([op, lane_sum.store])
            earlier = walk.child_towards(common, op).is_before_in_block(walk.child_towards(common, update.loads[0]))
            if not same or not earlier or not isa(walk.parents(op)[0], AffineIfOp):
                raise LoweringError(
                    f"{location_text(op)}: uses {Buffer(buffer).name} in the loop that combines it, where a lane has a "
                    "part of it; fix: decompose_reduction, or a block of its own after the loop"
                )


def _rewrite(lane_sum: LaneSum, lane: Index) -> None:
    combination, top = lane_sum.combination, lane_sum.top
    inits = [
        op
        for op in walk.ops(top)
        if isa(op, AffineStoreOp) and accessed_memref(op) == accessed_memref(lane_sum.store) and op != lane_sum.store
    ]
    constant = _harmless_start(lane_sum, inits)
    if constant is not None or not lane_sum.repeats or inits:
        ip, variables = create.copy_loops(lane_sum.spatial, ir.InsertionPoint(top))
        with ip, lane_sum.store.location:
            indices = [i.substitute(variables) for i in lane_sum.access.indices]
            value = constant and edit.clone(constant, ir.InsertionPoint.current).results[0]
            value = value or _start_of_others(lane_sum, indices, lane)
            create.store(value, accessed_memref(lane_sum.store), indices)
    if constant is not None:
        for init in inits:
            edit.prune(init, top)
    ip, variables = create.copy_loops(lane_sum.spatial, ir.InsertionPoint.after(top))
    with ip, lane_sum.store.location:
        indices = [i.substitute(variables) for i in lane_sum.access.indices]
        values = [create.load(accessed_memref(lane_sum.store), indices)]
        for bit in sorted(lane_sum.bits):
            values = combination.combine(values, [shuffle(values[0], 1 << bit, WARP)])
        create.store(values[0], accessed_memref(lane_sum.store), indices)


def _harmless_start(lane_sum: LaneSum, inits: list[ir.Operation]) -> ir.Operation | None:
    """The constant of the first write, if all lanes may start from it in all iterations."""
    if len(inits) != 1 or any(isa(p, IfOp) for p in _path_between(lane_sum.top, lane_sum.store)):
        return None
    constant = defining_op(StoreOp(inits[0]).value)
    if constant is None or not isa(constant, ConstantOp):
        return None
    value, combination = constant.results[0], lane_sum.combination
    number = constant.attributes["value"]
    zero = combination.op.name in SUMS and isinstance(number, ir.FloatAttr) and number.value == 0  # the identity is -0
    return constant if zero or lane_sum.repeats or combination.is_start([value]) else None


def _path_between(top: ir.Operation, op: ir.Operation) -> list[ir.Operation]:
    """The ops around an op, from `top` inwards."""
    chain = walk.parents(op)
    return chain[: chain.index(top) + 1] if top in chain else []


def _start_of_others(lane_sum: LaneSum, indices: list[Index], lane: Index) -> ir.Value:
    """What a lane starts from: what is there in the first of those that share an element, else what changes nothing."""
    old = create.load(accessed_memref(lane_sum.store), indices)
    (neutral,) = lane_sum.combination.starts() or [old]
    rest = create.apply(any_lane_bit(lane, lane_sum.bits))
    first = arith.cmpi(arith.CmpIPredicate.eq, rest, create.apply(Index.constant(0)))
    return arith.select(first, old, neutral)
