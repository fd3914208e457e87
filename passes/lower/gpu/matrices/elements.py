"""Operations on the elements of fragments: each lane runs the iterations whose elements it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.analysis import relation_of
from tir_mlir.dialect.analysis.accesses import accesses_of_op
from tir_mlir.dialect.diagnostics import LoweringError, NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    Loop,
    access_indices,
    constraints,
    create,
    edit,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.fragments import WARP
from tir_mlir.dialect.ir.index import same_indices
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AccessOp,
    AffineElementAccessOp,
    AffineStoreOp,
    AllocLikeOp,
    WriteOp,
    isa,
)
from tir_mlir.dialect.presburger import BUILD_OPERATIONS, dim_type, question
from tir_mlir.passes.lower.gpu.matrices.distribution import Distribution
from tir_mlir.passes.lower.gpu.matrices.owners import Owners, element_accesses
from tir_mlir.passes.lower.gpu.matrices.registers import FragmentRegisters
from tir_mlir.passes.lower.gpu.matrices.row_sums import combine_over_lanes
from tir_mlir.passes.lower.gpu.matrices.warp_syncs import OrderedMemory, sync_warp
from tir_mlir.passes.lower.gpu.thread_tags import first_lane
from tir_mlir.passes.lower.registry import location_text

Registers = Mapping[ir.Value, FragmentRegisters]


def lower_element_nests(func: Func, registers: Registers) -> None:
    """Let each lane run its part of the nests that access single elements of fragments.

        if %t == 0 {                                         for %r1 = 0 to 2 {
          for %i = 0 to 16 {                                   for %n = 0 to 4 { for %r0 = 0 to 2 {
            for %j = 0 to 32 {                                   %x = %S[%n, %r1 * 2 + %r0] * %C[0, %r1]
              %x = %S[%i, %j] * %C[%i]            -->            store %x, %B[%r1 * 8 + %t / 4,
              store %x, %B[%i, %j]                                            %n * 8 + %t % 4 * 2 + %r0]
            }                                                  }}
        }}                                                   }

    Which lane runs an iteration follows from the layouts of the fragments: the bits of loops that they put into lanes
    become those of the lane's number, the others loops over registers. The order of what a lane does is that of the
    program. What lanes hold in copies (`mma.row`) all of them write; a sum over lanes is combined by shuffles. The
    condition that the first lane stands for its warp is gone; the warp is in step around accesses to memory that
    others access. Errors: LoweringError for an access to what another lane holds, with both lanes, registers and
    elements; for memory that two lanes write, or one writes and another one reads.
    """
    guards = [(op, axis) for op in walk.ops(func.op) if (axis := first_lane(op)) and _uses(op, registers)]
    memory = OrderedMemory(func)
    for guard, axis in guards:
        in_step = memory.matters(guard)
        roots = _take_out(guard, axis)
        lane = Index.from_value(axis.var)
        nests = [op for op in roots if _uses(op, registers)]
        if in_step:
            _synchronize(nests)
        for op in nests:
            _lower_nest(op, registers, lane if axis.const_extent == WARP else lane % WARP)


def _uses(root: ir.Operation, registers: Registers) -> bool:
    return any(isa(op, AccessOp) and Buffer(accessed_memref(op)).root.value in registers for op in walk.ops(root))


def _take_out(guard: ir.Operation, axis: Loop) -> list[ir.Operation]:
    """Let all lanes run what is under the condition of the first one. Returns the ops."""
    ops = [op.operation for op in guard.regions[0].blocks[0].operations][:-1]
    others = [c for c in constraints(guard) if c.index.simplify().is_value() != axis.var]
    anchor = guard
    if others:
        with ir.InsertionPoint(guard), guard.location:
            anchor = list(create.guard(others).regions[0].blocks[0].operations)[-1].operation
    for op in ops:
        edit.move_before(op, anchor)
    edit.drop(guard)
    return ops


def _synchronize(nests: Sequence[ir.Operation]) -> None:
    with ir.InsertionPoint(nests[0]), nests[0].location:
        sync_warp()
    with ir.InsertionPoint.after(nests[-1]), nests[-1].location:
        sync_warp()


def _lower_nest(root: ir.Operation, registers: Registers, lane: Index) -> None:
    """lane: the number of the lane in its warp."""
    _require_no_copies(root)
    owners = Owners.find(element_accesses(root, registers))
    _check_memory(root, owners, registers)
    before = [op.operation for op in root.block.operations]
    combine_over_lanes(root, owners, lane)
    tops = [op.operation for op in root.block.operations if op.operation == root or op.operation not in before]
    for top in tops:
        Distribution(top, Owners.find(element_accesses(top, registers)), registers, lane).run()


# --- memory -----------------------------------------------------------------------------------------------------------


def _require_no_copies(root: ir.Operation) -> None:
    """Refuse buffers of which each lane would have a copy of its own."""
    for op in walk.ops(root):
        value = accessed_memref(op) if isa(op, AccessOp) else op.results[0] if isa(op, AllocLikeOp) else None
        if value is not None and (buffer := Buffer(value).root).scope in ("local", "warp"):
            raise LoweringError(
                f"{location_text(op)}: {buffer.name}, in scope {buffer.scope}, is used together with fragments, which "
                "the lanes of a warp share; fix: scope mma.accumulator for a matrix, mma.row for one value a row"
            )


def _check_memory(root: ir.Operation, owners: Owners, registers: Registers) -> None:
    """No lane writes what another one writes or reads in the nest."""
    touched = [op for op in walk.ops(root) if isa(op, AccessOp) and accessed_memref(op) not in registers]
    for store in [op for op in touched if isa(op, WriteOp)]:
        buffer = Buffer(accessed_memref(store)).root
        if not isa(store, AffineStoreOp) or not _writes_once(store, root, owners):
            raise LoweringError(
                f"{location_text(store)}: several lanes may write one element of {buffer.name}; fix: sum into a buffer "
                "of scope mma.row, and store that"
            )
        for other in touched:
            if other == store or Buffer(accessed_memref(other)).root != buffer:
                continue
            if not isa(other, AffineElementAccessOp) or not same_indices(access_indices(other), access_indices(store)):
                raise LoweringError(
                    f"{location_text(other)}: a lane uses an element of {buffer.name} that another one may write in "
                    "the same nest; fix: a nest of its own for each of them"
                )


def _writes_once(store: ir.Operation, root: ir.Operation, owners: Owners) -> bool:
    """Whether iterations in different lanes write different elements."""
    (access,) = accesses_of_op(store)
    touch = relation_of(access)
    loops = [Loop(p) for p in walk.parents(store) if is_loop(p)]
    outer = [loop for loop in loops if walk.is_inside(root, loop.op) and loop.op != root]
    try:
        with question(f"whether lanes write different elements of {Buffer(access.buffer).name}", BUILD_OPERATIONS):
            pairs = touch.relation.apply_range(touch.relation.reverse())
            for number in (touch.dom.index_of(loop.var) for loop in outer):
                pairs = pairs.equate(dim_type.in_, number, dim_type.out, number)
            numbers = [touch.dom.index_of(loop.var) for loop in loops if owners.lane_bits(loop)]
            orders = (pairs.order_lt, pairs.order_gt)
            return all(order(dim_type.in_, n, dim_type.out, n).is_empty() for n in numbers for order in orders)
    except NotProvable:
        return False
