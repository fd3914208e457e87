"""Kernels as loops of a CPU: the threads of a block run one after the other, from one barrier to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Index, Loop, access_indices, attrs, create, edit, matrix_function, to_name, walk
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp, ShuffleOp
from tir_mlir.dialect.ir.op_traits import ATOMICS, MEMREF_OPERAND, accessed_memref, index_operands, is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AllocLikeOp,
    AtomicOp,
    ComputedAccessOp,
    ConstantOp,
    LoadOp,
    StoreOp,
    YieldOp,
    dyn_cast,
    isa,
)
from tir_mlir.passes.lower.gpu.barriers import BARRIER
from tir_mlir.passes.lower.gpu.nests import BLOCK, DEVICE, KernelNest, owner_of, perfect_nests
from tir_mlir.passes.lower.registry import location_text, lowering, programs

_PHASE = "tir.phase"
"""Marks ops with the number of their phase while they are moved (ops that change are no keys)."""
_CONTROL = -1


@lowering("tir-lower-gpu-emulation", "Run the threads of a block one after the other between barriers, for a CPU")
def run(module: ir.Module) -> None:
    """Split the loops over threads at barriers, and make the blocks a parallel loop.

        for %b {                        (blockIdx.x)       parallel for %b {
          %s = memref.alloc "shared"                         %s = memref.alloc "shared"
          for %t {                      (threadIdx.x)        %v = memref.alloc : memref<64xf32>
            %v = load %A[%t]                                 for %t {
            store %v, %s[%t]                     -->           store (load %A[%t]), %v[%t], %s[%t]
            gpu.barrier                                      }
            store %v + (load %s[63 - %t]), %B[%t]            for %t {
          }                                                    store %v[%t] + (load %s[63 - %t]), %B[%t]
        }                                                    }
                                                           }

    A loop or condition with a barrier in it goes around the loops over threads: all threads of a block run it alike.
    What a thread keeps over a barrier, buffers and values, gets one copy a thread; what costs nothing to compute again
    is. A shuffle is a store, a barrier and a load. Nothing is proved: the result is what the barriers that are there
    let happen. Requires the form after `tir-lower-gpu-barriers`. Errors: LoweringError for a barrier in control that
    depends on the thread, or in a loop that carries values.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if name := matrix_function(op):
                raise LoweringError(
                    f"{location_text(op)}: {name} works on tensor cores, which a CPU does not have; fix: "
                    'interpret(..., target="cuda") or verify(target="cuda") runs the kernels without a GPU'
                )
        for nest in perfect_nests(func):
            updates = [op for op in walk.ops(nest.root) if isa(op, AtomicOp)]
            between_blocks = any(owner_of(Buffer(accessed_memref(op)).root) == DEVICE for op in updates)
            for op in updates:
                _update_plainly(op)
            for op in walk.ops(nest.root):
                if shuffle := dyn_cast(op, ShuffleOp):
                    _shuffle_through_memory(shuffle, nest)
                elif isa(op, AllocLikeOp) and nest.threads and owner_of(Buffer(op.results[0])) == BLOCK:
                    edit.move_before(op, _block_body(nest))
            if any(isa(op, BarrierOp) for op in walk.ops(nest.root)):
                _Threads(nest).split()
            else:
                for axis in nest.threads:
                    attrs.put(axis.op, attrs.KIND, None)
            _run_blocks(nest.blocks, serial=between_blocks)


def _update_plainly(op: ir.Operation) -> None:
    """An atomic update as what one thread at a time does: a load, an operator, a store."""
    update, indices = AtomicOp(op), index_operands(op)
    kind = arith.AtomicRMWKind(ir.IntegerAttr(op.attributes["kind"]).value).name
    operator = next(name for name, atomic in ATOMICS.items() if atomic == kind)
    with ir.InsertionPoint(op), op.location:
        old = memref.load(update.memref, indices)
        new = ir.Operation.create(operator, [old.type], [old, update.value]).results[0]
        memref.store(new, update.memref, indices)
    edit.drop(op)


def _run_blocks(axes: Sequence[Loop], serial: bool) -> None:
    """Make the first loop over more than one block parallel, the others serial. serial: all of them, as blocks update
    what they share."""
    many = next((axis for axis in axes if axis.const_extent != 1 and not serial), None)
    for axis in axes:
        attrs.put(axis.op, attrs.KIND, "parallel" if axis == many else None)


def _block_body(nest: KernelNest) -> ir.Operation:
    """The op outside of all threads, before which buffers of a block are created."""
    return nest.threads[0].op


def _shuffle_through_memory(shuffle: ShuffleOp, nest: KernelNest) -> None:
    """A shuffle over memory: %r = gpu.shuffle xor %v, 4   -->   store %v, %S[t]; gpu.barrier; %r = load %S[t xor 4]."""
    op, value = shuffle.op, shuffle.value
    mode = str(op.attributes["mode"])
    amount = shuffle.offset.owner
    if "xor" not in mode or isinstance(amount, ir.Block) or not isa(amount, ConstantOp):
        raise LoweringError(
            f"{location_text(op)}: a shuffle of the mode {mode}, of which only xor by a constant is run"
        )
    offset = ir.IntegerAttr(amount.attributes["value"]).value
    thread, count = Index.constant(0), 1
    for axis in nest.threads[::-1]:
        thread, count = thread + Index.from_value(axis.var) * count, count * (axis.const_extent or 1)
    anchor = _block_body(nest)
    with ir.InsertionPoint(anchor), op.location:
        slots = create.alloc("shuffled", [count], to_name(value.type), "shared")
    with ir.InsertionPoint(op), op.location:
        create.store(value, slots, [thread])
        ir.Operation.create(BARRIER)
        bit = thread // offset % 2
        result = create.load(slots, [thread + offset - bit * (2 * offset)])
        edit.replace_uses(op.results[0], result)
        edit.replace_uses(op.results[1], arith.constant(ir.IntegerType.get_signless(1), True))
    edit.drop(op)


@dataclass
class _Phase:
    """Ops of one body that all threads run between two barriers. variables: what stands for the old loop variables."""

    body: ir.Block
    number: int
    ops: list[ir.Operation] = field(default_factory=list)
    variables: dict[ir.Value, ir.Value] = field(default_factory=dict)
    copies: dict[ir.Value, ir.Value] = field(default_factory=dict)
    start: ir.Operation | None = None


class _Threads:
    """The threads of a kernel, whose work is split into phases."""

    def __init__(self, nest: KernelNest):
        self._nest = nest
        self._top = nest.root.regions[0].blocks[0]
        self._phases: list[_Phase] = []
        self._order: list[_Phase | ir.Operation] = []
        self._sizes = [axis.const_extent or 0 for axis in nest.threads]

    def split(self) -> None:
        for axis in self._nest.threads[:-1]:
            for op in [o for o in axis.body_ops() if isa(o, AllocLikeOp)]:  # shared, of a kernel without blocks
                edit.move_before(op, _block_body(self._nest))
        self._mark_control()
        self._find(self._top)
        for phase in self._phases:
            self._begin(phase)
        for is_buffer in (True, False):  # buffers first, which replaces the ops that use them
            for phase in self._phases:
                for op in [op for op in phase.ops if (isa(op, AllocLikeOp)) == is_buffer]:
                    for result in op.results:
                        self._keep(result, phase)
        self._raise_control()
        for phase in self._phases:
            for op in phase.start.block.operations:  # type: ignore[union-attr]
                attrs.put(op.operation, _PHASE, None)
        for item in self._order:
            if not isinstance(item, _Phase):
                attrs.put(item, _PHASE, None)
        edit.drop(_block_body(self._nest))

    # --- phases ---

    def _mark_control(self) -> None:
        """Mark the barriers, and the ops that contain one."""
        for op in walk.ops(self._nest.root):
            if isa(op, BarrierOp):
                chain = [op, *walk.parents(op)]
                for enclosing in chain[: chain.index(self._nest.root)]:
                    attrs.put(enclosing, _PHASE, _CONTROL)

    def _assign(self, op: ir.Operation, phase: _Phase) -> None:
        attrs.put(op, _PHASE, phase.number)

    def _phase_of(self, op: ir.Operation) -> _Phase | None:
        """The phase of an op in the body of a thread; None for control, and for other ops."""
        number = attrs.get(op, _PHASE, _CONTROL)
        return None if number == _CONTROL else self._phases[number]

    def _find(self, body: ir.Block) -> None:
        """Assign the ops of a body to phases."""
        phase = _Phase(body, len(self._phases))
        for view in list(body.operations):
            op = view.operation
            if isa(op, YieldOp):
                if len(op.operands):
                    owner = body.owner.operation
                    raise LoweringError(f"{location_text(owner)}: a barrier is in a loop or condition with results")
            elif attrs.get(op, _PHASE) != _CONTROL:
                phase.ops.append(op)
                self._assign(op, phase)
                continue
            self._end(phase)
            if isa(op, BarrierOp):
                edit.drop(op)
            elif not isa(op, YieldOp):
                self._order.append(op)
                for region in op.regions:
                    for inner in region.blocks:
                        self._find(inner)
            phase = _Phase(body, len(self._phases))  # after those in the body of the op
        self._end(phase)

    def _end(self, phase: _Phase) -> None:
        if phase.ops:
            self._phases.append(phase)
            self._order.append(phase)

    def _begin(self, phase: _Phase) -> None:
        """Create the loops over threads of a phase, and move its ops into them."""
        anchor = _block_body(self._nest) if phase.body == self._top else phase.ops[0]
        for axis in self._nest.threads:
            with ir.InsertionPoint(anchor), axis.op.location:
                loop = create.loop(axis.name, 0, axis.const_extent or 0)
            phase.variables[axis.var] = loop.var
            anchor = list(loop.body.operations)[-1].operation
        phase.start = anchor
        for op in phase.ops:
            edit.move_before(op, anchor)
            edit.replace_values(op, phase.variables)

    def _raise_control(self) -> None:
        """Move the loops and conditions with barriers out of the threads, each between the phases around it."""
        anchor: ir.Operation = _block_body(self._nest)
        for item in reversed(self._order):
            if isinstance(item, _Phase):
                if item.body == self._top:
                    anchor = walk.parents(item.start)[len(self._nest.threads) - 1]  # type: ignore[arg-type]
            elif item.block == self._top:
                edit.move_before(item, anchor)
                anchor = item
            if not isinstance(item, _Phase):
                for number, operand in enumerate(list(item.operands)):
                    edit.set_operand(item, number, self._compute_uniform(operand, item))

    # --- values and buffers of a thread ---

    def _keep(self, value: ir.Value, phase: _Phase) -> None:
        """Make a value of a thread, or its buffer, known in the other phases that use it."""
        users: dict[int, tuple[_Phase, list[ir.Operation]]] = {}
        for use in value.uses:
            user = use.owner.operation
            user_phase = self._phase_of_user(user)
            if user_phase is not None and user_phase is not phase:
                users.setdefault(id(user_phase), (user_phase, []))[1].append(user)
        if not users:
            return
        op = value.owner.operation  # type: ignore[union-attr]
        if isa(op, AllocLikeOp):
            self._expand(op, phase, [user_phase for user_phase, _ in users.values()])
            return
        slots = None if self._is_cheap(op) else self._spill(value, phase)
        for user_phase, ops in users.values():
            new = self._recompute(value, user_phase) if slots is None else self._reload(value, slots, user_phase)
            for user in ops:
                for number, operand in enumerate(list(user.operands)):
                    if operand == value:
                        edit.set_operand(user, number, new)

    def _phase_of_user(self, user: ir.Operation) -> _Phase | None:
        """The phase in which an op runs; None for control around phases."""
        for op in [user, *walk.parents(user)]:
            if _PHASE in op.attributes:
                return self._phase_of(op)
        return None

    def _is_cheap(self, op: ir.Operation) -> bool:
        """Whether an op is computed again instead of kept: it has no side effects, and reads no memory."""
        if not is_pure(op) or isa(op, LoadOp) or len(op.regions):
            return False
        owners = [v.owner for v in op.operands]
        return all(
            isinstance(owner, ir.Block) or self._phase_of(owner.operation) is None or self._is_cheap(owner.operation)
            for owner in owners
        )

    def _recompute(self, value: ir.Value, phase: _Phase) -> ir.Value:
        """A value of another phase, computed at the start of this one."""
        if value in phase.copies:
            return phase.copies[value]
        owner = value.owner
        old = self._old_variable(value)
        if old is not None:
            return phase.variables[old]
        if isinstance(owner, ir.Block) or self._phase_of(owner.operation) is None:
            return value
        op = owner.operation
        copies = {v: self._recompute(v, phase) for v in op.operands}
        body = phase.start.block  # type: ignore[union-attr]
        first = next((o.operation for o in body.operations if o.operation in phase.ops), phase.start)
        copy = edit.clone(op, ir.InsertionPoint(first), copies)  # type: ignore[arg-type]
        self._assign(copy, phase)
        phase.copies.update(zip(op.results, copy.results, strict=True))
        return phase.copies[value]

    def _old_variable(self, value: ir.Value) -> ir.Value | None:
        """The axis that a variable of a phase stands for."""
        for phase in self._phases:
            for old, new in phase.variables.items():
                if value in (old, new):
                    return old
        return None

    def _threads(self, phase: _Phase) -> list[Index]:
        return [Index.from_value(phase.variables[axis.var]) for axis in self._nest.threads]

    def _spill(self, value: ir.Value, phase: _Phase) -> ir.Value:
        """A buffer with a value of each thread, stored where it is computed."""
        op = value.owner.operation  # type: ignore[union-attr]
        if isinstance(value.type, ir.MemRefType):
            raise LoweringError(f"{location_text(op)}: a barrier is between {op.name} and its use")
        with ir.InsertionPoint(self._first_op()), op.location:
            slots = create.alloc("kept", self._sizes, to_name(value.type))
        siblings = [o.operation for o in op.block.operations]
        following = siblings[siblings.index(op) + 1]
        with ir.InsertionPoint(following), op.location:
            self._assign(create.store(value, slots, self._threads(phase)), phase)
        return slots

    def _reload(self, value: ir.Value, slots: ir.Value, phase: _Phase) -> ir.Value:
        body = phase.start.block  # type: ignore[union-attr]
        with create.at_start(body), value.owner.operation.location:  # type: ignore[union-attr]
            result = create.load(slots, self._threads(phase))
        self._assign(result.owner.operation, phase)  # type: ignore[union-attr]
        return result

    def _first_op(self) -> ir.Operation:
        """The first op of a block of threads."""
        return _block_body(self._nest).block.operations[0].operation

    def _expand(self, op: ir.Operation, phase: _Phase, others: Sequence[_Phase]) -> None:
        """A buffer of a thread that phases share: one copy a thread, or, if one phase alone uses it, one in that."""
        alone = all(self._phase_of_user(use.owner.operation) is others[0] for use in op.results[0].uses)
        if alone and others[0].body == phase.body:
            body = others[0].start.block  # type: ignore[union-attr]
            edit.move_before(op, body.operations[0].operation)
            return
        buffer = Buffer(op.results[0])
        shape = [size or 0 for size in buffer.shape]
        with ir.InsertionPoint(self._first_op()), op.location:
            copies = create.alloc(buffer.name, [*self._sizes, *shape], buffer.dtype)
        for user in list(dict.fromkeys(use.owner.operation for use in op.results[0].uses)):
            using = self._phase_of_user(user)
            assert using is not None  # no condition of a loop takes a buffer
            self._use_thread_copy(user, op.results[0], copies, self._threads(using))
        phase.ops.remove(op)
        edit.drop(op)

    def _use_thread_copy(self, user: ir.Operation, old: ir.Value, copies: ir.Value, thread: Sequence[Index]) -> None:
        """Let an op use the copy of a thread of a buffer."""
        if not isa(user, AffineElementAccessOp, ComputedAccessOp):
            raise LoweringError(
                f'{location_text(user)}: {user.name} of buffer "{Buffer(old).name}", which threads keep over a barrier'
            )
        with ir.InsertionPoint(user), user.location:
            if isa(user, ComputedAccessOp):
                number = MEMREF_OPERAND[user.name]
                operands = list(user.operands)
                operands[number : number + 1] = [copies, *(create.apply(index) for index in thread)]
                new = ir.Operation.create(user.name, [r.type for r in user.results], operands)
            elif len(user.results):
                new = create.load(copies, [*thread, *access_indices(user)]).owner.operation
            else:
                new = create.store(StoreOp(user).value, copies, [*thread, *access_indices(user)]).operation
        for old_result, new_result in zip(user.results, new.results, strict=True):
            edit.replace_uses(old_result, new_result)
        if (phase := self._phase_of(user)) is not None:
            phase.ops[phase.ops.index(user)] = new
            self._assign(new, phase)
        edit.drop(user)

    def _compute_uniform(self, value: ir.Value, anchor: ir.Operation) -> ir.Value:
        """A value that all threads have, computed before an op outside of the threads."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            old = self._old_variable(value)
            if old is not None and Loop(old.owner.owner).const_extent == 1:  # type: ignore[union-attr]
                with ir.InsertionPoint(anchor), anchor.location:
                    return arith.constant(ir.IndexType.get(), 0)
            if old is not None:
                raise LoweringError(f"{location_text(anchor)}: a barrier is in control that depends on the thread")
            return value
        op = owner.operation
        if self._phase_of(op) is None:
            return value
        if not is_pure(op) or len(op.regions):
            raise LoweringError(f"{location_text(anchor)}: a barrier is in control that depends on {op.name}")
        copies = {v: self._compute_uniform(v, anchor) for v in op.operands}
        return edit.clone(op, ir.InsertionPoint(anchor), copies).results[list(op.results).index(value)]
