"""Virtual threads: each thread does the work of several, statement by statement."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Func, Index, Loop, attrs, create, edit, emit_map, is_loop, owner_op, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref, stored_value
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AllocLikeOp, WriteOp, isa
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.lower.gpu.thread_tags import is_local, is_vthread
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-vthreads", "Move virtual threads into serial loops, around what depends on them")
def run(module: ir.Module) -> None:
    """Move each loop over virtual threads inwards, to the statements that use its variable, and unroll it there.

        for %v = 0 to 2 {            (vthread)          %l = memref.alloc : memref<2x4xf32, "local">
          %l = memref.alloc : memref<4xf32, "local">    for %k {
          for %k {                                        fill %s[..]
            fill %s[..]                         -->       for %v = 0 to 2 {                           (unrolled)
            %l[..] += %s[%v, ..]                            %l[%v, ..] += %s[%v, ..]
        }}                                              }}

    `bind` has proved the iterations independent, so any order of their statements is right; what does not depend on
    the variable is done once. A buffer private to an iteration gets a copy for each. Where statements would share
    memory that they do not share in the program, the loop remains as it is, serial.
    """
    for func in programs(module):
        move_vthreads(func)


def move_vthreads(func: Func) -> None:
    """Move the loops over virtual threads of one function."""
    for op in [op for op in walk.ops(func.op) if is_vthread(op)][::-1]:
        loop = Loop(op)
        attrs.put(op, attrs.KIND, None)
        if loop.const_extent and _may_move(loop):
            for alloc in [inner for inner in walk.ops(op) if isa(inner, AllocLikeOp)]:
                if is_local(Buffer(alloc.results[0])):
                    _expand(alloc, loop)
            _VthreadLoop(loop).run()


def _may_move(loop: Loop) -> bool:
    """Whether buffers of an iteration can get a copy each, and no other buffer is written differently by two."""
    allocs = [op for op in walk.ops(loop.op) if isa(op, AllocLikeOp)]
    local = {op.results[0] for op in allocs if is_local(Buffer(op.results[0]))}
    if any(not isa(use.owner, AffineElementAccessOp) for value in local for use in value.uses):
        return False
    depth = sum(1 for op in walk.parents(loop.op) if is_loop(op))
    written = dict.fromkeys(accessed_memref(op) for op in walk.ops(loop.op) if isa(op, WriteOp))
    return all(_is_apart(value, loop, depth) for value in written if value not in local and not Buffer(value).is_param)


def _is_apart(value: ir.Value, loop: Loop, depth: int) -> bool:
    """Whether iterations use elements of their own of a buffer, or write the same to it."""
    writes = [use.owner.operation for use in value.uses if isa(use.owner, WriteOp)]
    if not any(_depends(op, {loop.var}) for write in writes for op in _statement(write, loop)):
        return True
    try:
        with sets.question(f"whether virtual threads share {Buffer(value).name}"):
            return not lifetimes.conflicts(lifetimes.timed_accesses(value, {}), depth)
    except NotProvable:
        return False


def _statement(write: ir.Operation, loop: Loop) -> list[ir.Operation]:
    """A write, what its operands are computed by inside a loop, and the loops and conditions around it."""
    ops, pending = [], [write, *(op for op in walk.parents(write) if walk.is_inside(op, loop.op) and op != loop.op)]
    while pending:
        op = pending.pop()
        ops.append(op)
        pending += [owner_op(v) for v in op.operands if walk.is_inside(owner_op(v), loop.op) and owner_op(v) not in ops]
    return [op for op in ops if op != loop.op]


def _depends(op: ir.Operation, values: set[ir.Value]) -> bool:
    return any(operand in values for operand in op.operands)


def _expand(alloc: ir.Operation, loop: Loop) -> None:
    """Give a buffer a first dimension: the virtual thread."""
    old = ir.MemRefType(alloc.results[0].type)
    type_ = ir.MemRefType.get([loop.const_extent or 0, *old.shape], old.element_type, memory_space=old.memory_space)
    facts = {name: alloc.attributes[name] for name in alloc.attributes}
    with ir.InsertionPoint(loop.op), alloc.location:
        new = ir.Operation.create("memref.alloc", [type_], [], facts).results[0]
    for user in dict.fromkeys(use.owner.operation for use in alloc.results[0].uses):
        map_, operands = emit_map([Index.from_value(loop.var) - loop.lower, *walk.access_indices(user)])
        value = stored_value(user)
        edit.rebuild(user, [*([] if value is None else [value]), new, *operands], {"map": ir.AffineMapAttr.get(map_)})
    edit.drop(alloc)


class _VthreadLoop:
    """A loop over virtual threads that moves into its body."""

    def __init__(self, loop: Loop):
        self.loop = loop

    def run(self) -> None:
        ops = self.loop.body_ops()
        for op in ops:
            edit.move_before(op, self.loop.op)
        self._wrap_dependent_runs(ops)
        edit.drop(self.loop.op)

    def _wrap_dependent_runs(self, ops: Sequence[ir.Operation]) -> None:
        """Put loops around the runs of ops of one body that depend on the variable."""
        for run_ in self._runs(ops):
            if len(run_) == 1 and self._is_passed(run_[0]):
                self._wrap_dependent_runs(Loop(run_[0]).body_ops())
            else:
                self._wrap(run_)

    def _is_passed(self, op: ir.Operation) -> bool:
        return is_loop(op) and not len(op.results) and not _depends(op, {self.loop.var})

    def _runs(self, ops: Sequence[ir.Operation]) -> list[list[ir.Operation]]:
        """The runs of ops that depend on the variable. Those that share values, and all between, are one."""
        values, numbers = {self.loop.var}, {op: number for number, op in enumerate(ops)}
        spans: list[list[int]] = []
        for number, op in enumerate(ops):
            if not any(_depends(inner, values) for inner in walk.ops(op)):
                continue
            values.update(op.results)
            end = max([number, *(numbers[user] for user in _users(op, numbers))])
            if spans and (number <= spans[-1][1] or self._is_joined(ops, number)):
                spans[-1][1] = max(spans[-1][1], end)
            else:
                spans.append([number, end])
        return [list(ops[first : last + 1]) for first, last in spans]

    def _is_joined(self, ops: Sequence[ir.Operation], number: int) -> bool:
        """Whether an op is in the run of the one before: both depend on the variable, and it passes into neither."""
        pair = ops[number - 1 : number + 1]
        dependent = any(_depends(inner, {self.loop.var}) for inner in walk.ops(pair[0]))
        return dependent and not any(self._is_passed(op) for op in pair)

    def _wrap(self, ops: Sequence[ir.Operation]) -> None:
        loop = self.loop
        with ir.InsertionPoint(ops[0]), loop.op.location:
            new = create.loop(loop.name, loop.lower, loop.upper, "unrolled")
        end = list(new.body.operations)[-1]
        for op in ops:
            edit.move_before(op, end)
        edit.substitute({loop.var: Index.from_value(new.var)}, new.op)


def _users(op: ir.Operation, numbers: dict[ir.Operation, int]) -> list[ir.Operation]:
    """The ops of the same body that use results of an op, themselves or inside."""
    users = []
    for result in op.results:
        for use in result.uses:
            user = use.owner.operation
            while user not in numbers:
                user = user.parent.operation  # type: ignore[union-attr]
            users.append(user)
    return users
