"""Branches and loops of a plan as ops: `scf.if`, `scf.for`, `scf.while` around the calls of their regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from mlir import ir
from mlir.dialects import arith, memref, scf

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.memory.control_calls import Control, Copy, PlannedBranch, PlannedLoop, RegionSteps, SizeCount
from tir_mlir.graph.size_code import Size

if TYPE_CHECKING:
    from tir_mlir.graph.memory.buffer_assignment import BufferSlot


class ControlMemory(Protocol):
    """What a writer of a graph knows of memory."""

    def view(self, storage: BufferSlot) -> ir.Value:
        """The buffer of a position."""
        ...

    def size(self, size: Size) -> ir.Value:
        """The value of a size."""
        ...

    def known_size(self, name: str, number: ir.Value, least: int, bound: ir.Value) -> None:
        """Take an integer, limited to the least and a bound, as the size of a name from here on."""
        ...

    def steps(self, steps: RegionSteps) -> None:
        """Write calls, then copies, at the insertion point."""
        ...


def write_control(control: Control, memory: ControlMemory) -> None:
    """Write a branch or a loop at the insertion point.

    Branch(p, then, otherwise)   ->   %t = memref.load %p[] : memref<i1>
                                      scf.if %t { call @tir.exp(%x, %y) } else { call @tir.neg(%x, %y) }
    """
    if isinstance(control, PlannedBranch):
        branch = scf.IfOp(memref.load(memory.view(control.condition), []), has_else=True)
        for region, steps in zip(branch.operation.regions, (control.then, control.otherwise), strict=True):
            with ir.InsertionPoint(region.blocks[0]):
                memory.steps(steps)
                scf.yield_([])
        return
    if isinstance(control, SizeCount):
        number = memref.load(memory.view(control.number), [])
        memory.known_size(control.size, number, control.least, memory.size(control.bound))
        return
    for source, target in control.before:
        memref.copy(memory.view(source), memory.view(target))
    count = _count(control, memory)
    if control.condition is None:
        assert count is not None
        _for(count, lambda step: _step(control, step, count, memory))
    else:
        _while(control, count, memory)


def _number(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def _count(loop: PlannedLoop, memory: ControlMemory) -> ir.Value | None:
    if loop.steps is None:
        return None
    if isinstance(loop.steps, (int, str)):
        return memory.size(loop.steps)
    return arith.index_cast(ir.IndexType.get(), memref.load(memory.view(loop.steps), []))


def _for(count: ir.Value, body: Callable[[ir.Value], None]) -> None:
    """for step in range(count): body(step)"""
    repeated = scf.ForOp(_number(0), count, _number(1))
    with ir.InsertionPoint(repeated.body):
        body(repeated.induction_variable)
        scf.yield_([])


def _while(loop: PlannedLoop, count: ir.Value | None, memory: ControlMemory) -> None:
    """while step < count and condition: body(step); step += 1"""
    index = ir.IndexType.get()
    repeated = scf.WhileOp([index], [_number(0)])
    test_block, body_block = (region.blocks.append(index) for region in repeated.operation.regions)
    assert loop.condition is not None
    with ir.InsertionPoint(test_block):
        step = test_block.arguments[0]
        holds = memref.load(memory.view(loop.condition), [])
        if count is not None:
            holds = arith.andi(arith.cmpi(arith.CmpIPredicate.slt, step, count), holds)
        scf.condition(holds, [step])
    with ir.InsertionPoint(body_block):
        step = body_block.arguments[0]
        _step(loop, step, None, memory)
        scf.yield_([arith.addi(step, _number(1))])


def _step(loop: PlannedLoop, step: ir.Value, count: ir.Value | None, memory: ControlMemory) -> None:
    number = arith.index_cast(ir.IntegerType.get_signless(64), step)
    memref.store(number, memory.view(loop.index), [])
    row = step
    if loop.backward and count is not None:
        row = arith.subi(arith.subi(count, _number(1)), step)
    for pair in loop.rows:
        _copy_row(pair, row, memory, reads=True)
    memory.steps(loop.body)
    for source, target in loop.after:
        memref.copy(memory.view(source), memory.view(target))
    for pair in loop.stacked:
        _copy_row(pair, row, memory, reads=False)


def _copy_row(pair: Copy, row: ir.Value, memory: ControlMemory, reads: bool) -> None:
    """row[...] = whole[step, ...], or the other way."""
    source, target = memory.view(pair[0]), memory.view(pair[1])
    type_: TensorType = pair[1].type if reads else pair[0].type
    indices: list[ir.Value] = []

    def nest(axis: int, index: ir.Value | None = None) -> None:
        if index is not None:
            indices.append(index)
        if axis < len(type_.shape):
            _for(memory.size(type_.shape[axis]), lambda step: nest(axis + 1, step))
        else:
            inner_indices = list(indices)
            value = memref.load(source, [row, *inner_indices] if reads else inner_indices)
            memref.store(value, target, inner_indices if reads else [row, *inner_indices])
        if index is not None:
            indices.pop()

    nest(0)
