"""Vectorized loops of kernels: straight-line code, with vector loads and stores of adjacent, aligned elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from mlir import ir
from mlir.dialects import vector

from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    access_indices,
    apply,
    attrs,
    create,
    defining_op,
    dtypes,
    edit,
    is_loop,
    step,
    walk,
)
from tir_mlir.dialect.ir.lowering_op_views import ExtractOp
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AccessOp, AffineIfOp, AffineLoadOp, AffineStoreOp, IfOp, StoreOp, WriteOp, isa
from tir_mlir.passes.lower.outcomes import Outcomes
from tir_mlir.passes.lower.registry import lowering, programs

MAX_BYTES = 16
"""Bytes that a thread loads or stores at once."""
MAX_LANES = 64


@lowering("tir-lower-gpu-vectors", "Unroll vectorized loops of kernels; adjacent aligned accesses become vector ones")
def run(module: ir.Module) -> None:
    """Unroll each vectorized loop, op by op, for all lanes.

        for %v = 0 to 4 {                 (vectorized)      %r = vector.load %A[%i * 4] {alignment = 16} : 4 x f32
          %x = affine.load %A[%i * 4 + %v]                  %x0 = vector.extract %r[0] ... %x3 = vector.extract %r[3]
          affine.store %x, %S[%v, %i]              -->      affine.store %x0, %S[0, %i] ... %x3, %S[3, %i]
        }

    Accesses whose elements are adjacent and start at a multiple of their width are of 16 bytes, else of 8 or less; the
    others are of single elements. Their buffers have to be aligned as much (`tir-lower-gpu-kernels` says so of
    arguments). A value that a condition chooses for all lanes is chosen outside of the loop. A loop without a constant
    extent, or with loops or other conditions inside, becomes an unrolled or serial one,
    with a LoweringWarning that says why. Requires final strides, and iterations that are proved independent.
    """
    outcomes = Outcomes()
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "vectorized"][::-1]:
            _choose_before(Loop(op))
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "vectorized"][::-1]:
            loop = Loop(op)
            _hoist_condition(loop)
            key = Outcomes.key(loop, f'vectorized loop "{loop.name}" runs element by element')
            why = _refusal_reason(loop)
            outcomes.add_piece(loop, key, why)
            if why:
                attrs.put(op, attrs.KIND, "unrolled" if (loop.const_extent or MAX_LANES + 1) <= MAX_LANES else None)
            else:
                _Lanes(loop).unroll()
    outcomes.warn()


def _choose_before(loop: Loop) -> None:
    """Make two loops of one that chooses values by a condition which is the same for all of its iterations: tiles that
    are filled with zeros outside of an array.

    for %v = 0 to 4 {                                               if %i * 4 < 1000 {
      %x = if %i * 4 + %v < 1000 { load %A[..] } else { 0.0 }         for %v = 0 to 4 { store (load %A[..]), %S[..] }
      store %x, %S[..]                                        -->   } else { for %v = 0 to 4 { store 0.0, %S[..] } }
    }
    """
    choices = [op for op in loop.body_ops() if isa(op, IfOp, AffineIfOp) and len(op.results)]
    if loop.const_extent is None or len(choices) != 1 or not isa(choices[0], AffineIfOp):
        return
    conditions = [_condition_for_all_lanes(condition, loop) for condition in walk.constraints(choices[0])]
    if not all(condition is not None for condition in conditions):
        return
    with ir.InsertionPoint(loop.op), choices[0].location:
        holder = create.guard([c for c in conditions if c is not None], has_else=True)
    number = loop.body_ops().index(choices[0])
    for constant, region in zip((0, -1), holder.regions, strict=True):
        copy = Loop(edit.clone(loop.op, ir.InsertionPoint.at_block_begin(region.blocks[0])))
        edit.renumber(copy.op)
        edit.rebuild_guard(copy.body_ops()[number], [Constraint(Index.constant(constant))])
        edit.fold_choices(copy.op)
    edit.drop(loop.op)


def _hoist_condition(loop: Loop) -> None:
    """Move a condition around the whole body of a loop out of it, if it is the same for all iterations.

    for %v = 0 to 4 {                             if %i * 4 < 1000 {
      if %i * 4 + %v < 1000 {..%v..}       -->      for %v = 0 to 4 {..%v..}
    }                                             }
    """
    body = loop.body_ops()
    if len(body) != 1 or not isa(body[0], AffineIfOp) or len(body[0].regions[1].blocks) or loop.const_extent is None:
        return
    conditions = [_condition_for_all_lanes(condition, loop) for condition in walk.constraints(body[0])]
    if all(condition is not None for condition in conditions):
        with ir.InsertionPoint(loop.op), body[0].location:
            holder = create.guard([condition for condition in conditions if condition is not None])
        edit.move_before(loop.op, list(holder.regions[0].blocks[0].operations)[-1])
        for op in list(body[0].regions[0].blocks[0].operations)[:-1]:
            edit.move_before(op, body[0])
        edit.drop(body[0])


def _condition_for_all_lanes(condition: Constraint, loop: Loop) -> Constraint | None:
    """A condition on the first iteration that holds if and only if the given one does in each; None if unknown."""
    first = condition.index.substitute({loop.var: loop.lower}).simplify()
    by = step(condition.index, loop.var)
    if by == 0:
        return Constraint(first, condition.is_eq)
    width = loop.const_extent or 0
    # first - 0 >= 0, ..., first - (width - 1) >= 0: all or none, as first + 1 is a multiple of the width
    same = by == -1 and not condition.is_eq and divisor((first + 1).simplify().expr) % width == 0
    return Constraint(first) if same else None


def _refusal_reason(loop: Loop) -> str:
    """Why a loop does not become vectors; "" if it does."""
    extent = loop.const_extent
    if extent is None:
        return "its extent is not constant; split it by 2 or 4 and vectorize the inner loop"
    if extent > MAX_LANES:
        return f"it has {extent} iterations, at most {MAX_LANES}; split it and vectorize the inner loop"
    inner = next((op for op in loop.body_ops() if len(op.regions)), None)
    if inner is not None:
        what = f"loop {Loop(inner).name}" if is_loop(inner) else "a condition"
        return f"it contains {what}; vectorize an innermost loop whose iterations all run"
    shared = _shared_by_lanes(loop)
    return f"its iterations use one element of {shared}, as a reduction does; vectorize another loop" if shared else ""


def _shared_by_lanes(loop: Loop) -> str:
    """A buffer of which an iteration may write what another one uses; "" if there is none."""
    accesses = [op for op in loop.body_ops() if isa(op, AccessOp)]
    for written in {accessed_memref(op) for op in accesses if isa(op, WriteOp)}:
        users = [op for op in accesses if accessed_memref(op) == written]
        if any(not isa(op, AffineLoadOp, AffineStoreOp) for op in users):
            return Buffer(written).name
        elements = [access_indices(op) for op in users]
        same = all(a.is_equal_to(b) for indices in elements for a, b in zip(indices, elements[0], strict=True))
        if not same or not any(step(i, loop.var) for i in elements[0]):
            return Buffer(written).name
    return ""


class _Lanes:
    """A loop without loops or conditions inside, and what its values are in each lane."""

    def __init__(self, loop: Loop):
        self.loop, self.width = loop, loop.const_extent or 0
        self.values: list[dict[ir.Value, ir.Value]] = [{} for _ in range(self.width)]

    def unroll(self) -> None:
        """Replace the loop by its iterations, side by side."""
        with ir.InsertionPoint(self.loop.op), self.loop.op.location:
            for lane in range(self.width):
                self.values[lane][self.loop.var] = apply(self.loop.lower + lane)
        for op in self.loop.body_ops():
            with ir.InsertionPoint(self.loop.op), op.location:
                self._emit(op)
        edit.drop(self.loop.op)

    def _emit(self, op: ir.Operation) -> None:
        runs = self._runs(op) if isa(op, AffineLoadOp, AffineStoreOp) else [1] * self.width
        lane = 0
        for run_ in runs:
            if run_ > 1:
                (self._load if isa(op, AffineLoadOp) else self._store)(op, lane, run_)
            else:
                copy = op.clone(ir.InsertionPoint(self.loop.op)).operation
                for number, operand in enumerate(list(copy.operands)):
                    copy.operands[number] = self.values[lane].get(operand, operand)
                self.values[lane].update(zip(op.results, copy.results, strict=True))
            lane += run_

    def _runs(self, op: ir.Operation) -> list[int]:
        """The numbers of lanes that are accessed at once: powers of two."""
        most = min(adjacent_elements(accessed_memref(op), access_indices(op), self.loop), self.width)
        width = 1 << (most.bit_length() - 1)
        return [width] * (self.width // width) + [1] * (self.width % width)

    def _load(self, op: ir.Operation, lane: int, width: int) -> None:
        type_ = ir.VectorType.get([width], op.results[0].type)
        values, facts = self._access(op, lane, width)
        row = ir.Operation.create("vector.load", [type_], [accessed_memref(op), *values], facts).results[0]
        for n in range(width):
            self.values[lane + n][op.results[0]] = vector.extract(row, [], [n])

    def _store(self, op: ir.Operation, lane: int, width: int) -> None:
        value = StoreOp(op).value
        lanes = [self.values[lane + n].get(value, value) for n in range(width)]
        type_ = ir.VectorType.get([width], value.type)
        values, facts = self._access(op, lane, width)
        row = _pack_lanes(lanes, type_)
        ir.Operation.create("vector.store", [], [row, accessed_memref(op), *values], facts)

    def _access(self, op: ir.Operation, lane: int, width: int) -> tuple[list[ir.Value], dict[str, ir.Attribute]]:
        """The indices of the first lane, and the alignment."""
        point = {self.loop.var: self.loop.lower + lane}
        values = [apply(index.substitute(point).simplify()) for index in walk.access_indices(op)]
        size = width * dtypes.bits(Buffer(accessed_memref(op)).dtype) // 8
        return values, {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)}


def adjacent_elements(memref: ir.Value, indices: Sequence[Index], loop: Loop) -> int:
    """A power of two of adjacent elements that an access at some indices touches in the first iterations of a loop, and
    that start at a multiple of their number; 1 if there is none."""
    strides, offset = ir.MemRefType(memref.type).get_strides_and_offset()
    steps = [step(index, loop.var) for index in indices]
    element = dtypes.bits(Buffer(memref).dtype) // 8
    if not indices or element == 0 or steps != [0] * (len(steps) - 1) + [1] or strides[-1] != 1 or offset < 0:
        return 1
    first = [index.substitute({loop.var: loop.lower}) for index in indices]
    start = gcd(offset, *(divisor(index.expr) * max(s, 0) for index, s in zip(first, strides, strict=True) if s > 0))
    if any(s < 0 for s in strides[:-1]):  # a stride that is not known
        return 1
    start = start or MAX_BYTES
    return min(start & -start, MAX_BYTES // element)


def _pack_lanes(lanes: Sequence[ir.Value], type_: ir.Type) -> ir.Value:
    """The lanes as a vector; the vector that they were taken from, if they are all of one."""
    sources = [e for value in lanes if (e := defining_op(value, ExtractOp)) and len(e.operands) == 1]
    if len(sources) == len(lanes):
        vectors = {extract.source for extract in sources}
        numbers = [attrs.integers(extract.op, "static_position") for extract in sources]
        if len(vectors) == 1 and numbers == [[n] for n in range(len(lanes))] and next(iter(vectors)).type == type_:
            return next(iter(vectors))
    return ir.Operation.create("vector.from_elements", [type_], list(lanes)).results[0]


def divisor(expr: ir.AffineExpr) -> int:
    """A number that divides all values of an expression; 0 if it is 0."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return abs(expr.value)
    if not isinstance(expr, ir.AffineBinaryExpr):
        return 1
    lhs, rhs = divisor(expr.lhs), divisor(expr.rhs)
    if isinstance(expr, ir.AffineAddExpr):
        return gcd(lhs, rhs)
    if isinstance(expr, ir.AffineMulExpr):
        return lhs * rhs
    if isinstance(expr, ir.AffineModExpr):
        return gcd(lhs, rhs)
    return lhs // rhs if rhs and lhs % rhs == 0 else 1


def alignment_of(buffer: ir.Value) -> int:
    """The bytes that the accesses to a buffer, and to views of it, need it to be aligned to."""
    needed = max(dtypes.bits(Buffer(buffer).dtype) // 8, 1)
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            op = use.owner.operation
            if isa(op, AccessOp) and "alignment" in op.attributes:
                needed = max(needed, ir.IntegerAttr(op.attributes["alignment"]).value)
            pending += [result for result in op.results if isinstance(result.type, ir.MemRefType)]
    return needed
